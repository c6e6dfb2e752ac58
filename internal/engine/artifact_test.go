package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// shelf keeps single files too. at is called at each step of keeping one: before the bytes, and when they are durable.
type shelf struct {
	*keeper
	bytes map[store.Digest][]byte
	at    func(ctx context.Context, step string)
	let   func() // called by each release
}

var _ engine.Keeper = (*shelf)(nil)

func (k *shelf) Keep(ctx context.Context, _ string, open func() (io.ReadCloser, error)) (d store.Digest, n int64, release func(), err error) {
	k.at(ctx, "begun")
	r, err := open()
	if err != nil {
		return d, 0, nil, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return d, 0, nil, err
	}
	k.mu.Lock()
	d = store.Sum(b)
	k.bytes[d] = b
	k.held++
	k.mu.Unlock()
	k.at(ctx, "durable")
	return d, int64(len(b)), func() {
		k.mu.Lock()
		k.held--
		k.mu.Unlock()
		k.let()
	}, nil
}

func artifactStage(t *testing.T) (*stage, *shelf) {
	s := newStage(t, reply(modelapi.StopToolUse, use("1", "Artifact", `{"file_path":"/w/report","description":"the report"}`)), reply(modelapi.StopEndTurn, text("done")))
	s.tools = append(s.tools, tools.ArtifactTool())
	s.files.m["/w/report"] = []byte("R")
	k := &shelf{keeper: newKeeper(s.files), bytes: map[store.Digest][]byte{}, at: func(context.Context, string) {}, let: func() {}}
	s.config = func(c *engine.Config) { c.Captures = k }
	return s, k
}

// onlyReport fails unless the log names the report once, with bytes that are there, and nothing is held.
func onlyReport(t *testing.T, p process, k *shelf) {
	t.Helper()
	added := p.log(session.KindArtifactAdded)
	if len(added) != 1 {
		t.Fatalf("%d artifacts in the log", len(added))
	}
	a := added[0].(*session.ArtifactAdded).Artifact
	if a.Name != "report" || a.Note != "the report" || string(k.bytes[a.Digest]) != "R" || session.BaseOf(a.Act) != "t1.s1.b1" {
		t.Errorf("%+v", a)
	}
	if k.held != 0 {
		t.Errorf("%d contents are held", k.held)
	}
}

// The bytes of an artifact are held until the log names them.
func TestArtifactIsHeldUntilTheLogNamesIt(t *testing.T) {
	s, k := artifactStage(t)
	p, se := s.start("go")
	named := -1
	k.let = func() { named = len(p.log(session.KindArtifactAdded)) }
	st := run(t, se)
	if named != 1 {
		t.Errorf("let go with %d artifacts in the log", named)
	}
	onlyReport(t, p, k)
	if len(st.Workspace.Artifacts) != 1 {
		t.Errorf("%+v", st.Workspace.Artifacts)
	}
}

// Killed or parked at any step, there is the artifact with its event, once, or neither; what was held is let go.
func TestArtifactKilledAtEachStep(t *testing.T) {
	for _, step := range []string{"begun", "durable"} {
		t.Run("killed "+step, func(t *testing.T) {
			s, k := artifactStage(t)
			p, se := s.start("go")
			reached := make(chan struct{})
			k.at = func(ctx context.Context, at string) {
				if at == step {
					close(reached)
					<-ctx.Done()
				}
			}
			stop, over := background(t, se)
			<-reached
			die(p, stop, over)
			k.at = func(context.Context, string) {}
			next := s.process()
			if n := len(next.log(session.KindArtifactAdded)); n != 0 {
				t.Fatalf("%d artifacts before the outcome", n)
			}
			run(t, next.open(engine.Options{}))
			onlyReport(t, next, k)
		})
		t.Run("parked "+step, func(t *testing.T) {
			s, k := artifactStage(t)
			p, se := s.start("go")
			ctx, stop := context.WithCancel(t.Context())
			k.at = func(ctx context.Context, at string) {
				if at == step {
					stop()
					<-ctx.Done()
				}
			}
			if err := se.Run(ctx); !errors.Is(err, engine.ErrParked) {
				t.Fatalf("run: %v", err)
			}
			if n := len(p.log(session.KindArtifactAdded)); n != 0 || k.held != 0 {
				t.Fatalf("%d artifacts, %d held", n, k.held)
			}
			k.at = func(context.Context, string) {}
			run(t, se)
			onlyReport(t, p, k)
		})
	}
}

// A session that was told of Artifact goes on where nothing is kept any more: the model is told so. A new one there is not.
func TestArtifactWithoutAKeeper(t *testing.T) {
	s, _ := artifactStage(t)
	_, se := s.start("go")
	if !strings.Contains(string(se.State().Agent.Tools), `"name":"Artifact"`) {
		t.Fatal("it was not offered")
	}
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	s.config = nil
	next := s.process()
	run(t, next.open(engine.Options{}))
	if len(next.log(session.KindArtifactAdded)) != 0 || !strings.Contains(render(s.last().Messages), "Nothing is kept here") {
		t.Errorf("%s", render(s.last().Messages))
	}
	s, _ = artifactStage(t)
	s.config = nil
	if _, se = s.start("go"); strings.Contains(string(se.State().Agent.Tools), `"name":"Artifact"`) {
		t.Error("it is offered where nothing is kept")
	}
}
