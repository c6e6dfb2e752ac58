package perdure_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Goal: a program that stays with a session prompts it, approves, sees its updates and adds to it.
func TestHoldThroughTheFace(t *testing.T) {
	work := t.TempDir()
	h := openHome(t, perdure.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	agent, err := h.Agent(ctx, script(t, work, `{"turns":[{"match":"go","steps":[
		{"tools":[{"name":"Bash","input":{"command":"touch made"}}]},{"text":"done"}]},{"match":"ask","steps":[
		{"tools":[{"name":"AskUser","input":{"question":"which?"}}]},{"text":"thanks"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(ctx, perdure.Spec{Agent: agent, Cwd: work})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan perdure.Waiting, 1)
	s, err := h.Hold(ctx, id, perdure.HoldOptions{Approve: func(_ context.Context, w perdure.Waiting) (perdure.Approval, error) {
		asked <- w
		return perdure.Approval{Allow: true}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var held *store.HeldError
	if _, err := h.Record(ctx, id); !errors.As(err, &held) {
		t.Errorf("a second holder: %v", err)
	}
	if turn, err := s.Prompt(ctx, "go"); err != nil || turn.Result != "done" || (<-asked).Tool != "Bash" {
		t.Errorf("%+v, %v", turn, err)
	}
	seen := func(turns int) {
		for u, err := range s.Updates(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Event != nil && u.Event.Kind == "turn.ended" {
				if turns--; turns == 0 {
					break
				}
			}
		}
	}
	seen(1)
	turn, err := s.Prompt(ctx, "ask")
	if waits := s.Waiting(); err != nil || turn.StopReason != "waiting_answer" || len(waits) != 1 {
		t.Fatalf("%+v, %v, %+v", turn, err, waits)
	}
	if err := s.Answer(ctx, s.Waiting()[0].Act, "this"); err != nil {
		t.Fatal(err)
	}
	seen(2)
	if err := errors.Join(s.Send(ctx, "", "go"), s.Interrupt(ctx), s.Continue(ctx)); err != nil {
		t.Error(err)
	}
	head, err := s.Append(ctx, perdure.User, perdure.AppEvent("a", []byte("b")))
	if err != nil || head.Seq == 0 {
		t.Errorf("%+v, %v", head, err)
	}
	if _, err := s.Append(ctx, perdure.User, perdure.Entry{}); !errors.Is(err, perdure.ErrUnfit) {
		t.Errorf("nothing was appended: %v", err)
	}
	if err := errors.Join(s.Close(), s.Err()); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if _, err := s.Append(ctx, perdure.User, perdure.AppEvent("a", nil)); !errors.Is(err, perdure.ErrReleased) {
		t.Errorf("appended after the end: %v", err)
	}
	for u, err := range h.Follow(ctx, id, head.Seq-1) {
		if err != nil || u.Event == nil {
			t.Fatalf("followed %+v, %v", u, err)
		}
		if _, data, ok := u.Event.App(); !ok || string(data) != "b" {
			t.Errorf("followed %+v", u.Event)
		}
		break
	}
}

// Goal: a program starts, reads, restarts and ends tasks, and has a session told of them.
func TestTasksThroughTheFace(t *testing.T) {
	work := t.TempDir()
	h := openHome(t, perdure.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id, err := h.Create(ctx, perdure.Spec{Cwd: work, Agent: perdure.Agent{Provider: "none", Model: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	spec := perdure.TaskSpec{
		Name: "echo", Command: "echo ready; cat", Cwd: work,
		TaskSettings: view.TaskSettings{Stdin: true, Lifetime: "session", Limits: view.Limits{OpenFiles: 50}},
	}
	ts := h.Tasks()
	if _, err := ts.Start(ctx, id, spec, []view.Rule{{Effect: "deny", Text: "Bash", Source: "user"}}); !errors.Is(err, perdure.ErrRefused) {
		t.Errorf("what is denied was started: %v", err)
	}
	rules := []view.Rule{{Effect: "allow", Text: "Bash", Source: "flag"}}
	task, err := ts.Start(ctx, id, spec, rules)
	if err != nil || !task.Live() || task.Lifetime != "session" || task.Limits.OpenFiles != 50 {
		t.Fatalf("%+v, %v", task, err)
	}
	defer func() { _ = ts.Kill(context.WithoutCancel(ctx), task) }()
	news, err := ts.Wait(ctx, id, task.ID, regexp.MustCompile("ready"))
	if err != nil || news.Line == nil || *news.Line != "ready" {
		t.Fatalf("%+v, %v", news, err)
	}
	if n, err := ts.Write(ctx, task, []byte("hello\n"), false); err != nil || n != 6 {
		t.Errorf("%d, %v", n, err)
	}
	read := func(name string, most int) (text string) {
		for n, err := range ts.Read(ctx, id, task.ID, name) {
			if err != nil {
				t.Fatal(err)
			}
			if text += string(n.Bytes); len(text) >= most {
				break
			}
		}
		return text
	}
	if first, again := read("me", 1), read("me", 1); first == "" || !strings.HasPrefix(again, first) {
		t.Errorf("read %q, and after a break %q", first, again)
	}
	for text := ""; !strings.Contains(text, "hello"); {
		if text += read("me", 1<<20); ctx.Err() != nil {
			t.Fatalf("%q, %v", text, ctx.Err())
		}
	}
	if rest, all := read("me", 1), read("other", 1<<20); rest != "" || !strings.HasPrefix(all, "ready\n") {
		t.Errorf("after the end %q, another reader %q", rest, all)
	}
	for _, err := range ts.Read(ctx, id, task.ID, "a\x1b") {
		if !errors.Is(err, perdure.ErrInvalid) {
			t.Errorf("a bad name: %v", err)
		}
	}
	if out, err := h.Output(id, task.Act, 0, 5); err != nil || string(out.Bytes) != "ready" {
		t.Errorf("%q, %v", out.Bytes, err)
	}
	await, err := h.Await(ctx, id, perdure.Await{Event: "end", Task: task.ID, After: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.DropAwait(ctx, id, await); err != nil {
		t.Error(err)
	}
	if again, err := ts.Restart(ctx, task, nil); err != nil || again.Attempt != 2 { // by the rules that it was started by
		t.Errorf("restarted: %+v, %v", again, err)
	} else {
		task = again
	}
	if list, err := ts.List(ctx, id); err != nil || len(list) != 1 || len(list[0].Attempts) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if killed, err := ts.KillAll(ctx, id); err != nil || len(killed) != 1 {
		t.Errorf("%+v, %v", killed, err)
	}
	all, err := ts.List(ctx, "")
	if err != nil || len(all) != 1 || all[0].Live() || all[0].By != "user" {
		t.Errorf("%+v, %v", all, err)
	}
	if restored, err := ts.Restore(ctx, id, rules); err != nil || len(restored) > 0 {
		t.Errorf("%+v, %v", restored, err)
	}
	if _, err := ts.Wait(ctx, id, "bash_9", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such task: %v", err)
	}
}

// Goal: who declares a holder dead frees its session, and the holder can write no more if it lives.
func TestTakeoverFencesTheHolder(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	open := func() *perdure.Home {
		h, err := perdure.Open(ctx, dir, perdure.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	h, other := open(), open()
	old, err := h.Record(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	var held *store.HeldError
	if _, err := other.Record(ctx, "s"); !errors.As(err, &held) {
		t.Errorf("two hold it: %v", err)
	}
	if err := other.Takeover(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	now, err := other.Record(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := now.User(ctx, "mine"); err != nil {
		t.Error(err)
	}
	if _, err := old.Append(ctx, perdure.User, perdure.AppEvent("a", nil)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the old holder wrote: %v", err)
	}
	if err := now.Close(); err != nil {
		t.Error(err)
	}
	_ = old.Close() // it says that it was fenced
	if err := h.Takeover(ctx, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
}
