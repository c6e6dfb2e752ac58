package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/perdure/perdure/store"
)

// filled is a machine with one store of some packs and indexes, and its contents.
func filled(t *testing.T) (*machine, *Store, [][]byte) {
	t.Helper()
	m := newMachine(1)
	kept, _, err := work(m.process(0), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openOn(m.process(0), Config{PackSize: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	return m, s, kept
}

// Goal: a bit that turns anywhere in a pack is noticed: the content is damaged, never wrong; all others stay readable; and
// when the content comes again it is kept anew.
func TestDamageInAPackIsNoticed(t *testing.T) {
	m, _, kept := filled(t)
	noticed := 0
	for name, f := range m.names {
		if !strings.HasSuffix(name, packExt) {
			continue
		}
		for at := packHeaderLen; at < len(f.data); at += len(f.data)/40 + 1 {
			f.data[at] ^= 4
			s, err := openOn(m.process(0), Config{PackSize: 40_000})
			if err != nil {
				t.Fatal(err)
			}
			var hurt [][]byte
			for _, c := range kept {
				switch got, err := s.Get(store.Sum(c)); {
				case err == nil && !bytes.Equal(got, c):
					t.Fatalf("%s at %d: wrong bytes", name, at)
				case err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrMissing):
					t.Fatal(err)
				case err != nil:
					hurt = append(hurt, c)
				}
			}
			noticed += min(1, len(hurt))
			if len(hurt) > 5 {
				t.Errorf("%s at %d: %d contents are hurt", name, at, len(hurt))
			}
			f.data[at] ^= 4
		}
	}
	if noticed == 0 {
		t.Error("nothing was noticed")
	}
}

// Goal: a damaged content that is put again is kept again, and read from there.
func TestDamagedContentIsKeptAnew(t *testing.T) {
	m, s, kept := filled(t)
	c := kept[1]
	if err := s.refresh(); err != nil {
		t.Fatal(err)
	}
	p, e, _ := s.find(store.Sum(c))
	m.names[p.file()].data[e.end()-3] ^= 1
	if _, err := s.Get(store.Sum(c)); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if r, err := s.Verify(t.Context(), nil); err != nil || len(r.Damaged) != 1 || r.Damaged[0].Digest != store.Sum(c) {
		t.Fatalf("%+v, %v", r, err)
	}
	keep(t, s, c)
	same(t, s, store.Sum(c), c)
}

// Goal: an index file is a cache: without it, or with any of its bits turned, all contents are found; Verify counts it.
func TestDamagedIndexesDoNotMatter(t *testing.T) {
	m, _, kept := filled(t)
	tried := 0
	for name, f := range m.names {
		if !strings.HasSuffix(name, idxExt) {
			continue
		}
		sound := slices.Clone(f.data)
		for at := -1; at < len(sound); at += len(sound)/60 + 1 {
			if at < 0 {
				f.data = nil
			} else {
				f.data = slices.Clone(sound)
				f.data[at] ^= 16
			}
			s, err := openOn(m.process(0), Config{PackSize: 40_000})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range kept {
				same(t, s, store.Sum(c), c)
			}
			if at >= 0 {
				s, err = openOn(m.process(0), Config{PackSize: 40_000})
				if err != nil {
					t.Fatal(err)
				}
				if r, err := s.Verify(t.Context(), nil); err != nil || len(r.Damaged) > 0 {
					t.Errorf("%s at %d: %+v, %v", name, at, r, err)
				}
			}
			tried++
		}
		f.data = sound
	}
	if tried < 60 {
		t.Errorf("tried %d times", tried)
	}
}

// Goal: a pack of another version, or a file of that name which is no pack, is neither read nor changed nor swept.
func TestForeignPacksAreLeftAlone(t *testing.T) {
	m, s, kept := filled(t)
	alien := append([]byte("PRDPACK2"), noise(1, 5000)...)
	m.names["packs/00000000000000aa.pack"] = &inode{data: slices.Clone(alien), links: 1}
	keep(t, s, []byte("more"))
	ev := &events{roots: map[store.Digest]bool{}}
	if _, err := s.Sweep(quick, ev.ask, linksIn(s), nil); err != nil {
		t.Fatal(err)
	}
	f := m.names["packs/00000000000000aa.pack"]
	if f == nil || !bytes.Equal(f.data, alien) {
		t.Error("it was touched")
	}
	if has, err := s.Has(store.Sum(kept[0])); has || err != nil {
		t.Errorf("what is not named was not swept: %v, %v", has, err)
	}
}

// packOf is a pack of one batch with these records, whatever they say; checksums and frame are right.
func packOf(id packID, recs []record, payloads [][]byte) []byte {
	data := packHeader(id)
	f := frame{pack: id, start: packHeaderLen}
	for i, r := range recs {
		r.stored = uint32(len(payloads[i]))
		head := r.head(payloads[i])
		f.entries = append(f.entries, entry{r.digest, uint64(len(data)), r.stored, r.kind, r.crc})
		data = append(append(data, head...), payloads[i]...)
	}
	f.off = int64(len(data))
	return append(data, f.encode()...)
}

// planted is a store with that pack.
func planted(t *testing.T, recs []record, payloads [][]byte) *Store {
	t.Helper()
	m := newMachine(1)
	p := &pack{id: packID{1, 2, 3}}
	m.names[p.file()] = &inode{data: packOf(p.id, recs, payloads), links: 1}
	s, err := openOn(m.process(0), Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused reads a content in every way, in memory that does not grow with what it claims to be.
func refused(t *testing.T, s *Store, d store.Digest) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.Get(d)
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrMissing) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("get: %v", err)
	}
	r, _, err := s.Open(d)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrMissing) {
		t.Errorf("open: %v", err)
	}
	if r, err := s.Verify(t.Context(), nil); err != nil || len(r.Damaged)+len(r.Incomplete) == 0 && r.Torn == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if b, err := s.Batch(t.Context()); err != nil {
		t.Error(err)
	} else {
		b.Has(d)
		_ = b.Close()
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 200<<20 {
		t.Errorf("%d MiB were allocated", grew>>20)
	}
}

// Goal: a payload that says it holds little and would become 100 GB stops at what it said, one that says much at MaxBlob.
func TestBombsStopAtTheCap(t *testing.T) {
	var bomb bytes.Buffer // 100 GB of zeros as blocks that repeat one byte, 4 bytes for each 128 KiB: 3 MB
	bomb.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58})
	for n := 100_000_000_000 / (128 << 10); n > 0; n-- {
		head := uint32(128<<10<<3 | 1<<1)
		if n == 1 {
			head |= 1
		}
		bomb.Write([]byte{byte(head), byte(head >> 8), byte(head >> 16), 0})
	}
	if r, err := zstd.NewReader(bytes.NewReader(bomb.Bytes())); err != nil {
		t.Fatal(err)
	} else if n, err := io.CopyN(io.Discard, r, 300<<20); err != nil {
		t.Fatalf("it is no bomb: %d, %v", n, err)
	}
	d := store.Digest{9}
	for _, says := range []uint64{uint64(bomb.Len()) + 1, 4 << 20, MaxBlob} {
		refused(t, planted(t, []record{{kind: kindZstd, raw: says, digest: d}}, [][]byte{bomb.Bytes()}), d)
	}
	for _, says := range []uint64{MaxBlob + 1, 100_000_000_000, 1 << 63} {
		refused(t, planted(t, []record{{kind: kindZstd, raw: says, digest: d}}, [][]byte{bomb.Bytes()}), d)
	}
}

