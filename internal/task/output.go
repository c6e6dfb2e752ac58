//go:build linux || darwin

package task

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	defaultKeep  = 64 << 20
	maxSegment   = 8 << 20
	minSegment   = 4 << 10
	keepSegments = 8 // a bound below 64 MiB is cut into this many segments
	smallStep    = 32 << 10
	largeStep    = 256 << 10
	busyPipe     = 256 << 10
	floodPipe    = 1 << 20
	floodAfter   = 8 // full steps in a row
	segmentMode  = 0o600
	segmentFlags = os.O_WRONLY | os.O_CREATE | unix.O_NOFOLLOW | unix.O_NONBLOCK
)

// output moves what a command prints from its FIFO into segments. The first segment and the last ones are kept. It
// never stops reading: what the disk refuses is dropped, and the next segment's name shows the gap.
//
// A byte is at any moment either in the FIFO or in a segment, never in this process, so that its death loses none: the
// size of the newest segment says where a successor goes on.
type output struct {
	dir   actDir
	fifo  *os.File // of fd, which does not block and is open for writing too, so that end of file never comes
	fd    int
	come  *arrival
	child *os.File // the command's stdout and stderr, a description of its own that blocks; nil for a successor

	mu      sync.Mutex // guards what follows, and keeps a move and its count together
	off     int64      // bytes taken from the FIFO so far
	seg     *os.File   // nil before the first byte and after an error
	segSize int64
	bases   []int64 // of the segments that exist
	limit   int64   // of one segment
	keep    int     // segments
	most    int     // bytes to move in one step
	full    int     // consecutive steps that moved that much
	allow   allowance
	buf     []byte // for what is dropped; nil until then
	lastErr error
}

