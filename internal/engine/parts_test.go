package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// at is a session that is not opened: for parts that need its state and configuration only.
func at(cfg Config, st *session.State) *Session {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Secrets == nil {
		cfg.Secrets = noSecrets{}
	}
	return newSession(&Engine{cfg: cfg}, store.Lease{}, st)
}

// A price list that knows nothing of a model leaves it to the session's price.
func TestWhosePriceCounts(t *testing.T) {
	usage, own, listed := model.Usage{Input: 10}, &model.Price{Input: 3}, int64(7)
	for name, c := range map[string]struct {
		list func(string, model.Usage) *int64
		want int64
	}{
		"no list": {nil, 30}, "an empty list": {func(string, model.Usage) *int64 { return nil }, 30}, "listed": {func(string, model.Usage) *int64 { return &listed }, 7},
	} {
		if got := at(Config{Cost: c.list}, session.New("s")).eng.cost("m", own, usage); got == nil || *got != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}

// Of very many files the ones that were met last are looked at.
func TestNewestFilesAreLookedAt(t *testing.T) {
	st := session.New("s")
	st.Files = map[string]session.File{}
	for i := range 2 * maxLooked {
		p := fmt.Sprintf("/f%d", i)
		st.Files[p] = session.File{Path: p, Seq: int64(i + 1), Size: 1}
	}
	st.Files["/large"] = session.File{Path: "/large", Seq: 1 << 40, Size: maxLookBytes + 1}
	got := at(Config{}, st).newestFiles()
	if len(got) != maxLooked {
		t.Fatalf("%d files", len(got))
	}
	for i, f := range got {
		if f.Seq != int64(2*maxLooked-i) {
			t.Fatalf("place %d has the file of seq %d", i, f.Seq)
		}
	}
}

// A session that stays where it is tells the model nothing, one that moves says where to.
func TestMoveIsTold(t *testing.T) {
	st := session.New("s")
	st.Cwd, st.Config.Root = "/w", "/w"
	for cwd, told := range map[string]bool{"": false, "/w": false, "/x": true} {
		var c session.Configured
		bodies := at(Config{}, st).move(Options{Cwd: cwd}, &c)
		if (len(bodies) == 1) != told || (c.Cwd != nil) != told {
			t.Errorf("%q: %v, %v", cwd, bodies, c.Cwd)
		}
	}
}

// What the restart policy started in vain stays down, and the model is told; what a person started does not.
func TestNotStartedAfterAReboot(t *testing.T) {
	s := at(Config{}, session.New("s"))
	for _, c := range []struct {
		cause string
		err   error
		want  int
	}{{command.ReasonReboot, errors.New("no such file"), 3}, {command.ReasonReboot, nil, 1}, {"", errors.New("no such file"), 1}} {
		if got := s.notStarted(session.Task{ID: "bash_1", Cause: c.cause, Command: "x"}, command.State{}, c.err); len(got) != c.want {
			t.Errorf("%q, %v: %d bodies", c.cause, c.err, len(got))
		}
	}
}

// crowd is a tree whose every directory has so many files.
type crowd struct {
	tools.Files
	tools.Tree
	files int
}

type entry struct {
	fs.DirEntry
	name string
}

func (e entry) Name() string { return e.name }

func (c crowd) List(_ string, limit int) ([]fs.DirEntry, error) {
	var out []fs.DirEntry
	for i := range min(c.files, limit) {
		out = append(out, entry{name: fmt.Sprintf("f%d", i)})
	}
	return out, nil
}

func (crowd) Open(string) (io.ReadCloser, tools.FileInfo, error) {
	return nil, tools.FileInfo{}, fs.ErrNotExist
}

// A pattern that may become more paths than are looked at is not told about; with fewer the pattern itself is one of them.
func TestPatternsOfManyPaths(t *testing.T) {
	for files, want := range map[int]bool{3: true, maxPlaces - 1: true, maxPlaces: false, maxEntries + 1: false} {
		s := at(Config{Files: crowd{files: files}}, session.New("s"))
		found, ok := s.matches("/w/*")
		if ok != want || ok && (len(found) != files+1 || found[0] != path.Join("/w", "*")) {
			t.Errorf("%d files: %t, %d found", files, ok, len(found))
		}
	}
}

// The wake-up that is due, or due first, is the one that is waited for.
func TestEarliestWakeUp(t *testing.T) {
	now := time.Now().UnixMilli()
	for name, timers := range map[string]map[string]int64{
		"due, and tomorrow": {"a": now - 5, "b": now + 86_400_000}, "tomorrow, and due": {"a": now + 86_400_000, "b": now - 5}, "soon": {"a": now + 20, "b": now + 86_400_000},
	} {
		st := session.New("s")
		st.Timers = timers
		select {
		case <-at(Config{}, st).wake():
		case <-time.After(10 * time.Second):
			t.Errorf("%s: nothing wakes", name)
		}
	}
	if at(Config{}, session.New("s")).wake() != nil {
		t.Error("woken by nothing")
	}
}

// printed is one command that runs, with so much output.
type printed struct {
	Commands
	out   string
	waits *atomic.Int32
}

func (p printed) State(string, string) (command.State, error) {
	return command.State{Status: command.Running, Output: int64(len(p.out))}, nil
}

func (p printed) Read(_, _ string, from int64, limit int) ([]byte, int64, int64, error) {
	end := min(from+int64(limit), int64(len(p.out)))
	return []byte(p.out[from:end]), end, 0, nil
}

func (p printed) Wait(ctx context.Context, _, _ string) (command.State, error) {
	p.waits.Add(1)
	<-ctx.Done()
	return command.State{}, ctx.Err()
}

// What a command printed before it went to the background ends with a whole line, of a long output as of a short one:
// the rest is new when it is whole.
func TestSoFarEndsWithALine(t *testing.T) {
	for _, lines := range []int{3, quoteBytes} {
		whole := strings.Repeat("line\n", lines)
		f := commandFlight{s: &at(Config{Commands: printed{out: whole + "half"}}, session.New("s")).toolCalls, act: "a"}
		out, position, err := f.soFar()
		last := out.Head
		if out.Tail != nil {
			last = out.Tail
		}
		if err != nil || position != int64(len(whole)) || !strings.HasSuffix(string(last), "line\n") || lines > 3 && len(out.Head) != quoteBytes {
			t.Errorf("%d lines: position %d of %d, head %d, end %.10q, %v", lines, position, len(whole), len(out.Head), string(last[max(0, len(last)-10):]), err)
		}
	}
}

// The end of a task is waited for once, however often it is asked for.
func TestATaskIsWatchedOnce(t *testing.T) {
	st := session.New("s")
	st.Tasks = []session.Task{{ID: "bash_1", Act: "a", Ending: command.Ending{Status: command.Running}}, {ID: "bash_2", Act: "b", Ending: command.Ending{Status: command.Exited}}}
	var waits atomic.Int32
	s := at(Config{Commands: printed{waits: &waits}}, st)
	s.watchCtx, s.stopWatch = context.WithCancel(t.Context())
	for range 3 {
		s.watchTasks()
	}
	for deadline := time.Now().Add(10 * time.Second); waits.Load() == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	s.stopWatch()
	s.watchers.Wait()
	if waits.Load() != 1 {
		t.Errorf("%d wait for one task", waits.Load())
	}
}

// A name is the first line of what a model says, without the marks that it was asked to leave out, and not too long.
func TestTitleOf(t *testing.T) {
	long := strings.Repeat("é", titleLength)
	for said, want := range map[string]string{
		"A name": "A name", " \n\tA name \nmore": "A name", "# A name": "A name", "* Title: A name.": "A name", "**A name**": "A name",
		"“A name”": "A name", "'A name.'": "A name", "名前。": "名前", "A\x1b[31m name": "A name", "": "", "\"\"": "",
		long: long, long + ".": long, long + "é": "",
	} {
		if got := titleOf(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
