package homes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// relay is a directory in which sessions work one after the other, each in a process of its own that may be killed. Its
// disk and its files outlive them.
type relay struct {
	t         *testing.T
	disk      memory.Home
	home, dir string
	least     time.Duration // how long a session must have lasted to leave a handoff
	ignored   bool          // new sessions leave what they find alone
	window    int64         // tokens

	faults []string // what is not as it should be
}

func (r *relay) faultf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// faultless fails the test for each fault.
func (r *relay) faultless() {
	r.t.Helper()
	for _, f := range r.faults {
		r.t.Error(f)
	}
	r.faults = nil
}

func newRelay(t *testing.T) *relay {
	return &relay{t: t, home: filepath.Join(t.TempDir(), "home"), dir: t.TempDir(), window: 9000}
}

// life is one process.
type life struct {
	*homes.Home
	r     *relay
	store *memory.Store

	mu     sync.Mutex
	kill   int // dies at this point; 0: never
	points int
	dead   bool
	last   string // the newest point
}

var errKilled = errors.New("the process was killed")

// point is an instant at which the process may die; it fails from then on.
func (l *life) point(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errKilled
	}
	l.last = name
	if l.points++; l.points == l.kill {
		l.dead = true
		l.store.Kill()
		return errKilled
	}
	return nil
}

// mortal is the store of a process: it may die before each commit, and after it.
type mortal struct {
	*memory.Store
	l *life
}

func (m mortal) around(name string, do func() error) error {
	if err := m.l.point("before " + name); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return m.l.point("after " + name)
}

func (m mortal) Create(ctx context.Context, s store.NewSession) error {
	return m.around("create", func() error { return m.Store.Create(ctx, s) })
}

func (m mortal) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	name := ""
	for _, e := range b.Events {
		name += " " + string(e.Kind)
	}
	return m.around("append"+name, func() error { return m.Store.Append(ctx, l, b) })
}

func (m mortal) Release(ctx context.Context, l store.Lease) error {
	return m.around("release", func() error { return m.Store.Release(ctx, l) })
}

// process starts a process that plays a script and dies at a point.
func (r *relay) process(script string, kill int) *life {
	r.t.Helper()
	l := &life{r: r, store: r.disk.Open(), kill: kill}
	kept := []tools.Tool{}
	for _, name := range []string{"Note", "TodoWrite", "Read"} {
		kept = append(kept, tools.Find(tools.Builtin(), name))
	}
	cfg := homes.Config{
		Store: mortal{l.store, l}, Environ: []string{}, Memory: homes.MemoryInProject, MinSession: &r.least, Tools: kept,
		Provider: func(string) (modelapi.Provider, error) {
			s, err := scripted.Parse([]byte(script))
			return scripted.New(s), err
		},
	}
	h, err := homes.Open(r.t.Context(), r.home, homes.WithFault(cfg, l.point))
	if err != nil {
		r.t.Fatal(err)
	}
	l.Home = h
	return l
}

// end kills the process, whatever it does.
func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
	l.store.Kill()
}

// begin makes a session.
func (l *life) begin(id string) error {
	_, err := l.Create(l.r.t.Context(), homes.Spec{
		ID: id, Cwd: l.r.dir, Mode: permission.ModeAcceptEdits, Fresh: l.r.ignored,
		Agent: session.Agent{Provider: "scripted", Model: "m", MaxTokens: 1000, Window: l.r.window},
	})
	return err
}

// say runs a prompt to its end; an empty one goes on.
func (l *life) say(id, prompt string) error {
	_, err := l.Run(l.r.t.Context(), id, homes.RunOptions{Prompt: prompt, Key: prompt, Options: engine.Options{}})
	return err
}

// must ends the test after an error.
func (r *relay) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// known is what is known of the directory.
func (r *relay) known() *knowledge.Memory {
	r.t.Helper()
	m, err := knowledge.Open(knowledge.Config{Home: r.home, Dir: r.dir, InProject: true})
	r.must(err)
	return m
}

// lies are the handoffs that lie there, and those that were read.
func (r *relay) lies() (there, past []knowledge.HandoffFile) {
	r.t.Helper()
	there, err := r.known().Handoffs().All()
	r.must(err)
	past, err = r.known().Handoffs().History()
	r.must(err)
	return there, past
}

// bodies are what the events of a session say.
func (r *relay) bodies(id string) (out []session.Body) {
	r.t.Helper()
	s := r.disk.Open()
	defer s.Kill()
	for e, err := range s.Read(r.t.Context(), id, 1, 0) {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		r.must(err)
		b, err := session.Decode(e)
		r.must(err)
		out = append(out, b)
	}
	return out
}

// whole fails for a handoff on the disk that is not as a session wrote it.
func (r *relay) whole(when string) {
	r.t.Helper()
	for _, pattern := range []string{".agent/HANDOFF*", ".agent/handoff-history/*"} {
		names, err := filepath.Glob(filepath.Join(r.dir, pattern))
		r.must(err)
		for _, name := range names {
			b, err := os.ReadFile(name)
			r.must(err)
			head, ok := handoff.HeaderOf(b)
			if len(b) == 0 && strings.Contains(name, "history") {
				continue // a place that was reserved
			}
			if !ok || !head.Intact {
				r.faultf("%s: half a handoff in %s:\n%s", when, name, b)
			}
		}
	}
}
