package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// mortal is a store whose process dies at one of its appends, before it or once it is durable.
type mortal struct {
	*memory.Store
	at    int // appends until then; 0: never
	after bool
	died  bool
}

func (m *mortal) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	if m.at--; m.at != 0 {
		return m.Store.Append(ctx, l, b)
	}
	if m.after {
		if err := m.Store.Append(ctx, l, b); err != nil {
			return err
		}
	}
	m.died = true
	m.Kill()
	return errors.New("the process is dead")
}

// interrupted is a session that was killed while a tool with an effect outside was under way: it had changed /w/a, and
// made /w/half, after the session itself had written /w/kept.
func interrupted(t *testing.T, onLost string) (*stage, *keeper) {
	t.Helper()
	s := newStage(t,
		reply(modelapi.StopToolUse, use("1", "Write", `{"file_path":"/w/kept","content":"kept"}`)),
		reply(modelapi.StopToolUse, use("2", "Out", `{}`), use("3", "Write", `{"file_path":"/w/next","content":"next"}`)),
		reply(modelapi.StopEndTurn, text("done")))
	k := s.kept()
	s.files.m["/w/a"] = []byte("old")
	began, ran := make(chan struct{}), 0
	s.tools = append(s.tools, newOutside("Out", false, &ran, func(ctx context.Context) (tools.Result, error) {
		s.files.mu.Lock()
		s.files.m["/w/a"], s.files.m["/w/half"] = []byte("half done"), []byte("half done")
		s.files.mu.Unlock()
		close(began)
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}))
	p := s.process()
	spec := engine.Spec{ID: "s", Cwd: "/w", Mode: permission.ModeAcceptEdits, Agent: session.Agent{Provider: "stage", Model: "m", System: "sys", MaxTokens: 1000}}
	if _, err := p.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	p.say("go")
	stop, over := background(t, p.open(engine.Options{Mode: permission.ModeBypass, OnLost: onLost}))
	<-began
	p.store.Kill()
	stop()
	<-over
	return s, k
}

// A call that was interrupted half way, and that nobody can tell the outcome of, leaves nothing behind where the session
// is set to that: its changes are taken back before anything else begins, once, wherever the process dies meanwhile, and
// the model is told. What the session had done before it stays.
func TestALostActLeavesNothingBehind(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, k := interrupted(t, session.OnLostRollback)
			m := &mortal{at: at, after: after}
			kept := s.config
			s.config = func(c *engine.Config) {
				kept(c)
				m.Store = c.Store.(*memory.Store)
				c.Store = m
			}
			if se, err := s.process().Open(t.Context(), "s", bypass); err == nil {
				_ = se.Run(t.Context())
				_ = se.Close(t.Context(), "")
			}
			s.config = kept
			p := s.process()
			st := run(t, p.open(bypass))
			got := s.files.m
			if string(got["/w/a"]) != "old" || got["/w/half"] != nil || string(got["/w/kept"]) != "kept" || string(got["/w/next"]) != "next" {
				t.Errorf("append %d, after %t: files %q", at, after, got)
			}
			asked, done := p.log(session.KindRestoreRequested), p.log(session.KindFilesRestored)
			if len(asked) != 1 || len(done) != 1 || done[0].(*session.FilesRestored).Outcome != session.RestoreDone || st.Workspace.Tree != k.now() {
				t.Errorf("append %d, after %t: asked %d, restored %+v", at, after, len(asked), done)
			}
			for id, n := range k.wrote {
				if n != 1 {
					t.Errorf("append %d, after %t: %s was written %d times", at, after, id, n)
				}
			}
			told := render(s.last().Messages)
			if strings.Count(told, "restored by the session itself to before t1.s2.b1.a1 (Out)") != 1 || !strings.Contains(told, "Outcome unknown") {
				t.Errorf("append %d, after %t: the model was told\n%s", at, after, told)
			}
			if !m.died {
				if at < 8 {
					t.Errorf("only %d appends", at)
				}
				break
			}
		}
	}
}

// What a lost act has changed stays unless the session is set to have it taken back.
func TestALostActsChangesStay(t *testing.T) {
	for _, how := range []string{"", session.OnLostTell, session.OnLostKeep} {
		s, _ := interrupted(t, how)
		p := s.process()
		run(t, p.open(bypass))
		if string(s.files.m["/w/a"]) != "half done" || len(p.log(session.KindRestoreRequested)) != 0 {
			t.Errorf("%q: files %q", how, s.files.m)
		}
	}
}

// What a person has the session set to is one of four words.
func TestOnLostIsOneOfFour(t *testing.T) {
	s := newStage(t)
	p, se := s.start("go")
	must(t, se.Close(t.Context(), ""))
	if _, err := p.Open(t.Context(), "s", engine.Options{OnLost: "undo"}); err == nil || !strings.Contains(err.Error(), "rollback") {
		t.Errorf("opened: %v", err)
	}
}