// Goal: lists that name themselves, lists, nothing, too much or what is not there end with an error.
func TestAbsurdLists(t *testing.T) {
	d, other, c := store.Digest{9}, store.Digest{8}, noise(1, 100)
	of := func(pages bool, parts ...part) []byte { return list{pages, parts}.encode() }
	self := of(false, part{d, 50}, part{d, 50})
	many := make([]part, pageParts)
	for i := range many {
		many[i] = part{store.Sum(c), 100}
	}
	for name, l := range map[string]struct {
		raw     uint64
		payload []byte
	}{
		"itself":                {100, self},
		"itself as a page":      {100, of(true, part{d, 100})},
		"another list":          {100, of(false, part{other, 100})},
		"no parts":              {0, of(false)},
		"an empty part":         {100, of(false, part{store.Sum(c), 0}, part{store.Sum(c), 100})},
		"too long a part":       {100, of(false, part{store.Sum(c), 1 << 60})},
		"lengths that overflow": {100, of(false, part{store.Sum(c), 1 << 63}, part{store.Sum(c), 1 << 63}, part{store.Sum(c), 100})},
		"wrong lengths":         {200, of(false, part{store.Sum(c), 200})},
		"less than it says":     {300, of(false, part{store.Sum(c), 100}, part{store.Sum(c), 100})},
		"what is missing":       {100, of(false, part{store.Digest{7}, 100})},
		"a page that is none":   {100, of(true, part{store.Sum(c), 100})},
		"the wrong whole":       {200, of(false, part{store.Sum(c), 100}, part{store.Sum(c), 100})},
		"half a part":           {100, self[:len(self)-1]},
		"no head":               {100, []byte{0}},
		"another head":          {100, append([]byte{0, 1, 0, 0, 0, 0, 0, 0}, self[8:]...)},
		"a petabyte":            {1 << 50, of(true, part{other, 1 << 49}, part{other, 1 << 49})},
		"ever the same":         {100 * pageParts, of(false, many...)},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, planted(t, []record{{kind: kindList, raw: l.raw, digest: d}, {kind: kindList, raw: 100, digest: other}, {kind: kindRaw, raw: 100, digest: store.Sum(c)}},
				[][]byte{l.payload, self, c}), d)
		})
	}
}

