package app

import (
	"path/filepath"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/tools"
)

// Memory is what sessions are given to remember by; nil where the configuration says nothing of knowledge.
func (a *App) Memory(set settings.Loaded) (func(root string) (tools.Memory, error), error) {
	if set.Knowledge.Project == "" {
		return nil, nil
	}
	home, err := a.HomeDir()
	if err != nil {
		return nil, err
	}
	return func(root string) (tools.Memory, error) {
		m, err := knowledge.Open(knowledge.Config{Home: home, Dir: root, InProject: set.Knowledge.InProject(), Now: a.Now})
		if err != nil {
			return nil, err
		}
		return m, nil
	}, nil
}

// Knowledge opens what is known of a directory, empty for the current one, by the user's configuration.
func (a *App) Knowledge(dir string) (*knowledge.Memory, error) {
	set, err := settings.Load(settings.UserFile(a.Getenv), "")
	if err != nil {
		return nil, err
	}
	home, err := a.HomeDir()
	if err != nil {
		return nil, err
	}
	if dir, err = a.Directory(filepath.Clean(dir)); err != nil {
		return nil, err
	}
	if !IsDir(dir) {
		return nil, UsageError("%s is no directory", dir)
	}
	return knowledge.Open(knowledge.Config{Home: home, Dir: dir, InProject: set.Knowledge.InProject(), Now: a.Now})
}
