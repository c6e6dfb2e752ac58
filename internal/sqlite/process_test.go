package sqlite

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

const childVariable = "PERDURE_STORE_CHILD"

// TestMain lets the test binary play another process.
func TestMain(m *testing.M) {
	if role := os.Getenv(childVariable); role != "" {
		if err := child(role, os.Args[len(os.Args)-1]); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if !soak() { // Every check costs real syncs; more of them belong to the soak.
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// child is the other process: it reports each acknowledgement on a line of its own, so that the parent knows what was
// promised when it kills it.
func child(role, home string) error {
	kind, arg, _ := strings.Cut(role, ":")
	cfg := Config{}
	if kind == "unsynced" {
		cfg.engine, cfg.pragmas = withoutSyncs(native()), map[string]string{"synchronous": "OFF"}
	}
	s, err := Open(context.Background(), home, cfg)
	if err != nil {
		return err
	}
	switch kind {
	case "endless": // Appends to a few sessions at once until it is killed.
		return childWriters(s, arg, 4, 1<<30)
	case "many":
		if err := childWriters(s, arg, 4, 40); err != nil {
			return err
		}
	case "serial", "unsynced":
		n, _ := strconv.Atoi(arg)
		if err := childWriters(s, "serial", 1, n); err != nil {
			return errors.Join(err, s.Close())
		}
	case "starting": // Is killed while a child that it started has not let go of its files.
		if _, err := s.Acquire(context.Background(), arg); err != nil {
			return err
		}
		late := exec.Command("sleep", "0.4")
		late.ExtraFiles = []*os.File{s.self.file}
		if err := late.Start(); err != nil {
			return err
		}
		fmt.Println("ready")
		select {}
	case "creator": // Makes one session.
		err := s.Create(context.Background(), store.NewSession{ID: arg, Events: storetest.Events(arg, store.Head{}, 1)})
		return errors.Join(err, s.Close())
	case "reader":
		_, err := s.List(context.Background(), store.Query{})
		return errors.Join(err, s.Close())
	case "held": // Appends once for each line it is sent.
		l, err := s.Acquire(context.Background(), arg)
		if err != nil {
			return err
		}
		head := l.Info.Head
		fmt.Println("ready", head.Seq)
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			err := s.Append(context.Background(), l, store.Batch{Events: storetest.Events(arg, head, 1)})
			fmt.Println("fenced", errors.Is(err, store.ErrFenced))
		}
	}
	return s.Close()
}

// childWriters appends to n sessions at once.
func childWriters(s *Store, prefix string, n, events int) error {
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- childWriter(s, fmt.Sprint(prefix, i), events) }()
	}
	var all []error
	for range n {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

func childWriter(s *Store, id string, events int) error {
	ctx := context.Background()
	if err := s.Create(ctx, store.NewSession{ID: id}); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	l, err := s.Acquire(ctx, id)
	if err != nil {
		return err
	}
	for head := l.Info.Head; events > 0; events-- {
		e := storetest.Events(id, head, 1)[0]
		if err := s.Append(ctx, l, store.Batch{Events: []store.Event{e}}); err != nil {
			return err
		}
		head = store.Head{Seq: e.Seq, Hash: e.Hash}
		fmt.Println("acked", id, e.Seq)
	}
	return nil
}

// process is a running child.
type process struct {
	*exec.Cmd
	t     testing.TB
	in    io.WriteCloser
	lines *bufio.Scanner
}

func start(t testing.TB, role, home string, wrap ...string) *process {
	t.Helper()
	args := append(wrap, os.Args[0], home)
	p := &process{Cmd: exec.Command(args[0], args[1:]...), t: t}
	p.Env = append(os.Environ(), childVariable+"="+role)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

// acks reads the child's lines, until it has seen n or the child is gone, into the newest acknowledged seq of each
// session.
func (p *process) acks(into map[string]int64, n int) {
	p.t.Helper()
	for ; n > 0 && p.lines.Scan(); n-- {
		fields := strings.Fields(p.lines.Text())
		if len(fields) != 3 || fields[0] != "acked" {
			p.t.Fatalf("child says %q", p.lines.Text())
		}
		seq, _ := strconv.ParseInt(fields[2], 10, 64)
		into[fields[1]] = seq
	}
}

func (p *process) line() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatal("the child is gone")
	}
	return p.lines.Text()
}

// TestKillLoop: a process killed at any time loses nothing that it was told was durable; the log is what it would have
// written, event for event, with at most one more; and the next process takes the sessions over at once.
func TestKillLoop(t *testing.T) {
	rounds := 20
	if soak() {
		rounds = 1000
	}
	home := t.TempDir()
	acked := map[string]int64{}
	rng := rand.New(rand.NewPCG(1, uint64(os.Getpid())))
	var slowest time.Duration
	for round := range rounds {
		p := start(t, "endless:k", home)
		p.acks(acked, 1+rng.IntN(120))
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.acks(acked, 1<<30) // What it had written to the pipe before it died.
		_ = p.Wait()
		begun := time.Now()
		s := mustOpen(t, home, Config{})
		slowest = max(slowest, time.Since(begun))
		for id, seq := range acked {
			got, err := readAll(s, id)
			if err != nil || int64(len(got)) < seq || int64(len(got)) > seq+1 {
				t.Fatalf("round %d: %s has %d events, acknowledged %d, %v", round, id, len(got), seq, err)
			}
			if want := storetest.Events(id, store.Head{}, len(got)); !same(got, want) {
				t.Fatalf("round %d: %s has other events than were written", round, id)
			}
			acked[id] = int64(len(got))
			if _, err := s.Acquire(t.Context(), id); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if round%2 == 0 { // A sound process in between, or none.
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			abandon(s)
		}
	}
	t.Logf("%d kills, %d sessions, slowest open after a kill %v", rounds, len(acked), slowest)
	entries, err := os.ReadDir(filepath.Join(home, "holders"))
	if err != nil || len(entries) > rounds {
		t.Errorf("%d files of dead holders stay behind, %v", len(entries), err)
	}
}

// TestTwoProcesses: two processes append to one home, while a third reads what both were told is durable.
func TestTwoProcesses(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	acked := map[string]int64{}
	a, b := start(t, "many:a", home), start(t, "many:b", home)
	for range 8 {
		a.acks(acked, 20)
		b.acks(acked, 20)
		for id, seq := range acked {
			if got, err := readAll(s, id); err != nil || int64(len(got)) < seq {
				t.Fatalf("%s: %d events, acknowledged %d, %v", id, len(got), seq, err)
			}
		}
	}
	for _, p := range []*process{a, b} {
		p.acks(acked, 1<<30)
		if err := p.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acked) != 8 {
		t.Errorf("%d sessions", len(acked))
	}
	for id := range acked {
		if got, err := readAll(s, id); err != nil || !same(got, storetest.Events(id, store.Head{}, 40)) {
			t.Errorf("%s: %d events, %v", id, len(got), err)
		}
	}
}

// TestSyncsAreReal: the kernel sees at least one sync for every acknowledged commit of the real driver. The control,
// the same process with syncs switched off, must show fewer.
func TestSyncsAreReal(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("strace is needed to see what the kernel was asked for; install it")
	}
	const appends = 60
	syncs := func(role string) int {
		trace := filepath.Join(t.TempDir(), "trace")
		p := start(t, fmt.Sprint(role, ":", appends), t.TempDir(), strace, "-f", "-e", "trace=fsync,fdatasync", "-o", trace)
		acked := map[string]int64{}
		p.acks(acked, 1<<30)
		if err := p.Wait(); err != nil || acked["serial0"] != appends {
			t.Fatalf("child acknowledged %v, %v", acked, err)
		}
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return len(regexp.MustCompile(`(?m)(fsync|fdatasync)[( ].*= 0$`).FindAll(b, -1))
	}
	got, control := syncs("serial"), syncs("unsynced")
	t.Logf("%d appends: %d syncs; without ours, and synchronous=OFF, %d", appends, got, control)
	if got < appends {
		t.Errorf("%d syncs for %d acknowledged appends", got, appends)
	}
	if control >= appends {
		t.Errorf("the control shows %d syncs: the count proves nothing", control)
	}
}

// TestRealSyncFails: when the kernel fails a sync of the real driver, the append is uncertain, and the process, though
// it closes its store in order, asks for no other sync: that one could be told that all is well.
func TestRealSyncFails(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("strace is needed to fail a sync of the real driver; install it")
	}
	home, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	p := start(t, "serial:200", home, strace, "-f", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO:when=20+", "-o", trace)
	acked, said := int64(0), ""
	for p.lines.Scan() {
		if n, _ := fmt.Sscanf(p.lines.Text(), "acked serial0 %d", &acked); n == 0 {
			said += p.lines.Text()
		}
	}
	if err := p.Wait(); err == nil || acked == 0 || acked == 200 || !strings.Contains(said, "uncertain: restart") {
		t.Fatalf("child acknowledged %d, says %q, %v", acked, said, err)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if _, after, found := strings.Cut(string(b), "EIO"); !found || strings.Contains(after, "sync") {
		t.Errorf("the syncs after the one that failed:%s", after)
	}
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	if got, err := readAll(s, "serial0"); err != nil || int64(len(got)) < acked || int64(len(got)) > acked+1 {
		t.Errorf("%d events, acknowledged %d, %v", len(got), acked, err)
	}
}

// TestKilledWhileStarting: a process that is killed while it starts another one leaves its lock to that one until it
// has become what it shall be. The session is not held by the dead: whoever wants it waits for that moment.
func TestKilledWhileStarting(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	if err := s.Create(t.Context(), store.NewSession{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	p := start(t, "starting:a", home)
	if l := p.line(); l != "ready" {
		t.Fatal(l)
	}
	if _, err := s.Acquire(t.Context(), "a"); !errors.Is(err, store.ErrHeld) {
		t.Errorf("while it lives: %v", err)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "a"); err != nil {
		t.Errorf("after the kill: %v", err)
	}
}
