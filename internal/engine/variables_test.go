package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// A command starts from the process's environment with the session's changes, knows its session, and gets its directory
// for temporary files; what the session took away is not there.
func TestWhatACommandStartsFrom(t *testing.T) {
	st := session.New("s")
	one, none := "session", (*string)(nil)
	st.Env = command.EnvDelta{"CHANGED": &one, "NEW": &one, "TAKEN": none, "PERDURE_SESSION_ID": &one}
	cfg := Config{
		Environ: []string{"CHANGED=process", "TAKEN=x", "KEPT=a=b", "EMPTY="}, Home: "/home/u/.perdure",
		TempDir: func(id string) (string, error) { return "/tmp/of-" + id, nil },
	}
	env, err := at(cfg, st).environ()
	if err != nil || !slices.IsSorted(env) {
		t.Errorf("%v, %v", env, err)
	}
	got := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(k, "GIT_CONFIG_") {
			got[k] = v
		}
	}
	want := map[string]string{
		"CHANGED": "session", "NEW": "session", "KEPT": "a=b", "EMPTY": "", "PERDURE_SESSION_ID": "s", "PERDURE_HOME": "/home/u/.perdure", "TMPDIR": "/tmp/of-s",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if vars := at(cfg, st).variables(); vars["PERDURE_ACT"] != "/home/u/.perdure/acts/session/act" {
		t.Errorf("variables %v", vars)
	}
	broken := errors.New("input/output error")
	cfg.TempDir = func(string) (string, error) { return "", broken }
	if _, err := at(cfg, st).environ(); !errors.Is(err, broken) {
		t.Errorf("without a directory: %v", err)
	}
	if env, err := at(Config{}, session.New("s")).environ(); err != nil || !slices.Contains(env, "PERDURE_SESSION_ID=s") || slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PERDURE_HOME") }) {
		t.Errorf("without a home: %v, %v", env, err)
	}
}

// Git is told once to take no directory for a repository that is not named, behind what it is told already; a count that
// is none is left to git, which refuses it.
func TestGitIsToldOnce(t *testing.T) {
	key, value := func(i string) string { return "GIT_CONFIG_KEY_" + i }, func(i string) string { return "GIT_CONFIG_VALUE_" + i }
	for name, c := range map[string]struct{ vars, want map[string]string }{
		"nothing before": {map[string]string{}, map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "safe.bareRepository", value("0"): "explicit"}},
		"something before": {
			map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "a.b", value("0"): "c"},
			map[string]string{"GIT_CONFIG_COUNT": "2", key("0"): "a.b", value("0"): "c", key("1"): "safe.bareRepository", value("1"): "explicit"},
		},
		"ours already": {
			map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "SAFE.barerepository", value("0"): "explicit"},
			map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "SAFE.barerepository", value("0"): "explicit"},
		},
		"another word": {
			map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "safe.bareRepository", value("0"): "all"},
			map[string]string{"GIT_CONFIG_COUNT": "2", key("0"): "safe.bareRepository", value("0"): "all", key("1"): "safe.bareRepository", value("1"): "explicit"},
		},
		"ours, then another word": {
			map[string]string{"GIT_CONFIG_COUNT": "2", key("0"): "safe.bareRepository", value("0"): "explicit", key("1"): "safe.bareRepository", value("1"): "all"},
			map[string]string{
				"GIT_CONFIG_COUNT": "3", key("0"): "safe.bareRepository", value("0"): "explicit", key("1"): "safe.bareRepository", value("1"): "all",
				key("2"): "safe.bareRepository", value("2"): "explicit",
			},
		},
		"one taken away": {
			map[string]string{"GIT_CONFIG_COUNT": "2", key("0"): "a.b", value("0"): "c"},
			map[string]string{"GIT_CONFIG_COUNT": "2", key("0"): "a.b", value("0"): "c", key("1"): "safe.bareRepository", value("1"): "explicit"},
		},
		"no number":         {map[string]string{"GIT_CONFIG_COUNT": "x"}, map[string]string{"GIT_CONFIG_COUNT": "x"}},
		"less than nothing": {map[string]string{"GIT_CONFIG_COUNT": "-1"}, map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "safe.bareRepository", value("0"): "explicit"}},
		"very many":         {map[string]string{"GIT_CONFIG_COUNT": "1025"}, map[string]string{"GIT_CONFIG_COUNT": "1", key("0"): "safe.bareRepository", value("0"): "explicit"}},
	} {
		for try := range 2 { // a second time nothing changes
			if guardGit(c.vars); !maps.Equal(c.vars, c.want) {
				t.Errorf("%s, time %d: %v, want %v", name, try+1, c.vars, c.want)
			}
		}
	}
	full := map[string]string{"GIT_CONFIG_COUNT": "1024"}
	if guardGit(full); full["GIT_CONFIG_COUNT"] != "1024" || full[key("1023")] != "safe.bareRepository" {
		t.Errorf("%d entries, the last is %q", len(full), full[key("1023")])
	}
}

