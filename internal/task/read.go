//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxRead bounds one Read, in bytes.
const maxRead = 64 << 20

// outputEnd returns how much was printed, as far as segments and the note of what was dropped tell, from where on some of
// it may be missing, and whether there is an exit record, which may know of more.
func outputEnd(d actDir) (end int64, unread *int64, ended bool, err error) {
	l, err := d.list()
	end = d.droppedTo()
	if n := len(l.segs); n > 0 {
		end = max(end, l.segs[n-1].end)
	}
	return end, l.unread, l.ended, err
}

// Read returns up to max bytes of the command's raw output from the absolute offset from on, at most 64 MiB and 64 KiB
// if max is not positive. gap counts the bytes that were dropped between from and the first byte of b; next is where
// to read on: from + gap + len(b). A read never spans a gap. At the end of what there is b is empty and next equals
// from; more may come while the command or a straggler runs. An act without a directory is ErrMissing.
func (r *Runner) Read(sessionID, act string, from int64, max int) (b []byte, next, gap int64, err error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return nil, from, 0, err
	}
	if from < 0 {
		return nil, from, 0, fmt.Errorf("read output of %s/%s: %w: offset %d", sessionID, act, ErrInvalid, from)
	}
	if max <= 0 {
		max = 64 << 10
	}
	const tries = 8 // a segment may be rotated away between the listing and the open; then the listing is repeated
	for range tries {
		b, gap, err = d.read(from, min(max, maxRead))
		if !missing(err) {
			break
		}
		if _, serr := os.Stat(string(d)); missing(serr) {
			return nil, from, 0, fmt.Errorf("read output of %s/%s: %w", sessionID, act, ErrMissing)
		}
	}
	if err != nil {
		return nil, from, 0, fmt.Errorf("read output of %s/%s: %w", sessionID, act, err)
	}
	return b, from + gap + int64(len(b)), gap, nil
}

func (d actDir) read(from int64, most int) (b []byte, gap int64, err error) {
	segs, err := d.segments()
	if err != nil {
		return nil, 0, err
	}
	end := from
	for _, s := range segs {
		end = max(end, s.end)
		if s.end <= from || s.end == s.base {
			continue
		}
		start := max(from, s.base)
		b, err := d.readSegment(s, start, most)
		return b, start - from, err
	}
	// Nothing is kept from here on. The exit record, or before it the note, reports whether something was printed and could
	// not be kept.
	var exit exitRecord
	if err := readRecord(d.path(exitName), &exit); err != nil && !missing(err) && !errors.Is(err, errDamaged) {
		return nil, 0, err
	}
	return nil, max(exit.Output, end, d.droppedTo()) - from, nil
}

func (d actDir) readSegment(s segment, start int64, most int) ([]byte, error) {
	f, err := os.OpenFile(d.path(segmentName(s.base)), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, min(s.end-start, int64(most)))
	n, err := f.ReadAt(b, start-s.base)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}
