package session_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

func sealed(head string, parts ...string) []byte {
	b := append(binary.AppendUvarint(nil, uint64(len(head))), head...)
	b = binary.AppendUvarint(b, uint64(len(parts)))
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
	}
	return append(b, strings.Join(parts, "")...)
}

// TestRawBytesStayRaw keeps what encoding/json would change: order, spaces, escapes, long integers, bad UTF-8.
func TestRawBytesStayRaw(t *testing.T) {
	raw := "{\"b\": 1.0, \"a\":12345678901234567890, \"c\":\"<\\u0041>\xff\"}"
	chain := session.Chain{Session: "s"}
	e, err := chain.Event(robot, 1, &session.ModelResponded{Blocks: []session.SealedBlock{
		{Type: model.BlockToolUse, Raw: []byte(raw), Input: []byte(" {} ")},
		{Type: model.BlockThinking, Raw: []byte("thought")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := decode(e).(*session.ModelResponded)
	if string(b.Blocks[0].Raw) != raw || string(b.Blocks[0].Input) != " {} " || string(b.Blocks[1].Raw) != "thought" {
		t.Fatalf("%+v", b.Blocks)
	}
}

// TestCorruptBodies gives each a named error and little memory.
func TestCorruptBodies(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<62)
	many := strings.Repeat("\x01", 1<<16)
	for name, body := range map[string][]byte{
		"empty":              {},
		"no head":            {5, '{', '}'},
		"huge head":          huge,
		"huge part":          append(sealed("{}")[:3], append([]byte{1}, huge...)...),
		"endless number":     bytes.Repeat([]byte{0x80}, 40),
		"too many parts":     append([]byte{2, '{', '}'}, binary.AppendUvarint(nil, 1<<20)...),
		"parts without data": append(append([]byte{2, '{', '}'}, binary.AppendUvarint(nil, 1<<16)...), many...),
		"no part":            sealed(`{"content":[{"type":"text"}]}`),
		"trailing bytes":     append(sealed("{}"), 'x'),
		"not JSON":           sealed("{"),
		"wrong type":         sealed(`{"content":7}`),
		"sum overflows": append(append([]byte{2, '{', '}'}, binary.AppendUvarint(nil, 1<<14)...),
			bytes.Repeat(binary.AppendUvarint(nil, 1<<30), 1<<14)...),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := session.Decode(store.Event{Kind: session.KindMessageReceived, Codec: session.Codec1, Body: body})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, session.ErrCorruptBody) {
				t.Errorf("error %v", err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
				t.Errorf("%d bytes allocated for %d", n, len(body))
			}
		})
	}
}

// TestApplyRefuses leaves the state alone when an event does not follow or is corrupt.
func TestApplyRefuses(t *testing.T) {
	s := session.New("s")
	before := asJSON(s)
	for _, e := range []store.Event{
		{Seq: 2, Kind: session.KindApp, Codec: session.Codec1, Body: sealed("{}", "")},
		{Seq: 0, Kind: session.KindApp, Codec: session.Codec1, Body: sealed("{}", "")},
		{Seq: 1, Kind: session.KindApp, Codec: session.Codec1, Body: []byte("x")},
	} {
		if err := s.Apply(e); err == nil || asJSON(s) != before {
			t.Errorf("event %d: %v", e.Seq, err)
		}
	}
}

// TestEnvironmentIsExact carries values that are no text, empty ones, removed ones, and tells no delta from an
// empty one.
func TestEnvironmentIsExact(t *testing.T) {
	bad, empty := "\xff\x00\xfe", ""
	for _, env := range []command.EnvDelta{nil, {}, {"A": &bad, "B": nil, "C": &empty}, {"C": &empty}} {
		w := newWorld("s")
		w.append(engine, &session.ToolFinished{Env: env})
		got := decode(w.events[0]).(*session.ToolFinished).Env
		if (got == nil) != (env == nil) || fmt.Sprint(len(got)) != fmt.Sprint(len(env)) {
			t.Fatalf("%v came back as %v", env, got)
		}
		for k, v := range env {
			if g := got[k]; (g == nil) != (v == nil) || v != nil && *g != *v {
				t.Errorf("%s: %v came back as %v", k, v, g)
			}
		}
	}
}

// FuzzDecode finds no panic, and what decodes encodes again.
func FuzzDecode(f *testing.F) {
	for i := range kinds {
		body, err := session.Encode(emptyBody(kinds[i]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, body)
	}
	f.Add(9, sealed(`{"content":[{"type":"text"},{"type":"image","media":"image/png"}]}`, "hi", "\x89PNG"))
	f.Fuzz(func(t *testing.T, kind int, body []byte) {
		e := store.Event{Seq: 1, Kind: kinds[uint(kind)%uint(len(kinds))], Codec: session.Codec1, Body: body}
		b, err := session.Decode(e)
		if err != nil {
			if !errors.Is(err, session.ErrCorruptBody) && body != nil {
				t.Fatal(err)
			}
			return
		}
		if e.Body, err = session.Encode(b); err != nil {
			t.Fatal(err)
		}
		if _, err = session.Decode(e); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzApply folds whatever decodes, in any order, asks for the next actions, and takes a snapshot.
func FuzzApply(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 9, 7, 11, 12})
	f.Add(uint64(7), []byte{9, 7, 11, 12, 15, 16, 17, 8})
	f.Fuzz(func(t *testing.T, seed uint64, order []byte) {
		s, tr := session.New("s"), &session.Transcript{}
		src := fuzzed{seed: seed}
		for _, k := range order[:min(len(order), 200)] {
			b := emptyBody(kinds[int(k)%len(kinds)])
			src.into(b)
			chain := session.Chain{Session: "s", Head: s.Head}
			e, err := chain.Event(engine, int64(src.number(9)), b)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
			tr.Apply(e, b)
			tr.Upcoming()
			if err := uniqueActions(session.Next(s)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
