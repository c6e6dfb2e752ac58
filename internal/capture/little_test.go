package capture_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/capture"
)

// Goal: a line that is added to a large file in a large directory takes neither of them anew, of this process or of the
// next one, by the hint or by a walk; and every capture of all can be read.
func TestAnEditTakesLittle(t *testing.T) {
	w := newWorld(t, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%x\n", rng.Uint64())
		}
		return b.String()
	}
	for i := range 200 {
		w.write(fmt.Sprintf("deep/down/f%03d", i), text(3))
	}
	large := text(5000)
	w.write("deep/down/large", large)
	w.capture(capture.Walk)
	before, err := w.blobs.Usage()
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 30
	var want []map[string]string
	var got []capture.Result
	for i := range rounds {
		large += fmt.Sprintf("line %d\n", i)
		w.write("deep/down/large", large)
		if i%10 == 9 {
			w.again()
		}
		got = append(got, w.capture([]capture.Rung{capture.Hint, capture.Walk}[i%2]))
		want = append(want, w.plain())
	}
	after, err := w.blobs.Usage()
	if err != nil {
		t.Fatal(err)
	}
	// Four contents each time, of some 100 bytes with their places in the pack, and a frame.
	if n := after.Bytes - before.Bytes; n > rounds*2000 {
		t.Errorf("%d edits took %d bytes", rounds, n)
	}
	for i, r := range got {
		w.same(fmt.Sprintf("edit %d", i), w.content(r.Tree), want[i])
	}
}
