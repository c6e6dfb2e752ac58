package homes_test

import (
	"context"
	"errors"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

// scriptedHome opens a home in a temporary directory, whose model plays a script.
func scriptedHome(script string) (h *homes.Home, done func()) {
	dir, err := os.MkdirTemp("", "perdure-example-")
	if err != nil {
		log.Fatal(err)
	}
	h, err = homes.Open(context.Background(), dir, homes.Config{Provider: func(string) (modelapi.Provider, error) {
		s, err := scripted.Parse([]byte(script))
		return scripted.New(s), err
	}})
	if err != nil {
		log.Fatal(err)
	}
	return h, func() {
		if err := errors.Join(h.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// A person's await is refused where a model's would be, and can be taken back; the model is told that.
func TestHomeAwait(t *testing.T) {
	home, done := scriptedHome(`{"turns":[{"match":"go","steps":[{"text":"ok"}]}]}`)
	defer done()
	ctx := t.Context()
	id, err := home.Create(ctx, engine.Spec{Cwd: "/", Agent: session.Agent{Provider: "scripted", Model: "m", MaxTokens: 100}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []session.Await{
		{Event: "moon"},
		{Event: session.AwaitTimer},
		{Event: session.AwaitEnd, Task: "bash_1"},
		{Event: session.AwaitTimer, AfterMS: session.MaxAwaitMS + 1},
	} {
		if _, err := home.Await(ctx, id, bad); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	name, err := home.Await(ctx, id, session.Await{Event: session.AwaitTimer, AfterMS: 3_600_000})
	if err != nil || name != "await_1" {
		t.Fatal(name, err)
	}
	if err := home.DropAwait(ctx, id, name); err != nil {
		t.Fatal(err)
	}
	if err := home.DropAwait(ctx, id, name); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("dropped twice: %v", err)
	}
	r, err := home.Run(ctx, id, homes.RunOptions{Prompt: "go", Wait: true})
	if err != nil || r.Result != "ok" || len(r.Awaits) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	v, err := home.View(ctx, id, homes.ViewOptions{Messages: true})
	if err != nil || !strings.HasPrefix(*v.Messages[0].Content[0].Text, "[await_1] was cancelled by the user") {
		t.Errorf("%+v, %v", v.Messages, err)
	}
}

// A task is waited for without a lease: somebody else may hold the session meanwhile.
func TestWaitTask(t *testing.T) {
	home, done := scriptedHome(`{"turns":[{"match":"go","steps":[
		{"tools":[{"name":"Bash","input":{"command":"echo one; echo two; sleep 0.2; exit 5","run_in_background":true}}]},{"text":"ok"}]}]}`)
	defer done()
	ctx := t.Context()
	id, err := home.Create(ctx, engine.Spec{Cwd: "/", Agent: session.Agent{Provider: "scripted", Model: "m", MaxTokens: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := home.Run(ctx, id, homes.RunOptions{Prompt: "go", Options: engine.Options{Mode: permission.ModeBypass}}); err != nil {
		t.Fatal(err)
	}
	held, err := home.Record(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	news, err := home.Tasks().Wait(ctx, id, "bash_1", regexp.MustCompile("^tw"))
	if err != nil || news.Line == nil || *news.Line != "two" {
		t.Errorf("%+v, %v", news, err)
	}
	news, err = home.Tasks().Wait(ctx, id, "bash_1", nil)
	if err != nil || news.Task.Status != string(command.Exited) || *news.Task.ExitCode != 5 {
		t.Errorf("%+v, %v", news, err)
	}
	if news, err = home.Tasks().Wait(ctx, id, "bash_1", regexp.MustCompile("three")); err != nil || news.Line != nil {
		t.Errorf("%+v, %v", news, err)
	}
	if _, err := home.Tasks().Wait(ctx, id, "bash_2", nil); !errors.Is(err, homes.ErrNoTask) {
		t.Error(err)
	}
}
