package tree

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"pgregory.net/rapid"
)

// What was encoded is read back whole and sorted, and one set has one encoding whatever its order.
func TestAnObjectIsItsEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c\n -]{1,3}`), 0, 8, rapid.ID[string]).Draw(t, "names")
		entries := make([]Entry, 0, len(names))
		for _, name := range names {
			e := anyEntry(t)
			e.Name = name + rapid.SampledFrom([]string{"", "\xff", "…"}).Draw(t, "more")
			e.Flags |= Flags(rapid.IntRange(0, 1).Draw(t, "private"))
			if e.Kind != Dir {
				e.MTime = rapid.Int64().Draw(t, "time")
			} else {
				e.Digest = store.Sum([]byte("dir"))
			}
			entries = append(entries, e)
		}
		before := slices.Clone(entries)
		b, err := Encode(entries)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, entries) {
			t.Fatal("the caller's entries were moved")
		}
		slices.Reverse(entries)
		if again, err := Encode(entries); err != nil || !bytes.Equal(b, again) {
			t.Fatalf("another order, another encoding: %v", err)
		}
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(before, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		if len(got) != len(before) || len(got) > 0 && !reflect.DeepEqual(got, before) {
			t.Fatalf("read back\n%v\nwant\n%v", got, before)
		}
	})
}

// Whatever bytes Decode takes, Encode writes: no set of files has two digests.
func FuzzDecode(f *testing.F) {
	for _, entries := range [][]Entry{nil, {{Name: "a", Kind: Dir, Mode: 0o755, Digest: store.Sum(nil)}}, samples()} {
		b, err := Encode(entries)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("an error that callers do not know: %v", err)
			}
			return
		}
		again, err := Encode(entries)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x was taken and encodes to %x, %v", b, again, err)
		}
	})
}

func samples() []Entry {
	return []Entry{
		{Name: "dir", Kind: Dir, Mode: 0o2755, Digest: store.Sum(nil)},
		{Name: "file", Kind: File, Flags: Private | Torn, Mode: 0o4755, Size: 300, MTime: -1, Digest: store.Sum([]byte("x"))},
		{Name: "huge", Kind: File, Flags: Skipped, Mode: 0o644, Size: math.MaxInt64, MTime: math.MinInt64},
		{Name: "link", Kind: Link, Mode: 0o777, Size: 3, Target: "../"},
		{Name: "node_modules", Kind: Dir, Flags: Skipped, Mode: 0o755, Size: 1 << 30},
		{Name: "pipe\n\xfe", Kind: Other, Mode: 0o600, MTime: 5},
	}
}

// An object of today is one of every later version: its bytes are frozen.
func TestTheFormIsFrozen(t *testing.T) {
	b, err := Encode(samples())
	if err != nil {
		t.Fatal(err)
	}
	const want = "8e567b888e02a10813af2a887c7c40aaf375e0bbf3ff9d663f10ba74c414c5f4"
	if got := store.Sum(b).String(); got != want {
		t.Errorf("the encoding changed: %s, it was %s; a new form needs a new version byte\n%x", got, want, b)
	}
}

// What no capture writes is refused on the way in and on the way out.
func TestInvalidEntriesAreRefused(t *testing.T) {
	ok := file("x")
	ok.Name = "ok"
	bad := map[string]func(*Entry){
		"empty name": func(e *Entry) { e.Name = "" }, "dot": func(e *Entry) { e.Name = "." },
		"parent": func(e *Entry) { e.Name = ".." }, "slash": func(e *Entry) { e.Name = "a/b" },
		"zero byte": func(e *Entry) { e.Name = "a\x00b" }, "long": func(e *Entry) { e.Name = strings.Repeat("n", MaxName+1) },
		"kind": func(e *Entry) { e.Kind = 5 }, "no kind": func(e *Entry) { e.Kind = 0 },
		"flag": func(e *Entry) { e.Flags = 8 }, "mode": func(e *Entry) { e.Mode = MaxMode + 1 },
		"size": func(e *Entry) { e.Size = -1 }, "no digest": func(e *Entry) { e.Digest = store.Digest{} },
		"target of a file": func(e *Entry) { e.Target = "x" }, "link to nothing": func(e *Entry) { *e = Entry{Name: "l", Kind: Link} },
		"link with zero":            func(e *Entry) { *e = Entry{Name: "l", Kind: Link, Target: "a\x00"} },
		"special file with content": func(e *Entry) { e.Kind = Other }, "time of a directory": func(e *Entry) { e.Kind, e.Size = Dir, 0 },
		"size of a directory": func(e *Entry) { e.Kind, e.MTime = Dir, 0 }, "skipped with content": func(e *Entry) { e.Flags = Skipped },
		"torn link":         func(e *Entry) { *e = Entry{Name: "l", Kind: Link, Target: "x", Flags: Torn} },
		"skipped link":      func(e *Entry) { *e = Entry{Name: "l", Kind: Link, Target: "x", Flags: Skipped} },
		"skipped, yet torn": func(e *Entry) { e.Flags, e.Digest = Skipped|Torn, store.Digest{} },
	}
	for name, spoil := range bad {
		e := ok
		spoil(&e)
		if _, err := Encode([]Entry{e}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: encoded, %v", name, err)
		}
		if e.Size < 0 { // has no encoding
			continue
		}
		// What the form has no room for comes back as something valid, or not at all.
		if got, err := Decode(e.append([]byte{version, 1})); !errors.Is(err, ErrInvalid) && (err != nil || got[0] == e) {
			t.Errorf("%s: decoded, %v", name, err)
		}
	}
	if _, err := Encode([]Entry{ok, ok}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a name twice: %v", err)
	}
	if _, err := Encode(make([]Entry, MaxEntries+1)); !errors.Is(err, ErrInvalid) {
		t.Errorf("too many: %v", err)
	}
}

// A byte less, a byte more, another order, a longer spelling of a number: refused, and a claim costs no memory.
func TestSpoiltObjectsAreRefused(t *testing.T) {
	b, err := Encode(samples())
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := Decode(b[:n]); !errors.Is(err, ErrInvalid) {
			t.Fatalf("%d of %d bytes were taken: %v", n, len(b), err)
		}
	}
	one, two := samples()[0], samples()[1]
	for name, bad := range map[string][]byte{
		"longer":       append(slices.Clone(b), 0),
		"version":      append([]byte{version + 1}, b[1:]...),
		"order":        one.append(two.append([]byte{version, 2})),
		"same name":    one.append(one.append([]byte{version, 2})),
		"long number":  {version, 0x80, 0x00},
		"large number": {version, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"empty claim":  {version, 0xc0, 0x84, 0x3d}, // 1,000,000 entries
	} {
		if _, err := Decode(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: taken, %v", name, err)
		}
	}
	claim := []byte{version, 0xc0, 0x84, 0x3d}
	if got := testing.AllocsPerRun(10, func() { _, _ = Decode(claim) }); got > 10 {
		t.Errorf("%v allocations for an object of 4 bytes", got)
	}
}
