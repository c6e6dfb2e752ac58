package blob

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
)

var errKilled = errors.New("the process was killed")

// machine is a disk that several processes use. It knows what is durable, so that power can fail.
type machine struct {
	mu     sync.Mutex
	rng    *rand.Rand
	names  map[string]*inode // as processes see them
	synced map[string]*inode // as a power failure would leave them
	shared map[string]int
	alone  map[string]bool
	room   int64 // bytes that may still be written; negative: any number
	most   int64 // the most bytes that all files had together
	syncs  int
	lazy   bool // syncs do nothing: for the negative control
}

type inode struct {
	data    []byte
	durable []byte
	links   int
	owner   *simFile
}

func newMachine(seed uint64) *machine {
	return &machine{rng: rand.New(rand.NewPCG(seed, 1)), names: map[string]*inode{}, synced: map[string]*inode{}, shared: map[string]int{}, alone: map[string]bool{}, room: -1}
}

// used is how many bytes all files have.
func (m *machine) used() (n int64) {
	for _, f := range m.names {
		n += int64(len(f.data))
	}
	return n
}

// powerLoss leaves what was synced, and of the rest a random part. All processes are gone.
func (m *machine) powerLoss() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, f := range m.names {
		if m.synced[name] != f && m.rng.IntN(2) == 0 {
			m.synced[name] = f
		}
	}
	for name := range m.synced {
		if m.names[name] == nil && m.rng.IntN(2) == 0 {
			delete(m.synced, name)
		}
	}
	m.names = map[string]*inode{}
	for name, f := range m.synced {
		m.tear(f)
		f.owner, f.links = nil, 1
		m.names[name] = f
	}
	m.shared, m.alone = map[string]int{}, map[string]bool{}
}

// tear mixes sectors, or pages, of what was synced and what was not.
func (m *machine) tear(f *inode) {
	size := len(f.data)
	if size != len(f.durable) {
		low, high := min(size, len(f.durable)), max(size, len(f.durable))
		size = []int{low, high, low + m.rng.IntN(high-low+1)}[m.rng.IntN(3)]
	}
	sector := []int{512, 4096}[m.rng.IntN(2)]
	out := make([]byte, size)
	for at := 0; at < size; at += sector {
		from := f.durable
		if m.rng.IntN(2) == 0 {
			from = f.data
		}
		if at < len(from) {
			copy(out[at:min(at+sector, size)], from[at:])
		}
	}
	f.data, f.durable = out, slices.Clone(out)
}

// process is one process's view of the machine; it can be killed at a step.
type process struct {
	m        *machine
	steps    int
	kill     int // the step at which it dies, from 1; 0: never
	dead     bool
	unsynced bool // it dies in the moment before its first sync of a file
	open_    []*simFile
	locks    []*simLock
}

func (m *machine) process(kill int) *process { return &process{m: m, kill: kill} }

// step counts what changes the disk. At the one at which the process dies, done says how much of it still happens.
func (p *process) step() (alive bool, part float64) {
	if p.dead {
		return false, 0
	}
	p.steps++
	if p.kill == 0 || p.steps < p.kill {
		return true, 1
	}
	p.die()
	return false, p.m.rng.Float64()
}

func (p *process) die() {
	p.dead = true
	for _, f := range p.open_ {
		if f.i.owner == f {
			f.i.owner = nil
		}
	}
	for _, l := range p.locks {
		l.free()
	}
}

func (p *process) list() ([]string, error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	var names []string
	for name := range p.m.names {
		names = append(names, strings.TrimPrefix(name, packsDir+"/"))
	}
	return names, p.alive()
}

func (p *process) alive() error {
	if p.dead {
		return errKilled
	}
	return nil
}

func (p *process) size(name string) (int64, error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if f := p.m.names[name]; f != nil {
		return int64(len(f.data)), p.alive()
	}
	return 0, errors.Join(p.alive(), fs.ErrNotExist)
}

func (p *process) open(name string, _ bool) (file, error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if p.dead {
		return nil, errKilled
	}
	i := p.m.names[name]
	if i == nil {
		return nil, fs.ErrNotExist
	}
	f := &simFile{p: p, i: i}
	p.open_ = append(p.open_, f)
	return f, nil
}

func (p *process) create(name string) (file, error) {
	p.m.mu.Lock()
	alive, part := p.step()
	if p.m.names[name] != nil {
		p.m.mu.Unlock()
		return nil, fs.ErrExist
	}
	if alive || part > 0.5 {
		p.m.names[name] = &inode{links: 1}
	}
	p.m.mu.Unlock()
	if !alive {
		return nil, errKilled
	}
	return p.open(name, true)
}

