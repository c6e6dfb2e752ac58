package sessions_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

func TestLogGolden(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s1")
	w.Golden("log_text", w.OK("log", "s1"))
	w.Golden("log_json", w.OK("log", "s1", "--json"))
}

// A fork's log is its own; its ancestors' come before it when asked for.
func TestLogOfAFork(t *testing.T) {
	w := clitest.New(t)
	w.Create("a")
	w.Append("a", store.Actor{Type: store.ActorUser})
	w.OK("fork", "a", "--id", "b")
	w.Append("b", store.Actor{Type: store.ActorUser})
	w.OK("fork", "b@2", "--id", "c")
	w.Append("a", store.Actor{Type: store.ActorUser}) // after the fork: not the child's past
	own := clitest.Lines(t, w.OK("log", "c", "--json"))
	var keys []string
	for k := range own[0] {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if len(own) != 1 || own[0]["seq"] != 1.0 || own[0]["kind"] != "session.forked" {
		t.Errorf("own events: %v", own)
	}
	if want := []string{"actor", "body", "hash", "kind", "seq", "time"}; !slices.Equal(keys, want) {
		t.Errorf("fields %v, want %v", keys, want)
	}
	var got []string
	for _, l := range clitest.Lines(t, w.OK("log", "c", "--json", "--ancestors")) {
		got = append(got, l["session"].(string)+" "+l["kind"].(string))
	}
	want := []string{
		"a session.opened", "a session.resumed", "a session.released", "b session.forked", "b session.resumed", "c session.forked",
	}
	if !slices.Equal(got, want) {
		t.Errorf("ancestors: %v\nwant %v", got, want)
	}
	if out := w.OK("log", "c", "--ancestors"); !strings.HasPrefix(out, "a      1") {
		t.Errorf("text: %s", out)
	}
}

func TestLogFrom(t *testing.T) {
	w := clitest.New(t)
	w.Create("a")
	w.Append("a", store.Actor{Type: store.ActorUser})
	if l := clitest.Lines(t, w.OK("log", "a", "--json", "--from", "3")); len(l) != 1 || l[0]["seq"] != 3.0 {
		t.Errorf("from 3: %v", l)
	}
	if out := w.OK("log", "a", "--from", "99"); out != "" {
		t.Errorf("from beyond the end: %q", out)
	}
	w.Fails(2, "numbered from 1", "log", "a", "--from", "0")
	w.Fails(4, "no session", "log", "nope")
}

// A follower sees what others append, and ends with 130 at an interrupt.
func TestLogFollow(t *testing.T) {
	w := clitest.New(t)
	w.Create("a")
	r, wait := w.Start("log", "a", "--json", "--follow")
	clitest.Until(t, "the first event is shown", func() bool { return strings.Contains(r.Read().Stdout, "session.opened") })
	w.Append("a", store.Actor{Type: store.ActorUser}, &session.App{Namespace: "fresh"})
	clitest.Until(t, "the new event is shown", func() bool { return strings.Contains(r.Read().Stdout, `"namespace":"fresh"`) })
	w.Signals <- syscall.SIGINT
	wait()
	if o := r.Read(); o.Code != 130 || o.Stderr != "" {
		t.Errorf("after SIGINT: %+v", o)
	}
	seqs := clitest.Lines(t, r.Read().Stdout)
	for i, l := range seqs {
		if l["seq"] != float64(i+1) {
			t.Errorf("line %d has seq %v", i, l["seq"])
		}
	}
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		w.Signals <- sig
		if o := w.Run("log", "a", "--follow"); o.Code != code {
			t.Errorf("after %v: exit %d, want %d", sig, o.Code, code)
		}
	}
}

// An event whose body was erased, or is of a later version, is shown as that.
func TestEventViewOfTheUnknown(t *testing.T) {
	raw, err := session.Encode(&session.App{Namespace: "n", Data: []byte{0xff}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ev   store.Event
		want string
	}{
		{store.Event{Seq: 1, Kind: "later.kind", Codec: session.Codec1, Body: raw}, `{"namespace":"n","parts":[{"text_base64":"/w=="}]}`},
		{store.Event{Seq: 1, Kind: session.KindApp, Codec: session.Codec1}, `{"erased":true}`},
		{store.Event{Seq: 1, Kind: session.KindApp, Codec: 9, Body: []byte("ab")}, `{"codec":9,"raw_base64":"YWI="}`},
		{store.Event{Seq: 1, Kind: "later.kind", Codec: session.Codec1, Body: []byte("ab")}, `{"raw_base64":"YWI="}`},
	} {
		var b strings.Builder
		if err := display.Encoder(&b).Encode(session.EventView(c.ev, nil)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `"body":`+c.want) {
			t.Errorf("%s: want body %s", b.String(), c.want)
		}
	}
	if v := session.EventView(store.Event{Seq: 7, Kind: session.KindApp, Codec: session.Codec1, Body: []byte("ab")}, nil); v.Body.(map[string]any)["error"] == nil {
		t.Errorf("a damaged body: %v", v.Body)
	}
}