// openOutput opens the FIFO for the shim and for the command.
func openOutput(d actDir, plan execPlan) (*output, error) {
	path := d.path(fifoName)
	if err := unix.Mkfifo(path, fifoMode); err != nil && err != unix.EEXIST { // Prepare made it, unless it was an older one
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	o, err := newOutput(d, plan)
	if err != nil {
		return nil, err
	}
	markPipe(o.fd)
	child, err := unix.Open(path, fifoOpenFlags, 0)
	if err != nil {
		o.fifo.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	o.child = os.NewFile(uintptr(child), path)
	return o, nil
}

func newOutput(d actDir, plan execPlan) (*output, error) {
	o := &output{dir: d, most: smallStep}
	o.limit, o.keep = segmentPlan(plan.KeepBytes)
	o.allow = allowance{quota: plan.QuotaBytes, floor: plan.FloorBytes, now: systemNow, left: freeBytes}
	path := d.path(fifoName)
	fd, err := openRetry(path, fifoOpenFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	o.fd, o.fifo = fd, os.NewFile(uintptr(fd), path)
	if err := unix.SetNonblock(fd, true); err != nil { // only now, so that the runtime does not poll it
		o.fifo.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if o.come, err = newArrival(path); err != nil {
		o.fifo.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return o, nil
}

// reopenOutput goes on where a dead shim was interrupted.
func reopenOutput(d actDir, plan execPlan) (*output, error) {
	segs, err := d.segments()
	if err != nil {
		return nil, err
	}
	if err := unix.Mkfifo(d.path(fifoName), fifoMode); err != nil && err != unix.EEXIST {
		return nil, err
	}
	o, err := newOutput(d, plan)
	if err != nil {
		return nil, err
	}
	for _, s := range segs {
		o.bases, o.off, o.segSize = append(o.bases, s.base), s.end, s.end-s.base
	}
	dropped := d.droppedTo()
	if newPipe(o.fd) {
		d.noteUnread(max(o.off, dropped))
	}
	markPipe(o.fd)
	if dropped > o.off {
		o.off = dropped
	} else if n := len(segs); n > 0 && o.segSize < o.limit {
		if o.seg, err = d.segmentFile(o.bases[n-1]); err != nil {
			o.fifo.Close()
			return nil, err
		}
	}
	return o, nil
}

// segmentPlan cuts the bound on kept output into segments: at least two of at least 4 KiB.
func segmentPlan(keepBytes int64) (size int64, count int) {
	if keepBytes <= 0 {
		keepBytes = defaultKeep
	}
	size = min(max(keepBytes/keepSegments, minSegment), maxSegment)
	return size, int(max(keepBytes/size, 2))
}

// pump moves until the process ends. It is the only goroutine that waits for the FIFO.
func (o *output) pump() {
	var p pace
	for o.come.wait() == nil {
		woken, moved := systemNow(), 0
		time.Sleep(p.pause()) //nolint:forbidigo // the FIFO fills meanwhile, and nobody waits for this
		for {
			n, err := o.step()
			if moved += n; n > 0 {
				continue
			}
			if err != unix.EAGAIN {
				return
			}
			break
		}
		if p.emptying(woken, systemNow(), moved) {
			growPipe(o.fd, busyPipe)
		}
	}
}

// drain moves what the FIFO holds now and does not wait for more: somebody may keep writing for ever.
func (o *output) drain() {
	for left := pending(o.fd); left > 0; {
		n, _ := o.step()
		if n <= 0 {
			return
		}
		left -= n
	}
}

// step moves up to o.most bytes. A byte counts whether it is kept or not.
func (o *output) step() (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seg != nil && o.segSize >= o.limit {
		o.closeSegment()
		o.segSize = 0
	}
	if o.seg == nil && pending(o.fd) == 0 { // a segment is made for bytes only
		return 0, unix.EAGAIN
	}
	most, err := o.allow.take(min(o.limit-o.segSize, int64(o.most)))
	if o.seg == nil && err == nil {
		most, err = min(most, o.limit), o.openSegment()
	}
	if err != nil {
		if o.seg != nil {
			o.abandonSegment()
		}
		return o.drop(err)
	}
	n, lost, err := moveBytes(o.fd, o.seg, o.segSize, int(most))
	o.allow.left -= int64(n)
	o.segSize += int64(n)
	o.off += int64(n)
	switch {
	case n == 0 && err == unix.EAGAIN:
		return 0, err
	case lost > 0:
		o.abandonSegment()
		o.dropped(lost, err)
	case n == 0:
		o.abandonSegment()
		return o.drop(err)
	}
	o.grow(n)
	return n + lost, nil
}

// grow gives a flood a larger pipe and larger steps; a quiet command, which is most, costs little memory.
func (o *output) grow(n int) {
	if n < o.most || o.most == largeStep {
		o.full = 0
		return
	}
	if o.full++; o.full >= floodAfter {
		growPipe(o.fd, floodPipe)
		o.most = largeStep
	}
}

// drop takes bytes off the FIFO that cannot be kept. The segment is closed by now, so the next one's base names the
// gap; until there is one, a note does.
func (o *output) drop(cause error) (int, error) {
	if o.buf == nil {
		o.buf = make([]byte, smallStep)
	}
	n, err := readRetry(o.fd, o.buf)
	if n <= 0 {
		return n, err
	}
	o.dropped(n, cause)
	return n, nil
}

func (o *output) dropped(n int, cause error) {
	if o.lastErr == nil {
		complain("output at offset %d dropped: %v", o.off, cause)
	}
	o.lastErr = cause
	o.off += int64(n)
	o.dir.noteDropped(o.off)
}

func (o *output) openSegment() error {
	if n := len(o.bases); n >= o.keep {
		// The first segment has how it began, the last ones have how it ends: the second-oldest goes, which also makes
		// room on a full disk.
		if err := os.Remove(o.dir.path(segmentName(o.bases[1]))); err != nil && !missing(err) {
			return err
		}
		o.bases = append(o.bases[:1], o.bases[2:]...)
	}
	f, err := o.dir.segmentFile(o.off)
	if err != nil {
		return err
	}
	o.seg, o.segSize = f, 0
	if n := len(o.bases); n == 0 || o.bases[n-1] != o.off {
		o.bases = append(o.bases, o.off)
	}
	return nil
}

// segmentFile opens a segment to write to it, and makes it. The command may have put something else in its place: a pipe
// makes nobody wait.
func (d actDir) segmentFile(base int64) (*os.File, error) {
	f, err := os.OpenFile(d.path(segmentName(base)), segmentFlags, segmentMode)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s: %w: no file", f.Name(), errDamaged)
	}
	return f, nil
}

// abandonSegment closes a segment that takes no more. One that took nothing goes away, so that a disk that stays full
// does not rotate out what is kept.
func (o *output) abandonSegment() {
	o.closeSegment()
	if n := len(o.bases); o.segSize == 0 && n > 0 {
		os.Remove(o.dir.path(segmentName(o.bases[n-1])))
		o.bases = o.bases[:n-1]
	}
}

func (o *output) closeSegment() {
	o.seg.Close()
	o.seg = nil
}

// end returns the absolute offset after the last byte taken.
func (o *output) end() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.off
}
