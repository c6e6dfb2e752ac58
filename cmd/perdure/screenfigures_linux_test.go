package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Upper limits for a loaded machine. What an idle one shows is in the log of the test.
const (
	maxPaint  = 3 * time.Second
	maxEcho   = time.Second
	maxIdle   = 0.05      // of a processor
	maxMemory = 200 << 10 // KiB
)

// Goal: in a home of many sessions a long one is on the screen at once, after a SIGKILL too; a key is shown at once, with
// much written already; and a screen that nobody touches costs nearly nothing.
func TestTheScreenIsFast(t *testing.T) {
	n, idle := 200, 2*time.Second
	if os.Getenv("PERDURE_SOAK") == "1" {
		n, idle = 10_000, 20*time.Second
	}
	d := newDesk(t)
	name := d.model(spoken)
	d.ok("-p", "--session-id", "one", "--model", name, "hi")
	d.fill(n)
	var paints, usable, echoes []time.Duration
	for range 7 {
		g := newGlass(t, 120, 40)
		began := time.Now()
		cmd := g.start(d, "-c")
		paints = append(paints, g.sees(0, fmt.Sprint("The last words of turn ", n/2)).Sub(began))
		g.types("z")
		usable = append(usable, g.sees(g.size(), "z").Sub(began))
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	g := newGlass(t, 120, 40)
	cmd := g.start(d, "-c")
	g.sees(0, fmt.Sprint("The last words of turn ", n/2))
	g.types("\x1b[200~" + strings.Repeat("a line that was pasted\n", 150) + "\x1b[201~")
	g.settles()
	for range 20 {
		at, began := g.size(), time.Now()
		g.types("z")
		echoes = append(echoes, g.sees(at, "z").Sub(began))
		<-time.After(30 * time.Millisecond)
	}
	before, began := ticks(t, cmd.Process.Pid), time.Now()
	<-time.After(idle)
	share := float64(ticks(t, cmd.Process.Pid)-before) / 100 / time.Since(began).Seconds()
	kib := memory(t, cmd.Process.Pid)
	middle := func(all []time.Duration) time.Duration { slices.Sort(all); return all[len(all)/2] }
	t.Logf("%d sessions, %d messages: first paint %v (best %v), a key after it %v; key to screen %v (most %v); idle %.2f %% of a processor, %d MiB",
		n, n, middle(paints), paints[0], middle(usable), middle(echoes), echoes[len(echoes)-1], share*100, kib>>10)
	if middle(paints) > maxPaint || middle(echoes) > maxEcho || share > maxIdle || kib > maxMemory {
		t.Error("that is too much, whatever the machine")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	g.left(cmd, 128+int(syscall.SIGTERM))
}

// ticks is what a process has used of a processor, in hundredths of a second.
func ticks(t *testing.T, pid int) int64 {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(fields)
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return user + system
}

// memory is what a process has in memory, in KiB.
func memory(t *testing.T, pid int) (kib int64) {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err = strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib
}

// fill brings a home to so many sessions, and session one, which has a turn, to so many messages.
func (d *desk) fill(n int) {
	d.t.Helper()
	ctx := d.t.Context()
	h, err := homes.Open(ctx, d.home, homes.Config{Environ: d.env})
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	for i := range n - 1 {
		_, err := h.Create(ctx, engine.Spec{ID: fmt.Sprintf("s%05d", i), Owner: "tester", Cwd: "/", Agent: session.Agent{Name: "default", Provider: "scripted", Model: "test", MaxTokens: 1000, Price: &model.Price{}}})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	var turn []session.Body
	var at int64
	for ev, err := range h.Events(ctx, "one", 1, 1<<40) {
		if err != nil {
			d.t.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			d.t.Fatal(err)
		}
		if slices.Contains([]store.Kind{session.KindMessageReceived, session.KindTurnStarted, session.KindModelRequested, session.KindModelResponded, session.KindTurnEnded}, ev.Kind) {
			turn = append(turn, body)
		}
		at = ev.Seq
	}
	r, err := h.Record(ctx, "one")
	if err != nil {
		d.t.Fatal(err)
	}
	at++ // that it is held
	for i := 2; i <= n/2; i++ {
		_, err := r.Append(ctx, store.Actor{Type: store.ActorUser}, again(turn, i, at)...)
		if err != nil {
			d.t.Fatal(err)
		}
		at += int64(len(turn))
	}
	if err := r.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// again is a turn once more, as turn i, behind an event.
func again(turn []session.Body, i int, after int64) []session.Body {
	act := fmt.Sprintf("t%d.s1.b0.a1", i)
	message, started, asked := *turn[0].(*session.MessageReceived), *turn[1].(*session.TurnStarted), *turn[2].(*session.ModelRequested)
	replied, over := *turn[3].(*session.ModelResponded), *turn[4].(*session.TurnEnded)
	message.Key = fmt.Sprint("key ", i)
	message.Content = []model.Part{model.TextPart(fmt.Sprintf("hi for the time %d", i))}
	started.N, started.Message, asked.Act, asked.Turn, asked.Epoch, asked.Through = i, after+1, act, i, 2, after+2
	text := fmt.Sprintf("The last words of turn %d", i)
	replied.Act = act
	replied.Blocks = slices.Clone(replied.Blocks)
	replied.Blocks[0].Shown = []byte(text)
	replied.Blocks[0].Raw = fmt.Appendf(nil, `{"type":"text","text":%q}`, text)
	over.N = i
	return []session.Body{&message, &started, &asked, &replied, &over}
}
