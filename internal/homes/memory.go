package homes

import (
	"context"
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/tools"
)

// Where what the sessions of a project remember lies. What belongs to the user lies in the home in any case.
const (
	MemoryInHome    = "home"
	MemoryInProject = "project" // in its .agent directory: the user has consented
	MemoryAsk       = "ask"     // there, if the user has consented for that project; see [knowledge.Consent]
)

// offered are the tools of a home's sessions: the built-in ones or a program's own, and that of the memory. The built-in
// ones have it, and that of artifacts, without a memory and where nothing is kept too, for sessions that were told of them.
func offered(cfg Config) ([]tools.Tool, error) {
	all, own := cfg.Tools, cfg.Tools != nil
	if !own {
		all = tools.Builtin()
	}
	switch cfg.Memory {
	case "":
		if own {
			return all, nil
		}
	case MemoryInHome, MemoryInProject, MemoryAsk:
	default:
		return nil, fmt.Errorf("open home: memory %q: it is %q, %q, %q or empty", cfg.Memory, MemoryInHome, MemoryInProject, MemoryAsk)
	}
	if one := tools.MemoryTool(); tools.Find(all, one.Spec().Name) == nil {
		all = append(slices.Clip(all), one)
	}
	if !own {
		all = append(slices.Clip(all), tools.ArtifactTool())
	}
	return all, nil
}

// memory gives the engine what the sessions of a directory remember; nil: nothing.
func (h *Home) memory() func(root string) (tools.Memory, error) {
	if h.cfg.Memory == "" {
		return nil
	}
	return func(root string) (tools.Memory, error) {
		return memory{h.knows(root)}, nil
	}
}

// knows says where what is known of a directory lies.
func (h *Home) knows(dir string) knowledge.Config {
	dir = h.ProjectOf(dir)
	in := h.cfg.Memory == MemoryInProject
	if h.cfg.Memory == MemoryAsk && dir != "" {
		in, _ = knowledge.Consent(h.dir, dir)
	}
	return knowledge.Config{Home: h.dir, Dir: dir, InProject: in, Now: h.cfg.Now, Fault: h.cfg.fault}
}

// memory opens the files when they are asked for: most calls are those of other tools.
type memory struct{ cfg knowledge.Config }

func (m memory) Do(ctx context.Context, c knowledge.Command, by knowledge.By) (string, bool, error) {
	in, err := knowledge.Open(m.cfg)
	if err != nil {
		return "", false, err
	}
	return in.Do(ctx, c, by)
}

func (m memory) Shrinks(c knowledge.Command) string {
	in, err := knowledge.Open(m.cfg)
	if err != nil {
		return ""
	}
	return in.Shrinks(c)
}

// Told are the files beside the project's own that its sessions begin with, or would if they were made.
func (m memory) Told() []string {
	told := []string{knowledge.HandoffAbove(m.cfg.Dir)}
	if m.cfg.InProject {
		told = append(told, knowledge.IndexAbove(m.cfg.Dir))
	}
	return told
}
