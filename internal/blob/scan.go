package blob

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// scanned is what a pack holds from some offset on.
type scanned struct {
	entries []entry // of whole batches
	end     int64   // where the last whole batch ends; what follows is torn, or being written
	damage  bool    // bytes before end are not what was written
}

// scan reads the batches of a pack from an offset on at which one begins. Each record's checksum is looked at, so that
// a frame which reached the disk before its records did does not count. A damaged record with a later batch behind it was
// once whole, since nobody writes a batch before the one before it is durable: it stays in the index, and is found by
// whoever reads it.
func scan(r io.ReaderAt, pack packID, from, size int64) (scanned, error) {
	out := scanned{end: from}
	for out.end < size {
		entries, f, err := readBatch(r, pack, out.end, size)
		if err == nil {
			out.entries, out.end = append(out.entries, entries...), f.end()
			continue
		}
		if !broken(err) {
			return out, err
		}
		f, found, err := nextFrame(r, pack, out.end, size)
		if err != nil || !found {
			return out, err
		}
		if f.start == out.end {
			_, found, err = nextFrame(r, pack, f.end(), size)
			if err != nil || !found { // the last frame of all: its batch was never durable
				return out, err
			}
		}
		out.damage = true
		if f.start == out.end {
			out.entries, out.end = append(out.entries, f.entries...), f.end()
			continue
		}
		out.entries, out.end = append(out.entries, entries...), f.start // a frame was damaged: what stood before it remains
	}
	return out, nil
}

func broken(err error) bool {
	return errors.Is(err, errTorn) || errors.Is(err, errFormat) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readBatch reads the records from start on and the frame behind them. With an error the entries are the ones before it.
func readBatch(r io.ReaderAt, pack packID, start, size int64) ([]entry, frame, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, start, size-start), 256<<10)
	var entries []entry
	var payload []byte
	head := make([]byte, recordHeaderLen)
	for off := start; ; {
		if next, err := in.Peek(len(frameMagic)); err != nil {
			return entries, frame{}, err
		} else if bytes.Equal(next, frameMagic) {
			f, err := readFrame(r, pack, off, size)
			if err == nil && (f.start != start || !sameEntries(f.entries, entries)) {
				err = errFormat
			}
			return entries, f, err
		}
		if _, err := io.ReadFull(in, head); err != nil {
			return entries, frame{}, err
		}
		rec, err := parseRecord(head)
		if err != nil {
			return entries, frame{}, fmt.Errorf("record at %d: %w", off, err)
		}
		if off+recordHeaderLen+int64(rec.stored) > size {
			return entries, frame{}, errTorn
		}
		if cap(payload) < int(rec.stored) {
			payload = make([]byte, rec.stored)
		}
		payload = payload[:rec.stored]
		if _, err := io.ReadFull(in, payload); err != nil {
			return entries, frame{}, err
		}
		if !rec.sound(head, payload) {
			return entries, frame{}, fmt.Errorf("record at %d: %w", off, errFormat)
		}
		e := entry{rec.digest, uint64(off), rec.stored, rec.kind, rec.crc}
		entries, off = append(entries, e), e.end()
	}
}

func sameEntries(a, b []entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// nextFrame looks for a frame from an offset on, whatever lies before it. A content can look like one, but not know the
// pack's name and its own place.
func nextFrame(r io.ReaderAt, pack packID, from, size int64) (frame, bool, error) {
	const window = 256 << 10
	mark := append(bytes.Clone(frameMagic), pack[:]...)
	buf := make([]byte, window)
	for from+int64(len(mark)) <= size {
		n, err := r.ReadAt(buf[:min(window, size-from)], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return frame{}, false, err
		}
		at := bytes.Index(buf[:n], mark)
		switch {
		case at >= 0:
			f, err := readFrame(r, pack, from+int64(at), size)
			if err == nil || !broken(err) {
				return f, err == nil, err
			}
			from += int64(at) + 1
		case n < len(mark):
			return frame{}, false, nil
		default:
			from += int64(n - len(mark) + 1)
		}
	}
	return frame{}, false, nil
}