func (p *process) rename(from, to string) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	alive, part := p.step()
	if f := p.m.names[from]; f == nil {
		return fs.ErrNotExist
	} else if alive || part > 0.5 {
		if old := p.m.names[to]; old != nil {
			old.links--
		}
		p.m.names[to] = f
		delete(p.m.names, from)
	}
	if !alive {
		return errKilled
	}
	return nil
}

func (p *process) remove(name string) error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	alive, part := p.step()
	if f := p.m.names[name]; f == nil {
		return fs.ErrNotExist
	} else if alive || part > 0.5 {
		f.links--
		delete(p.m.names, name)
	}
	if !alive {
		return errKilled
	}
	return nil
}

func (p *process) syncDir() error {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	alive, part := p.step()
	if (alive || part > 0.5) && !p.m.lazy {
		p.m.synced = map[string]*inode{}
		for name, f := range p.m.names {
			p.m.synced[name] = f
		}
	}
	p.m.syncs++
	if !alive {
		return errKilled
	}
	return nil
}

func (p *process) close() error { return nil }

func (p *process) lock(name string, exclusive bool) (io.Closer, error) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if p.dead {
		return nil, errKilled
	}
	if p.m.alone[name] || exclusive && p.m.shared[name] > 0 {
		return nil, nil
	}
	if exclusive {
		p.m.alone[name] = true
	} else {
		p.m.shared[name]++
	}
	l := &simLock{m: p.m, name: name, exclusive: exclusive}
	p.locks = append(p.locks, l)
	return l, nil
}

type simLock struct {
	m         *machine
	name      string
	exclusive bool
	given     bool
}

func (l *simLock) free() {
	if l.given {
		return
	}
	l.given = true
	if l.exclusive {
		l.m.alone[l.name] = false
	} else {
		l.m.shared[l.name]--
	}
}

func (l *simLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.free()
	return nil
}

type simFile struct {
	p *process
	i *inode
}

func (f *simFile) ReadAt(b []byte, off int64) (int, error) {
	f.p.m.mu.Lock()
	defer f.p.m.mu.Unlock()
	if f.p.dead {
		return 0, errKilled
	}
	if off >= int64(len(f.i.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.i.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *simFile) WriteAt(b []byte, off int64) (int, error) {
	m := f.p.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.p.dead {
		return 0, errKilled
	}
	alive, part := f.p.step()
	n := int(float64(len(b)) * part)
	if grow := off + int64(n) - int64(len(f.i.data)); m.room >= 0 && grow > m.room {
		n = max(0, n-int(grow-m.room))
	}
	if end := off + int64(n); end > int64(len(f.i.data)) {
		if m.room >= 0 {
			m.room -= end - int64(len(f.i.data))
		}
		f.i.data = append(f.i.data, make([]byte, end-int64(len(f.i.data)))...)
	}
	copy(f.i.data[off:], b[:n])
	m.most = max(m.most, m.used())
	if !alive {
		return n, errKilled
	}
	if n < len(b) {
		return n, &fs.PathError{Op: "write", Path: "pack", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (f *simFile) size() (int64, error) {
	f.p.m.mu.Lock()
	defer f.p.m.mu.Unlock()
	return int64(len(f.i.data)), f.p.alive()
}

func (f *simFile) truncate(size int64) error {
	m := f.p.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.p.dead {
		return errKilled
	}
	alive, part := f.p.step()
	if (alive || part > 0.5) && size < int64(len(f.i.data)) {
		if m.room >= 0 {
			m.room += int64(len(f.i.data)) - size
		}
		f.i.data = f.i.data[:size:size]
	}
	if !alive {
		return errKilled
	}
	return nil
}

func (f *simFile) sync() error {
	f.p.m.mu.Lock()
	defer f.p.m.mu.Unlock()
	if f.p.dead {
		return errKilled
	}
	if f.p.unsynced {
		f.p.die()
		return errKilled
	}
	alive, part := f.p.step()
	if (alive || part > 0.5) && !f.p.m.lazy {
		f.i.durable = slices.Clone(f.i.data)
	}
	f.p.m.syncs++
	if !alive {
		return errKilled
	}
	return nil
}

func (f *simFile) own() (bool, error) {
	f.p.m.mu.Lock()
	defer f.p.m.mu.Unlock()
	if f.p.dead {
		return false, errKilled
	}
	if f.i.owner != nil && f.i.owner != f || f.i.links == 0 {
		return false, nil
	}
	f.i.owner = f
	return true, nil
}

func (f *simFile) Close() error {
	f.p.m.mu.Lock()
	defer f.p.m.mu.Unlock()
	if f.i.owner == f {
		f.i.owner = nil
	}
	return nil
}
