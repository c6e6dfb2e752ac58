package tasks

import (
	"bytes"
	"sort"

	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

// tailBlock is how much is read at a time, going back from the end.
const tailBlock = 64 << 10

// tailOffset finds where the last lines of an output begin, not before from. Where bytes in between are no longer kept,
// it is where these begin, so that the gap is told.
func tailOffset(r *task.Runner, t view.Task, from int64, lines int) (int64, error) {
	st, err := r.State(t.SessionID, t.Act)
	if err != nil || lines == 0 {
		return max(from, st.Output), err
	}
	end := st.Output
	for hi := end; hi > from; {
		lo := max(from, hi-tailBlock)
		block, at, gap, err := readBlock(r, t, lo, hi)
		if err != nil {
			return from, err
		}
		text := block
		if at+int64(len(block)) == end {
			text = bytes.TrimSuffix(block, []byte("\n")) // it closes the last line and begins none
		}
		for i := bytes.LastIndexByte(text, '\n'); i >= 0; i = bytes.LastIndexByte(text[:i], '\n') {
			if lines--; lines == 0 {
				return at + int64(i) + 1, nil
			}
		}
		if gap > 0 {
			return max(from, gapStart(r, t, at)), nil
		}
		hi = lo
	}
	return from, nil
}

// readBlock reads what is kept of [lo, hi) after the last gap in it, and says where that begins and how large the gap
// before it is.
func readBlock(r *task.Runner, t view.Task, lo, hi int64) (block []byte, at, gap int64, err error) {
	at = lo
	for pos := lo; pos < hi; {
		b, next, missing, err := r.Read(t.SessionID, t.Act, pos, int(hi-pos))
		if err != nil {
			return nil, 0, 0, err
		}
		if missing > 0 {
			block, at, gap = nil, pos+missing, missing
		}
		if next == pos {
			break
		}
		block, pos = append(block, b...), next
	}
	// What was printed meanwhile is not looked at.
	return block[:min(int64(len(block)), max(hi-at, 0))], at, gap, nil
}

// gapStart finds where the gap begins that ends at an offset.
func gapStart(r *task.Runner, t view.Task, end int64) int64 {
	return int64(sort.Search(int(end), func(pos int) bool {
		_, _, gap, err := r.Read(t.SessionID, t.Act, int64(pos), 1)
		return err == nil && gap > 0 && int64(pos)+gap == end
	}))
}
