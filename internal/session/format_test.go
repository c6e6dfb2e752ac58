package session_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

var freeze = flag.Bool("freeze", false, "write the fixtures of testdata/formats that are missing; a released one never changes")

// TestFormats opens the logs that former versions wrote, for ever: every event verifies, decodes, and says what it
// said when it was frozen. A version that adds fields adds a fixture; it never rewrites one.
func TestFormats(t *testing.T) {
	if *freeze {
		freezeFormats(t)
	}
	files, err := filepath.Glob("testdata/formats/*.log")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	seen := map[store.Kind]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			events := readLog(t, file)
			if err := verify("s", events); err != nil {
				t.Fatal(err)
			}
			said := strings.Split(strings.TrimSpace(readFile(t, strings.TrimSuffix(file, "log")+"jsonl")), "\n")
			if len(said) != len(events) {
				t.Fatalf("%d events, %d descriptions", len(events), len(said))
			}
			for i, e := range events {
				seen[e.Kind] = true
				compare(t, e, said[i])
			}
			if _, err := session.Fold("s", events); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, k := range kinds {
		if !seen[k] {
			t.Errorf("kind %s is in no fixture; freeze one that has it", k)
		}
	}
}

// TestFrozenConversation folds the frozen session to the state and the conversation that it had.
func TestFrozenConversation(t *testing.T) {
	events := readLog(t, "testdata/formats/v1-session.log")
	s, err := session.Fold("s", events)
	if err != nil || len(s.Faults) > 0 {
		t.Fatal(err, s.Faults)
	}
	tr := &session.Transcript{}
	for _, e := range events {
		tr.Apply(e, decode(e))
	}
	got := stateLines(s) + messageLines(tr.Upcoming())
	if want := readFile(t, "testdata/formats/v1-session.folded"); got != want {
		t.Errorf("%s", firstDifference(want, got))
	}
}

// compare finds every field of the frozen description in what the event says today.
func compare(t *testing.T, e store.Event, said string) {
	t.Helper()
	var want, got map[string]any
	if err := json.Unmarshal([]byte(said), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(describe(t, e)), &got); err != nil {
		t.Fatal(err)
	}
	if err := within(want, got); err != nil {
		t.Errorf("event %d (%s): %s", e.Seq, e.Kind, err)
	}
}

func within(want, got any) error {
	w, ok := want.(map[string]any)
	if !ok {
		if list, ok := want.([]any); ok {
			other, ok := got.([]any)
			if !ok || len(other) != len(list) {
				return fmt.Errorf("%v is now %v", want, got)
			}
			for i := range list {
				if err := within(list[i], other[i]); err != nil {
					return err
				}
			}
			return nil
		}
		if !reflect.DeepEqual(want, got) {
			return fmt.Errorf("%v is now %v", want, got)
		}
		return nil
	}
	g, ok := got.(map[string]any)
	for k, v := range w {
		if !ok {
			return fmt.Errorf("%v is now %v", want, got)
		}
		if err := within(v, g[k]); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

// describe is a body as JSON, its raw parts included, in their order.
func describe(t *testing.T, e store.Event) string {
	body := decode(e)
	encoded, err := session.Encode(body)
	if err != nil {
		t.Fatal(err)
	}
	n, w := binary.Uvarint(encoded)
	parts := encoded[w+int(n):]
	b, err := json.Marshal(map[string]any{"kind": e.Kind, "type": fmt.Sprintf("%T", body), "body": body, "parts": parts})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readLog reads a fixture: each field of each event with its length before it.
func readLog(t *testing.T, name string) (events []store.Event) {
	t.Helper()
	b := []byte(readFile(t, name))
	field := func() []byte {
		n, w := binary.Uvarint(b)
		if w <= 0 || uint64(len(b)-w) < n {
			t.Fatalf("%s is cut off", name)
		}
		f := b[w : w+int(n)]
		b = b[w+int(n):]
		return f
	}
	for len(b) > 0 {
		e := store.Event{Seq: int64(len(events)) + 1, Kind: store.Kind(field())}
		e.Time = int64(binary.BigEndian.Uint64(field()))
		fixed := field()
		e.Flags, e.Codec = store.Flags(fixed[0]), fixed[1]
		e.Actor = store.Actor{Type: store.ActorType(field()), ID: string(field())}
		copy(e.Digest[:], field())
		copy(e.Hash[:], field())
		e.Body = field()
		events = append(events, e)
	}
	return events
}

func writeLog(events []store.Event) []byte {
	var out bytes.Buffer
	for _, e := range events {
		for _, f := range [][]byte{
			[]byte(e.Kind), binary.BigEndian.AppendUint64(nil, uint64(e.Time)),
			{byte(e.Flags), e.Codec},
			[]byte(e.Actor.Type), []byte(e.Actor.ID), e.Digest[:], e.Hash[:], e.Body,
		} {
			out.Write(binary.AppendUvarint(nil, uint64(len(f))))
			out.Write(f)
		}
	}
	return out.Bytes()
}
