package blob

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/store"
)

// Goal: opening and looking make nothing; the first batch makes the directories, for their owner alone.
func TestALookLeavesNoTrace(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "blobs")
	s := openAt(t, dir, Config{})
	if has, err := s.Has(store.Digest{1}); has || err != nil {
		t.Error(has, err)
	}
	if _, err := s.Get(store.Digest{1}); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	if _, err := s.Usage(); err != nil {
		t.Error(err)
	}
	if _, err := s.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(parent); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	keep(t, s, []byte("x"))
	for _, d := range []string{dir, filepath.Join(dir, packsDir)} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info, err)
		}
	}
}

// Goal: a batch of one pack is one sync of it; a new pack costs those of its directory besides.
func TestACommitIsOneSync(t *testing.T) {
	var synced []string
	s := fresh(t, Config{Sync: func(f *os.File) error {
		synced = append(synced, filepath.Base(f.Name()))
		return flush(f)
	}})
	keep(t, s, noise(1, 1000))
	if n := len(synced); n > 4 || !strings.HasSuffix(synced[n-1], packExt) {
		t.Errorf("the first batch: %q", synced)
	}
	synced = nil
	keep(t, s, noise(2, 1000), noise(3, 100_000), prose(4, 1000))
	if len(synced) != 1 {
		t.Errorf("a later batch: %q", synced)
	}
	synced = nil
	keep(t, s, noise(2, 1000))
	if len(synced) != 0 {
		t.Errorf("a batch of what is there: %q", synced)
	}
}

// Goal: a sync that fails fails the commit; nothing of the batch is seen, and the next batch works.
func TestFailedSync(t *testing.T) {
	broken := errors.New("the medium gave up")
	fail := false
	s := fresh(t, Config{Sync: func(f *os.File) error {
		if fail {
			return broken
		}
		return flush(f)
	}})
	first := keep(t, s, noise(1, 1000))[0]
	b := begin(t, s)
	d, err := b.Put(noise(2, 1000))
	if err != nil {
		t.Fatal(err)
	}
	fail = true
	if err := b.Commit(); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	fail = false
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if has, err := s.Has(d); has || err != nil {
		t.Error(has, err)
	}
	same(t, s, first, noise(1, 1000))
	keep(t, s, noise(2, 1000))
	same(t, s, d, noise(2, 1000))
}

// Goal: Fault is asked before each step that changes the disk, and what it forbids is not done.
func TestFaultIsAskedAtEachStep(t *testing.T) {
	var steps []string
	dir := filepath.Join(t.TempDir(), "blobs")
	s := openAt(t, dir, Config{PackSize: 2000, Fault: func(step string) error {
		steps = append(steps, strings.Fields(step)[0])
		return nil
	}})
	keep(t, s, noise(1, 3000))
	all := strings.Join(steps, " ")
	for _, want := range []string{"create", "write", "sync", "rename"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not among %s", want, all)
		}
	}
	stop := errors.New("stop")
	s = openAt(t, dir, Config{Fault: func(string) error { return stop }})
	b := begin(t, s)
	if _, err := b.Put(noise(2, 3000)); err == nil {
		if err := b.Commit(); !errors.Is(err, stop) {
			t.Error(err)
		}
	} else if !errors.Is(err, stop) {
		t.Error(err)
	}
	_ = b.Close()
}

