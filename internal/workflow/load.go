package workflow

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
)

// PlanFile is the name of a plan that people write.
const PlanFile = "PLAN.md"

// Briefing is what a new session is told of the plan that it finds. Its zero value says that there is none.
type Briefing struct {
	Text     string         // at most MaxBrief bytes; empty: nothing was found
	File     string         // that Text is of
	Session  string         // that wrote it; empty: unknown
	Updated  time.Time      // when it was written
	Steps    []session.Step // the whole plan
	Others   []string       // files of plans that Text only names
	Problems []string       // files that cannot be read, each with its error; Text names them too
}

// found is a file of a plan.
type found struct {
	file string
	doc  *Document
}

// Load finds the plan of a project, for a session that begins in dir: its state file, then .agent/state.json, state.yaml
// and PLAN.md of the project's root and of dir. The first one with something left to do counts, else the first. Nothing is
// changed, no link is followed, and what cannot be read is named.
func Load(cfg knowledge.Config, dir string) (Briefing, error) {
	cfg.Dir = dir
	k, err := knowledge.Open(cfg)
	if err != nil {
		return Briefing{}, err
	}
	l := loading{seen: map[string]bool{}}
	l.state(k.Project, MainFile)
	for _, at := range []string{knowledge.Root(dir), filepath.Clean(dir)} {
		for _, name := range []string{".agent/state.json", ".agent/state.yaml", ".agent/state.yml", PlanFile} {
			l.below(at, name)
		}
	}
	beside, err := k.Project.Beside()
	if err != nil {
		l.problem(k.Project.Dir(), err)
	}
	for _, name := range beside {
		l.state(k.Project, name)
	}
	now := time.Now
	if cfg.Now != nil {
		now = cfg.Now
	}
	return l.briefing(now()), nil
}

// loading gathers what there is.
type loading struct {
	found    []found
	problems []string
	seen     map[string]bool
}

func (l *loading) problem(file string, err error) {
	l.problems = append(l.problems, plain.Shown(file, 300)+": "+plain.Shown(err.Error(), 200))
}

// state looks at a state file that Perdure keeps.
func (l *loading) state(s *knowledge.Scope, name string) {
	file := filepath.Join(s.Dir(), name)
	l.seen[file] = true
	now, _, err := s.Look(name)
	if err == nil && now != nil {
		err = l.add(file, now, time.Time{}, ParseJSON)
	}
	if err != nil {
		l.problem(file, err)
	}
}

func (l *loading) below(dir, rel string) {
	file := filepath.Join(dir, rel)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		file = filepath.Join(real, rel)
	}
	if l.seen[file] {
		return
	}
	l.seen[file] = true
	parse := ParseJSON
	switch filepath.Ext(rel) {
	case ".md":
		parse = ParseMarkdown
	case ".yaml", ".yml":
		parse = ParseYAML
	}
	b, changed, err := knowledge.ReadBelow(dir, rel, MaxDocument)
	if err == nil && b != nil {
		err = l.add(file, b, changed, parse)
	}
	if err != nil {
		l.problem(file, err)
	}
}

func (l *loading) add(file string, b []byte, changed time.Time, parse func([]byte) (*Document, error)) error {
	d, err := parse(b)
	if err != nil {
		return err
	}
	if d.Updated.IsZero() {
		d.Updated = changed
	}
	if !d.Empty() {
		l.found = append(l.found, found{file: file, doc: d})
	}
	return nil
}

func (l *loading) briefing(now time.Time) Briefing {
	out := Briefing{Problems: l.problems}
	i := slices.IndexFunc(l.found, func(f found) bool { return statusOf(f.doc.Steps()) != wordDone && len(f.doc.Plan) > 0 })
	if i < 0 && len(l.found) > 0 {
		i = 0
	}
	for j, f := range l.found {
		if j != i {
			out.Others = append(out.Others, fmt.Sprintf("%s (%d steps, %s, %s)", plain.Shown(f.file, 300), len(f.doc.Plan), statusOf(f.doc.Steps()), age(f.doc.Updated, now)))
		}
	}
	if i >= 0 {
		f := l.found[i]
		out.File, out.Session, out.Updated, out.Steps = f.file, f.doc.Session, f.doc.Updated, f.doc.Steps()
		out.Text = briefText(f, out, now)
	} else if len(l.problems) > 0 {
		out.Text = clipTo("A plan of earlier work could not be read: "+named(l.problems), MaxBrief)
	}
	return out
}