// Goal: whatever stands in a pack's file, reading it neither fails nor panics nor takes memory that the file has not, and
// what it gives is what its digest says.
func FuzzPack(f *testing.F) {
	id := packID{1}
	var recs []record
	var payloads [][]byte
	for i, c := range [][]byte{[]byte("abc"), noise(1, 300), nil} {
		recs, payloads = append(recs, record{kind: kindRaw, raw: uint64(len(c)), digest: store.Sum(c)}), append(payloads, c)
		f.Add(packOf(id, recs, payloads)[packHeaderLen:], uint(i))
	}
	one := packOf(id, recs, payloads)
	next := frame{pack: id, start: int64(len(one)), off: int64(len(one))}.encode()
	f.Add(append(one, next...)[packHeaderLen:], uint(30))
	f.Add([]byte{}, uint(0))
	f.Fuzz(func(t *testing.T, data []byte, turn uint) {
		if data = slices.Clone(data); len(data) > 0 {
			data[turn%uint(len(data))] ^= 1
		}
		m := newMachine(1)
		p := &pack{id: id}
		m.names[p.file()] = &inode{data: append(packHeader(id), data...), links: 1}
		s, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Verify(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, p := range s.known() {
			for d := range p.recent {
				if b, err := s.Get(d); err == nil && store.Sum(b) != d {
					t.Error("wrong bytes")
				}
			}
		}
		keep(t, s, []byte("behind it"))
		same(t, s, store.Sum([]byte("behind it")), []byte("behind it"))
	})
}

// Goal: whatever stands in an index file, contents of its pack are found.
func FuzzIdx(f *testing.F) {
	id := packID{1}
	content := []byte("a content of the pack")
	rec := record{kind: kindRaw, stored: uint32(len(content)), raw: uint64(len(content)), digest: store.Sum(content)}
	data := append(append(packHeader(id), rec.head(content)...), content...)
	e := entry{rec.digest, packHeaderLen, rec.stored, rec.kind, rec.crc}
	fr := frame{pack: id, start: packHeaderLen, off: int64(len(data)), entries: []entry{e}}
	data = append(data, fr.encode()...)
	f.Add(encodeIdx(id, fr.end(), []entry{e}))
	f.Add(encodeIdx(id, fr.end(), nil))
	f.Fuzz(func(t *testing.T, idx []byte) {
		m := newMachine(1)
		p := &pack{id: id}
		m.names[p.file()] = &inode{data: slices.Clone(data), links: 1}
		m.names[p.idxFile()] = &inode{data: idx, links: 1}
		s, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		// An index that was made on purpose may leave contents out; it cannot lead to wrong ones.
		if b, err := s.Get(rec.digest); err == nil && !bytes.Equal(b, content) {
			t.Errorf("%q", b)
		} else if err != nil && !errors.Is(err, ErrMissing) && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}

// Goal: a list that is read means what its bytes say, and is the only way to say it.
func FuzzList(f *testing.F) {
	f.Add(list{parts: []part{{store.Digest{1}, 5}, {store.Digest{2}, 6}}}.encode(), uint64(11))
	f.Add(binary.LittleEndian.AppendUint64(nil, 1), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, raw uint64) {
		l, err := parseList(b, raw)
		if err != nil {
			return
		}
		sum := uint64(0)
		for _, p := range l.parts {
			sum += p.size
		}
		if sum != raw || !bytes.Equal(l.encode(), b) {
			t.Errorf("%d of %d bytes, %v", sum, raw, l)
		}
	})
}

// Goal: whatever a record says of itself, with a checksum that is right, it gives the bytes of its digest or an error.
func FuzzRecord(f *testing.F) {
	c := prose(1, 500)
	_, z, err := squeeze(c, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(kindZstd), uint64(500), z)
	f.Add(byte(kindZstd), uint64(501), z)
	f.Add(byte(kindRaw), uint64(500), c)
	f.Add(byte(kindList), uint64(500), list{parts: []part{{store.Sum(c), 500}}}.encode())
	f.Fuzz(func(t *testing.T, k byte, raw uint64, payload []byte) {
		if len(payload) > MaxBlob {
			return
		}
		d := store.Sum(c)
		s := planted(t, []record{{kind: kind(k), raw: raw, digest: d}}, [][]byte{payload})
		if b, err := s.Get(d); err == nil && !bytes.Equal(b, c) {
			t.Errorf("%d wrong bytes", len(b))
		}
		if r, _, err := s.Open(d); err == nil {
			if b, err := io.ReadAll(r); err == nil && !bytes.Equal(b, c) {
				t.Errorf("%d wrong bytes", len(b))
			}
		}
	})
}