// What a command changes of the environment is added to what those before it changed, which stays as it was.
func TestChangesOfTheEnvironmentAdd(t *testing.T) {
	a, b := "a", "b"
	old := command.EnvDelta{"X": &a, "Y": &a}
	got := mergeEnv(old, command.EnvDelta{"Y": &b, "Z": nil})
	if !maps.Equal(got, command.EnvDelta{"X": &a, "Y": &b, "Z": nil}) || *old["Y"] != "a" || len(old) != 2 {
		t.Errorf("%v of %v", got, old)
	}
	if mergeEnv(old, nil) != nil || len(mergeEnv(nil, command.EnvDelta{"Z": &b})) != 1 {
		t.Error("nothing changes something, or something nothing")
	}
}

// A free append of a session that nobody holds: a given head must be the log's, a key makes the second of two nothing, and
// what is none is refused.
func TestFreeAppendsAreChecked(t *testing.T) {
	e, s := opened(t)
	if err := s.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	user := store.Actor{Type: store.ActorUser}
	fact := func() session.Body {
		return &session.FactAdded{Fact: session.Fact{Kind: "fact", Provenance: "user", Text: "f"}}
	}
	ctx := t.Context()
	head, err := e.AppendFreeAt(ctx, 1234, "s", FreeAppend{Key: "k"}, user, fact())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.AppendFree(ctx, "s", FreeAppend{Key: "k"}, user, fact()); err != nil || again != head {
		t.Errorf("the same key and events: %v, %v", again, err)
	}
	other := &session.FactAdded{Fact: session.Fact{Kind: "fact", Provenance: "user", Text: "other"}}
	if _, err := e.AppendFree(ctx, "s", FreeAppend{Key: "k"}, user, other); !errors.Is(err, store.ErrKeyReused) {
		t.Errorf("the same key with other words: %v", err)
	}
	next, err := e.AppendFree(ctx, "s", FreeAppend{Expect: &head}, user, fact())
	if err != nil || next.Seq != head.Seq+1 {
		t.Errorf("after the head: %v, %v", next, err)
	}
	if _, err := e.AppendFree(ctx, "s", FreeAppend{Expect: &head}, user, fact()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("after an older head: %v", err)
	}
	for name, bodies := range map[string][]session.Body{"nothing": nil, "nil": {nil}, "what does not fit": {fact(), &session.TurnEnded{N: 9}}} {
		if _, err := e.AppendFree(ctx, "s", FreeAppend{}, user, bodies...); !errors.Is(err, session.ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.AppendFree(ctx, "gone", FreeAppend{}, user, fact()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("to no session: %v", err)
	}
	st, err := e.Load(ctx, "s")
	if err != nil || st.Head != next || len(st.Facts) != 2 {
		t.Errorf("%v: %d facts at %d, want 2 at %d", err, len(st.Facts), st.Head.Seq, next.Seq)
	}
	for ev, err := range e.cfg.Store.Read(ctx, "s", head.Seq, next.Seq) {
		if err != nil || (ev.Time == 1234) != (ev.Seq == head.Seq) {
			t.Errorf("event %d is of %d, %v", ev.Seq, ev.Time, err)
		}
	}
	held, err := e.Open(ctx, "s", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var by *store.HeldError
	if _, err := e.AppendFree(ctx, "s", FreeAppend{}, user, fact()); !errors.As(err, &by) {
		t.Errorf("to one that is held: %v", err)
	}
	_ = held.Close(context.Background(), "")
}

// Of many sessions that are appended to a few are remembered, and all of them go on.
func TestManyFreeSessions(t *testing.T) {
	var f knownStates
	first := f.get("0")
	if f.get("0") != first {
		t.Error("a state is forgotten at once")
	}
	for i := range 3 * maxKnown {
		f.get(strings.Repeat("x", i+1))
		if len(f.of) > maxKnown {
			t.Fatalf("%d states are kept", len(f.of))
		}
	}
	if len(f.of) != maxKnown {
		t.Errorf("%d states are kept, %d could be", len(f.of), maxKnown)
	}
}
