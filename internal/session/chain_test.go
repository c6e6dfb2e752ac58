package session_test

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// randomLog seals n random events.
func randomLog(t *rapid.T, n int) []store.Event {
	src, chain := seeded(t), session.Chain{Session: "s"}
	events := make([]store.Event, n)
	for i := range events {
		e, err := chain.Event(store.Actor{Type: store.ActorUser, ID: words[src.number(len(words))]}, int64(src.number(9)), randomBody(src))
		if err != nil {
			t.Fatal(err)
		}
		events[i] = e
	}
	return events
}

func verify(id string, events []store.Event) error {
	chain := session.Chain{Session: id}
	for _, e := range events {
		if err := chain.Verify(e); err != nil {
			return err
		}
	}
	return nil
}

// TestChainFindsEveryChange changes one thing in a log, anything; the chain must not hold any more.
func TestChainFindsEveryChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := randomLog(t, rapid.IntRange(2, 8).Draw(t, "events"))
		if err := verify("s", events); err != nil {
			t.Fatal(err)
		}
		if verify("another", events) == nil {
			t.Fatal("the log passes for that of another session")
		}
		i := rapid.IntRange(0, len(events)-1).Draw(t, "event")
		changed := append([]store.Event{}, events...)
		e := &changed[i]
		bit := byte(1) << rapid.IntRange(0, 7).Draw(t, "bit")
		switch what := rapid.SampledFrom([]string{
			"body", "kind", "time", "flags", "actor", "actor id", "codec", "digest", "hash", "seq",
			"drop", "swap", "repeat", "insert",
		}).Draw(t, "what"); what {
		case "body":
			e.Body = bytes.Clone(e.Body)
			e.Body[rapid.IntRange(0, len(e.Body)-1).Draw(t, "at")] ^= bit
		case "kind":
			e.Kind += "x"
		case "time":
			e.Time ^= int64(bit) << (8 * rapid.IntRange(0, 7).Draw(t, "byte"))
		case "flags":
			e.Flags ^= store.Flags(bit)
		case "actor":
			e.Actor.Type = store.ActorModel
		case "actor id":
			e.Actor.ID += "x"
		case "codec":
			e.Codec ^= bit
		case "digest":
			e.Body = nil // an erased body does not hide a changed digest
			e.Digest[rapid.IntRange(0, 31).Draw(t, "at")] ^= bit
		case "hash":
			e.Hash[rapid.IntRange(0, 31).Draw(t, "at")] ^= bit
		case "seq":
			e.Seq ^= int64(bit)
		case "drop": // what a log lost at its end is found by its head alone
			i = rapid.IntRange(0, len(events)-2).Draw(t, "dropped")
			changed = append(changed[:i], changed[i+1:]...)
		case "swap":
			j := (i + 1) % len(changed)
			changed[i], changed[j] = changed[j], changed[i]
		case "repeat":
			changed = append(changed[:i+1], events[i:]...)
		case "insert":
			changed = append(changed[:i], append([]store.Event{{Seq: int64(i) + 1}}, events[i:]...)...)
		}
		if verify("s", changed) == nil {
			t.Fatalf("the change was not found\n%+v", *e)
		}
	})
}

// TestErasedBodyVerifies keeps the promise that erasing a body leaves a sound chain, and is no unknown kind.
func TestErasedBodyVerifies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := randomLog(t, 5)
		events[rapid.IntRange(0, 4).Draw(t, "erased")].Body = nil
		if err := verify("s", events); err != nil {
			t.Fatal(err)
		}
		s, err := session.Fold("s", events)
		if err != nil || s.ReadOnly != "" {
			t.Fatalf("%v, %q", err, s.ReadOnly)
		}
	})
}

// TestUnknownKinds carries what a newer version wrote: byte for byte, and read-only if it is critical.
func TestUnknownKinds(t *testing.T) {
	for _, critical := range []bool{false, true} {
		for _, erased := range []bool{false, true} {
			w := newWorld("s")
			w.append(human, &session.Opened{ID: "s"}, &session.MessageReceived{Content: []model.Part{model.TextPart("hi")}})
			raw := []byte("\x00anything\xff")
			e := store.Event{Seq: 3, Kind: "dream.recorded", Time: 9, Codec: 7, Body: raw, Digest: store.Sum(raw)}
			if critical {
				e.Flags = store.Critical
			}
			e.Hash = store.Hash(w.st.Head.Hash, "s", e)
			if erased {
				e.Body = nil
			}
			body, err := session.Decode(e)
			if err != nil {
				t.Fatal(err)
			}
			again, err := session.Encode(body)
			if err != nil || !bytes.Equal(again, e.Body) || session.KindOf(body) != e.Kind {
				t.Fatalf("%q came back as %q, %v", raw, again, err)
			}
			if err := w.st.Apply(e); err != nil {
				t.Fatal(err)
			}
			if got := w.st.ReadOnly != ""; got != critical {
				t.Errorf("critical %t, erased %t: read-only %q", critical, erased, w.st.ReadOnly)
			}
			if got := len(session.Next(w.st)) == 0; got != critical {
				t.Errorf("critical %t, erased %t: Next is\n%s", critical, erased, actionLines(session.Next(w.st)))
			}
			if w.st.Head.Seq != 3 || len(w.st.Faults) > 0 {
				t.Errorf("head %d, faults %v", w.st.Head.Seq, w.st.Faults)
			}
		}
	}
}

// TestUnknownCodec of a known kind is as unknown as a kind.
func TestUnknownCodec(t *testing.T) {
	e := store.Event{Seq: 1, Kind: session.KindOpened, Flags: store.Critical, Codec: 2, Body: []byte("future")}
	s := session.New("s")
	if err := s.Apply(e); err != nil || s.ReadOnly == "" {
		t.Fatalf("%v, %q", err, s.ReadOnly)
	}
}

// TestCodecKeepsBodies encodes, decodes and encodes again: the same bytes, and the same values.
func TestCodecKeepsBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := randomBody(seeded(t))
		chain := session.Chain{Session: "s"}
		e, err := chain.Event(engine, 1, body)
		if err != nil {
			t.Fatal(err)
		}
		decoded := decode(e)
		once, err := session.Encode(decoded)
		if err != nil {
			t.Fatal(err)
		}
		e.Body = once
		twice, err := session.Encode(decode(e))
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v\n%q\n%q", err, once, twice)
		}
		if a, b := asJSON(body), asJSON(decoded); a != b || reflect.TypeOf(body) != reflect.TypeOf(decoded) {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}