// Goal: a batch that would pass the quota fails with ErrQuota and leaves nothing; smaller ones go on until it is reached.
func TestQuota(t *testing.T) {
	const quota = 100_000
	dir := filepath.Join(t.TempDir(), "blobs")
	s := openAt(t, dir, Config{Quota: quota, PackSize: 30_000})
	used := func() int64 {
		u, err := s.Usage()
		if err != nil {
			t.Fatal(err)
		}
		return u.Bytes
	}
	keep(t, s, noise(1, 50_000))
	before := used()
	b := begin(t, s)
	var err error
	for i := range uint64(40) {
		if _, err = b.Put(noise(10+i, 20_000)); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrQuota) {
		t.Fatal(err)
	}
	if err := b.Commit(); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	if err := b.Close(); err != nil || used() != before {
		t.Errorf("%d bytes became %d, %v", before, used(), err)
	}
	// Two batches at once do not pass it together.
	other := openAt(t, dir, Config{Quota: quota, PackSize: 30_000})
	one, two := begin(t, s), begin(t, other)
	_, err = one.Put(noise(3, 30_000))
	_, err2 := two.Put(noise(4, 30_000))
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	err, err2 = one.Commit(), two.Commit()
	if !errors.Is(errors.Join(err, err2), ErrQuota) {
		t.Error(err, err2)
	}
	if err := errors.Join(one.Close(), two.Close()); err != nil || used() > quota {
		t.Errorf("%d bytes, %v", used(), err)
	}
	keep(t, s, noise(5, 10_000))
	if used() > quota || used() <= before {
		t.Errorf("%d bytes", used())
	}
}

// Goal: no link leads out of the directory: a pack, or packs itself, that is one is not followed.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	blobs := filepath.Join(dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(blobs, packsDir)); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, blobs, Config{})
	if b, err := s.Batch(t.Context()); err == nil {
		_, err = b.Put(noise(1, 1000))
		if err = errors.Join(err, b.Commit()); err == nil {
			t.Error("it was written through a link")
		}
		_ = b.Close()
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	if err := os.Remove(filepath.Join(blobs, packsDir)); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, blobs, Config{})
	keep(t, s, noise(1, 1000))
	// A pack that is a link to a file outside.
	victim := filepath.Join(outside, "file")
	if err := os.WriteFile(victim, packHeader(packID{7}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(blobs, packsDir, packID{7}.String()+packExt)); err != nil {
		t.Fatal(err)
	}
	b, err := openAt(t, blobs, Config{}).Batch(t.Context())
	if err == nil {
		_, err = b.Put(noise(2, 1000))
		err = errors.Join(err, b.Commit(), b.Close())
	}
	if err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != string(packHeader(packID{7})) {
		t.Errorf("%q, %v", got, err)
	}
}

// Goal: a store of a thousand packs is opened, asked and written to in a moment.
func TestAThousandPacks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	s := openAt(t, dir, Config{PackSize: 1})
	var ds []store.Digest
	b := begin(t, s)
	for i := range uint64(1000) {
		d, err := b.Put(noise(i, 100))
		if err != nil {
			t.Fatal(err)
		}
		ds = append(ds, d)
	}
	if err := errors.Join(b.Commit(), b.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s = openAt(t, dir, Config{PackSize: 1})
	for i := range uint64(50) {
		same(t, s, ds[i*20], noise(i*20, 100))
	}
	took := time.Since(start)
	if u, err := s.Usage(); err != nil || u.Packs != 1000 || u.Records != 1000 {
		t.Errorf("%+v, %v", u, err)
	}
	t.Logf("opened, and 50 read, in %v", took)
	if took > 20*time.Second {
		t.Error("that is long")
	}
}

// A batch keeps nothing beyond its bound, and what the store has already costs nothing of it.
func TestABatchStopsAtItsBound(t *testing.T) {
	s, err := Open(t.TempDir(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	put := func(most int64, contents ...string) error {
		t.Helper()
		b, err := s.Batch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		b.Bound(most)
		for _, c := range contents {
			if _, err := b.Put([]byte(c)); err != nil {
				return err
			}
		}
		return b.Commit()
	}
	if err := put(1000, "one", "two"); err != nil {
		t.Fatal(err)
	}
	if err := put(400, "three", "four", "five", "six", "seven"); !errors.Is(err, ErrBound) {
		t.Errorf("over the bound: %v", err)
	}
	if there, err := s.Has(store.Sum([]byte("three"))); err != nil || there {
		t.Errorf("something of it is there: %v, %v", there, err)
	}
	if err := put(0, "one", "two"); err != nil {
		t.Errorf("what is there: %v", err)
	}
}
