package task

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	defaultKeep   = 64 << 20
	maxSegment    = 8 << 20
	minSegment    = 4 << 10
	keepSegments  = 8 // a bound below 64 MiB is cut into this many segments
	smallBuffer   = 32 << 10
	largeBuffer   = 256 << 10
	busyPipe      = 1 << 20
	busyAfter     = 8 // full reads until a command counts as chatty
	fifoMode      = 0o600
	segmentMode   = 0o600
	segmentFlags  = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	fifoOpenFlags = unix.O_RDWR | unix.O_CLOEXEC
)

// output copies a command's FIFO into segments. The first segment and the last ones are kept. It never stops reading:
// what the disk refuses is dropped, and the next segment's name shows the gap.
type output struct {
	dir   actDir
	fifo  *os.File // non-blocking, open for writing too, so that end of file never comes
	fd    int
	child *os.File // the command's stdout and stderr, a description of its own that blocks

	mu      sync.Mutex // guards what follows, and keeps a read and its write together
	off     int64      // bytes read from the FIFO so far
	seg     *os.File   // nil before the first byte and after an error
	segSize int64
	bases   []int64 // of the segments that exist
	limit   int64   // of one segment
	keep    int     // segments
	buf     []byte
	full    int // consecutive reads that filled the buffer
	dropped int64
	lastErr error
}

// openOutput creates the FIFO and opens both ends.
func openOutput(d actDir, keepBytes int64) (*output, error) {
	o := &output{dir: d, buf: make([]byte, smallBuffer)}
	o.limit, o.keep = segmentPlan(keepBytes)
	path := d.path(fifoName)
	if err := unix.Mkfifo(path, fifoMode); err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	fd, err := unix.Open(path, fifoOpenFlags|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	o.fd, o.fifo = fd, os.NewFile(uintptr(fd), path)
	child, err := unix.Open(path, fifoOpenFlags, 0)
	if err != nil {
		o.fifo.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	o.child = os.NewFile(uintptr(child), path)
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

// pump copies until the process ends. It is the only goroutine that waits for the FIFO.
func (o *output) pump() {
	c, err := o.fifo.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Read(func(uintptr) bool {
		for {
			if n, err := o.step(); n <= 0 {
				return err != unix.EAGAIN
			}
		}
	})
}

// drain copies what the FIFO holds now and does not wait for more: somebody may keep writing for ever.
func (o *output) drain() {
	for left := pending(o.fd); left > 0; {
		n, _ := o.step()
		if n <= 0 {
			return
		}
		left -= n
	}
}

// step copies one buffer.
func (o *output) step() (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := unix.Read(o.fd, o.buf)
	for err == unix.EINTR {
		n, err = unix.Read(o.fd, o.buf)
	}
	if n <= 0 {
		return n, err
	}
	o.write(o.buf[:n])
	o.grow(n)
	return n, nil
}

// grow gives a chatty command a larger pipe and a larger buffer; a quiet one, which is most, costs little memory.
func (o *output) grow(n int) {
	if n < len(o.buf) || len(o.buf) == largeBuffer {
		o.full = 0
		return
	}
	if o.full++; o.full >= busyAfter {
		growPipe(o.fd, busyPipe)
		o.buf = make([]byte, largeBuffer)
	}
}

// write appends b to the segments. A byte counts whether it is kept or not.
func (o *output) write(b []byte) {
	for len(b) > 0 {
		if o.seg != nil && o.segSize >= o.limit {
			o.closeSegment()
		}
		if o.seg == nil {
			if err := o.openSegment(); err != nil {
				o.drop(b, err)
				return
			}
		}
		n, err := o.seg.Write(b[:min(o.limit-o.segSize, int64(len(b)))])
		n = max(n, 0)
		o.segSize += int64(n)
		o.off += int64(n)
		b = b[n:]
		if err != nil {
			o.abandonSegment()
			o.drop(b, err)
			return
		}
	}
}

// drop counts what could not be kept. The segment is closed by now, so the next one's base names the gap.
func (o *output) drop(b []byte, err error) {
	if o.lastErr == nil {
		complain("output at offset %d dropped: %v", o.off, err)
	}
	o.lastErr = err
	o.off += int64(len(b))
	o.dropped += int64(len(b))
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
	f, err := os.OpenFile(o.dir.path(segmentName(o.off)), segmentFlags, segmentMode)
	if err != nil {
		return err
	}
	o.seg, o.segSize = f, 0
	if n := len(o.bases); n == 0 || o.bases[n-1] != o.off {
		o.bases = append(o.bases, o.off)
	}
	return nil
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

// end returns the absolute offset after the last byte read.
func (o *output) end() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.off
}
