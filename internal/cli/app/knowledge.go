package app

import (
	"path/filepath"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/settings"
)

// Memory says where what sessions remember lies: in the project only with the user's consent.
func Memory(set settings.Loaded) string {
	switch {
	case set.Knowledge.InProject():
		return homes.MemoryInProject
	case set.Knowledge.Asks():
		return homes.MemoryAsk
	}
	return homes.MemoryInHome
}

// Knowledge opens what is known of a directory, empty for the current one, by the user's configuration.
func (a *App) Knowledge(dir string) (*knowledge.Memory, error) {
	cfg, err := a.KnowledgeOf(dir)
	if err != nil {
		return nil, err
	}
	return knowledge.Open(cfg)
}

// KnowledgeOf is [App.KnowledgeConfig] for a directory as a person names it, which must be there.
func (a *App) KnowledgeOf(dir string) (cfg knowledge.Config, err error) {
	if dir, err = a.Directory(filepath.Clean(dir)); err != nil {
		return cfg, err
	}
	if !IsDir(dir) {
		return cfg, UsageError("%s is no directory", dir)
	}
	return a.KnowledgeConfig(dir)
}

// KnowledgeConfig says where what is known of a directory lies, by the user's configuration.
func (a *App) KnowledgeConfig(dir string) (knowledge.Config, error) {
	set, err := settings.Load(settings.UserFile(a.Getenv), "")
	if err != nil {
		return knowledge.Config{}, err
	}
	home, err := a.HomeDir()
	if err != nil {
		return knowledge.Config{}, err
	}
	in := set.Knowledge.InProject()
	if set.Knowledge.Asks() {
		in, _ = knowledge.Consent(home, dir)
	}
	return knowledge.Config{Home: home, Dir: dir, InProject: in, Now: a.Now}, nil
}
