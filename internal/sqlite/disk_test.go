package sqlite

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
)

// disk is a simulated disk. What is written can be read at once, as through a page cache, and is durable only after a
// sync of its file. A power loss keeps of the unsynced writes what a throw of dice says, torn at sectors. Names of
// files are durable at once.
type disk struct {
	mu    sync.Mutex
	files map[string]*diskFile

	syncs   int
	writes  int
	crashAt int // the sync during which the power goes; 0 is never
	lost    bool
	onSync  func(n int) error // fails the n-th sync
	onWrite func(file string, n int) error
}

type diskFile struct {
	name    string
	now     []byte   // what a read sees
	durable []byte   // what a sync has promised
	pending []change // unsynced, in order
	syncs   int
	faults  int // syncs that failed
}

// change is a write, or a truncation to at if data is nil.
type change struct {
	at   int64
	data []byte
}

var (
	errPower = errors.New("the power is gone")
	errIO    = errors.New("input/output error")
)

const sector = 512

func newDisk() *disk { return &disk{files: map[string]*diskFile{}} }

func (f *diskFile) apply(to []byte, c change) []byte {
	if c.data == nil {
		if int64(len(to)) > c.at {
			return to[:c.at]
		}
		return append(to, make([]byte, c.at-int64(len(to)))...)
	}
	if end := c.at + int64(len(c.data)); end > int64(len(to)) {
		to = append(to, make([]byte, end-int64(len(to)))...)
	}
	copy(to[c.at:], c.data)
	return to
}

func (d *disk) change(f *diskFile, c change) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return errPower
	}
	d.writes++
	if d.onWrite != nil {
		if err := d.onWrite(f.name, d.writes); err != nil {
			return err
		}
	}
	f.now = f.apply(f.now, c)
	f.pending = append(f.pending, c)
	return nil
}

// sync makes a file durable. What a failed sync was to write is never tried again, and every descriptor that was open
// then is told once, which seen remembers for it: so does Linux.
func (d *disk) sync(f *diskFile, seen *int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return errPower
	}
	d.syncs++
	if *seen < f.faults {
		*seen = f.faults
		return errIO
	}
	if d.syncs == d.crashAt {
		d.lost = true
		return errPower
	}
	if d.onSync != nil {
		if err := d.onSync(d.syncs); err != nil {
			f.pending = nil
			f.faults++
			*seen = f.faults
			return err
		}
	}
	for _, c := range f.pending {
		f.durable = f.apply(f.durable, c)
	}
	f.pending = nil
	f.syncs++
	return nil
}

// counts gives how many syncs the disk has seen, and how many of them were of one file.
func (d *disk) counts(name string) (all, of int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs, d.files[name].syncs
}

func (d *disk) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

func (d *disk) read(f *diskFile, b []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return 0, errPower
	}
	if off >= int64(len(f.now)) {
		return 0, io.EOF
	}
	n := copy(b, f.now[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// fate decides what a power loss does to one unsynced sector or truncation.
type fate func() bool

func loseAll() bool { return false }
func keepAll() bool { return true }

func dice(seed int) fate {
	rng := rand.New(rand.NewPCG(uint64(seed), 7))
	odds := rng.Float64()
	return func() bool { return rng.Float64() < odds }
}

// powerLoss gives the disk as the next boot finds it.
func (d *disk) powerLoss(keep fate) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lost = true
	next := newDisk()
	for _, name := range sortedNames(d.files) {
		f := d.files[name]
		image := slices.Clone(f.durable)
		for _, c := range f.pending {
			if c.data == nil {
				if keep() {
					image = f.apply(image, c)
				}
				continue
			}
			for i := 0; i < len(c.data); i += sector {
				if keep() {
					image = f.apply(image, change{at: c.at + int64(i), data: c.data[i:min(i+sector, len(c.data))]})
				}
			}
		}
		next.files[name] = &diskFile{name: name, now: image, durable: slices.Clone(image)}
	}
	return next
}

func sortedNames(files map[string]*diskFile) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
