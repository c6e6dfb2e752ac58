package seal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/perdure/perdure/internal/seal"
)

// endless gives a beginning, then one text for ever.
type endless struct {
	begin, again string
	n            int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.begin) > 0 {
		n := copy(p, e.begin)
		e.begin = e.begin[n:]
		return n, nil
	}
	n := copy(p, e.again[e.n:])
	e.n = (e.n + n) % len(e.again)
	return n, nil
}

// Goal: a header that is to cost whoever opens it time or memory is refused while it is short: recipients, lines and bodies
// without end, passphrases that are expensive to try.
func TestHeadersThatCostAreRefused(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	key := []string{id.String()}
	const intro = "age-encryption.org/v1\n"
	stanza := "-> X25519 " + strings.Repeat("A", 43) + "\n" + strings.Repeat("A", 43) + "\n"
	scrypt := func(work int) io.Reader {
		return strings.NewReader(fmt.Sprintf("%s-> scrypt %s %d\n%s\n--- %s\n%s", intro, strings.Repeat("A", 22), work, strings.Repeat("A", 43), strings.Repeat("A", 43), strings.Repeat("x", 64)))
	}
	for name, c := range map[string]struct {
		from io.Reader
		keys []string
		word string
	}{
		"a million recipients":      {from: io.LimitReader(&endless{begin: intro, again: stanza}, 100_000_000), keys: key},
		"recipients without end":    {from: &endless{begin: intro, again: stanza}, keys: key},
		"a line without end":        {from: &endless{begin: intro + "-> ", again: "x"}, keys: key},
		"arguments without end":     {from: &endless{begin: intro + "->", again: " x"}, keys: key},
		"a body without end":        {from: &endless{begin: intro + "-> X25519 x\n", again: strings.Repeat("A", 64) + "\n"}, keys: key},
		"the same for a passphrase": {from: &endless{begin: intro, again: stanza}, word: "correct horse"},
		"work of 2^30":              {from: scrypt(30), word: "correct horse"},
		"work of 2^21":              {from: scrypt(21), word: "correct horse"},
		"work of 2^63":              {from: scrypt(63), word: "correct horse"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, err := seal.Open(c.from, c.keys, c.word)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: it is opened", name)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<20 || took > time.Minute {
			t.Errorf("%s: %s and %d MiB to say %v", name, took, grown>>20, err)
		}
		if errors.Is(err, seal.ErrKey) {
			t.Errorf("%s: the key is blamed: %v", name, err)
		}
	}
}

// Whatever stands for something encrypted is opened, or refused with an error.
func FuzzOpen(f *testing.F) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	w, err := seal.To(&b, []string{id.Recipient().String()}, "")
	if err != nil {
		f.Fatal(err)
	}
	_, _ = io.WriteString(w, "the words")
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("age-encryption.org/v1\n-> X25519 x\n"))
	f.Fuzz(func(t *testing.T, from []byte) {
		r, err := seal.Open(bytes.NewReader(from), []string{id.String()}, "")
		if err != nil {
			return
		}
		if text, err := io.ReadAll(r); err == nil && !bytes.Equal(from, b.Bytes()) && string(text) == "the words" {
			t.Errorf("%q is taken for %q", from, b.Bytes())
		}
	})
}
