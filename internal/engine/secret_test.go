package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

const secretValue = "tok_canary_90b1c2d3e4f5a6b7"

// guard gives a stage's engines a secret.
func guard(s *stage) {
	config := s.config
	s.config = func(c *engine.Config) {
		config(c)
		c.Secrets = redact.New(map[string]string{"TOK": secretValue})
	}
}

// leaked fails if a piece of the secret of 8 bytes or more is in a text.
func leaked(t *testing.T, where, text string) {
	t.Helper()
	for i := range len(secretValue) - 8 {
		if at := strings.Index(text, secretValue[i:i+8]); at >= 0 {
			t.Errorf("%s: a part of the secret is shown: …%s…", where, text[max(0, at-40):min(len(text), at+40)])
			return
		}
	}
}

// logged is everything that a session's log holds.
func logged(t *testing.T, st store.Store) string {
	t.Helper()
	var all strings.Builder
	for ev, err := range st.Read(t.Context(), "s", 1, 0) {
		must(t, err)
		all.Write(ev.Body)
		all.WriteByte('\n')
	}
	return all.String()
}

// TestNoCutOfOutputShowsAPartOfASecret: a value that lies across the end of what is read of an output's beginning, or
// across the beginning of what is read of its end, is shown in no part, also where the rest of the text shrinks.
func TestNoCutOfOutputShowsAPartOfASecret(t *testing.T) {
	const bound = 64 << 10
	drawn, colours := strings.Repeat("progress\r", bound/9+1), strings.Repeat("\x1b[0m", bound/4)
	for _, shift := range []int{1, 8, 20, len(secretValue) - 1} {
		start := drawn[:bound-shift] + secretValue + "\n" + strings.Repeat("x\n", 150_000)
		end := strings.Repeat("x\n", 150_000) + secretValue + colours[:bound-shift]
		for name, text := range map[string]string{"start": start, "end": end} {
			s, cmds := shell(t, use("a", "Bash", `{"command":"secret"}`))
			cmds.texts = map[string]string{"secret": text}
			guard(s)
			p, se := s.start("go")
			se = restart(t, p, se)
			run(t, se)
			if got := render(s.last().Messages); !strings.Contains(got, "bytes omitted") {
				t.Fatalf("%s: nothing was cut:\n%s", name, got)
			}
			leaked(t, name, render(s.last().Messages))
			leaked(t, name+", log", logged(t, p.store))
		}
	}
}

// TestHalfOfASecretIsKeptBack: a task has printed the first half of a value. It is not shown before the rest is there.
func TestHalfOfASecretIsKeptBack(t *testing.T) {
	s, cmds := shell(t)
	read := func(id string) model.Block { return use(id, "BashOutput", `{"bash_id":"bash_1"}`) }
	s.answer = newStage(t,
		reply(modelapi.StopToolUse, use("a", "Bash", `{"command":"then print","run_in_background":true}`)),
		reply(modelapi.StopToolUse, read("b")), reply(modelapi.StopEndTurn, text("half")),
		reply(modelapi.StopToolUse, read("c")), reply(modelapi.StopEndTurn, text("whole"))).answer
	cmds.texts = map[string]string{"then print": "ready\n" + secretValue[:14]}
	guard(s)
	p, se := s.start("go")
	se = restart(t, p, se)
	run(t, se)
	if got := render(s.last().Messages); !strings.Contains(got, "ready") {
		t.Fatalf("nothing was read:\n%s", got)
	}
	leaked(t, "half", render(s.last().Messages))
	cmds.mu.Lock()
	for _, c := range cmds.cmds {
		c.print(secretValue[14:] + " set\n")
	}
	cmds.mu.Unlock()
	p.say("again")
	run(t, se)
	leaked(t, "whole", render(s.last().Messages))
	if got := render(s.last().Messages); strings.Count(got, "[secret:TOK] set") != 1 {
		t.Errorf("the value's name is not shown once:\n%s", got)
	}
	leaked(t, "log", logged(t, p.store))
}

// TestPathsThatHoldASecret: a path leads over links to a name that holds a value. What was read and written there is not
// kept in the log, and so is not written by an edit.
func TestPathsThatHoldASecret(t *testing.T) {
	s, dir := onDisk(t, permission.ModeDefault, use("a", "Read", `{"file_path":"l/f"}`), use("b", "Write", `{"file_path":"l/new","content":"x"}`),
		use("c", "Glob", `{"pattern":"l/*"}`))
	guard(s)
	hidden := filepath.Join(dir, secretValue)
	must(t, os.Mkdir(hidden, 0o755), os.WriteFile(hidden+"/f", []byte("content"), 0o600), os.Symlink(hidden, filepath.Join(dir, "l")))
	p, se := s.start("go")
	se = restart(t, p, se)
	run(t, se)
	got := render(s.last().Messages)
	if !strings.Contains(got, "content") || !strings.Contains(got, "The path holds a secret") {
		t.Errorf("the model was told\n%s", got)
	}
	if _, err := os.Stat(hidden + "/new"); err == nil {
		t.Error("a file was written whose path the log cannot keep")
	}
	leaked(t, "model", got)
	leaked(t, "log", logged(t, p.store))
}

// TestWhereACommandLeavesASecret: a directory or a variable whose name holds a value is not kept.
func TestWhereACommandLeavesASecret(t *testing.T) {
	s, _ := shell(t, use("a", "Bash", `{"command":"cd /w/`+"$TOK"+`"}`))
	guard(s)
	cmds := newShims()
	config := s.config
	s.config = func(c *engine.Config) { config(c); c.Commands = leaver{cmds} }
	p, se := s.start("go")
	se = restart(t, p, se)
	st := run(t, se)
	if st.Cwd != "/w" || len(st.Env) != 1 || st.Env["OTHER"] == nil || *st.Env["OTHER"] != "[secret:TOK]" {
		t.Errorf("kept: %s, %v", st.Cwd, st.Env)
	}
	if got := render(s.last().Messages); !strings.Contains(got, "the next command starts in /w") {
		t.Errorf("the model was not told:\n%s", got)
	}
	leaked(t, "log", logged(t, p.store))
}

// leaver is a set of commands that each leave a secret behind.
type leaver struct{ *shims }

func (l leaver) State(id, act string) (command.State, error) {
	st, err := l.shims.State(id, act)
	value, one := secretValue, "1"
	st.Cwd, st.Env = "/w/"+secretValue, command.EnvDelta{"OTHER": &value, "X" + secretValue: &one}
	return st, err
}

func (l leaver) Wait(ctx context.Context, id, act string) (command.State, error) {
	if _, err := l.shims.Wait(ctx, id, act); err != nil {
		return command.State{}, err
	}
	return l.State(id, act)
}
