package search

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// crashShelf is the same in parent and child: sessions and files in which every word stands in some places.
func crashShelf() *shelf {
	s := &shelf{}
	for i := range 12 {
		var texts []string
		for j := range 9 {
			texts = append(texts, fmt.Sprintf("needle %d of %d, word%d", j, i, j*i%7))
		}
		s.add(Sessions, fmt.Sprintf("s%02d", i), "/p", texts...)
	}
	s.add(Memory, "/m", "/p", "needle noted", "word3 noted")
	s.add(Journal, "/j", "/p", "needle of the day")
	return s
}

// later is what became of it when the index is used the next time.
func later(s *shelf) *shelf {
	s.remove("s03")
	s.find("s04").life = 1
	s.find("s05").texts = append(s.find("s05").texts, "one more needle")
	s.find("s06").Title = "renamed needle"
	s.find("/m").texts = []string{"word3 word4 needle"}
	return s
}

var crashQueries = []string{"needle", "word3", "word0", "title", "renamed", `"needle 3 of"`, "xylophonist", "no"}

// differs says in which of a number of searches two homes differ.
func differs(t *testing.T, s *shelf, one, other Config) (out []string) {
	t.Helper()
	for _, q := range crashQueries {
		if a, b := ask(t, s, one, q, Filter{}), ask(t, s, other, q, Filter{}); !slices.Equal(a, b) {
			out = append(out, fmt.Sprintf("%s: %q and %q", q, a, b))
		}
	}
	return out
}

const crashSteps = 400

// Goal: whatever a process that indexes is doing when it is killed, the answers afterwards are those of a fresh index.
func TestKilledWhileIndexing(t *testing.T) {
	if home := os.Getenv("PERDURE_TEST_INDEX"); home != "" {
		dieAt(t, home, os.Getenv("PERDURE_TEST_PHASE"), os.Getenv("PERDURE_TEST_STEP"))
		os.Exit(0)
	}
	at := map[string][]int{"first": {1, 2, 3, 9, 40, 41, 42, 77, 111}, "later": {1, 2, 3, 4, 10, 20, 23, 24, 25, 26, 27, 28}, "forget": {1, 2, 3, 4, 5}}
	if os.Getenv("PERDURE_SOAK") != "" {
		for phase := range at {
			at[phase] = nil
			for n := 1; n <= crashSteps; n++ {
				at[phase] = append(at[phase], n)
			}
		}
	}
	hit := map[string]int{}
	for phase, steps := range at {
		for _, n := range steps {
			home := t.TempDir()
			s := crashShelf()
			if phase != "first" {
				ask(t, s, Config{Home: home}, "needle", Filter{})
				s = later(s)
			}
			if !killed(t, home, phase, n) {
				break // it ended before
			}
			hit[phase]++
			if phase == "forget" {
				if err := Forget(t.Context(), home, []string{"s07"}, true, nil); err != nil {
					t.Fatal(err)
				}
				if s.remove("s07"); holds(t, home, "s07") {
					t.Errorf("forget, step %d: its name is left", n)
				}
			}
			if d := differs(t, s, Config{Home: home}, Config{Home: t.TempDir()}); len(d) > 0 {
				t.Errorf("%s, step %d: %s", phase, n, strings.Join(d, "; "))
			}
		}
	}
	t.Logf("killed %v", hit)
	if hit["first"] < 9 || hit["later"] < 9 || hit["forget"] < 4 {
		t.Errorf("too few kills: %v", hit)
	}
}

// Goal: the same wherever within a transaction the process dies: it is killed after some time, again and again on one
// index.
func TestKilledAtAnyTime(t *testing.T) {
	rounds := 12
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 300
	}
	home, fresh, hit := t.TempDir(), Config{Home: t.TempDir()}, 0
	for i := range rounds {
		s := crashShelf()
		if i%2 == 1 {
			s = later(s) // back and forth, so that there is always something to do
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledWhileIndexing$")
		child.Env = append(os.Environ(), "PERDURE_TEST_INDEX="+home, "PERDURE_TEST_PHASE="+[]string{"first", "later"}[i%2], "PERDURE_TEST_STEP=1000000", "PERDURE_TEST_READY=1")
		ready, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(i*i%97)*300*time.Microsecond, func() { _ = child.Process.Kill() })
		if err := child.Wait(); err != nil {
			hit++
		}
		kill.Stop()
		if d := differs(t, s, Config{Home: home}, Config{Home: fresh.Home, Rebuild: true}); len(d) > 0 {
			t.Fatalf("round %d: %s", i, strings.Join(d, "; "))
		}
	}
	t.Logf("%d of %d were killed", hit, rounds)
	if hit < rounds/4 {
		t.Errorf("only %d of %d were killed", hit, rounds)
	}
}

// killed runs a phase in a process of its own that kills itself at the n-th step; false if it ended before.
func killed(t *testing.T, home, phase string, n int) bool {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledWhileIndexing$")
	child.Env = append(os.Environ(), "PERDURE_TEST_INDEX="+home, "PERDURE_TEST_PHASE="+phase, "PERDURE_TEST_STEP="+strconv.Itoa(n))
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if err == nil {
		return false
	}
	if !errors.As(err, &exit) || !strings.Contains(exit.Error(), "killed") {
		t.Fatalf("%s, step %d: %v\n%s", phase, n, err, out)
	}
	return true
}

func dieAt(t *testing.T, home, phase, step string) {
	left, _ := strconv.Atoi(step)
	fault := func(string) {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	s := crashShelf()
	if phase != "first" {
		s = later(s)
	}
	if os.Getenv("PERDURE_TEST_READY") != "" {
		fmt.Println("ready")
	}
	if phase == "forget" {
		_ = Forget(t.Context(), home, []string{"s07"}, true, fault)
		return
	}
	_, _ = Search(t.Context(), s, Config{Home: home, Fault: fault, Batch: 10}, Query{}, Filter{})
}

// Control: an index that counts a text as read that it does not have is one that the comparison notices.
func TestComparisonNoticesALoss(t *testing.T) {
	s, home := crashShelf(), t.TempDir()
	ask(t, s, Config{Home: home}, "needle", Filter{})
	if d := differs(t, s, Config{Home: home}, Config{}); len(d) > 0 {
		t.Fatalf("an index without a loss: %q", d)
	}
	d, err := openDB(fileURI(filepath.Join(home, Dir, indexName), ""))
	if err == nil {
		err = errors.Join(d.script("DELETE FROM word WHERE rowid = 30"), d.close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(differs(t, s, Config{Home: home}, Config{})) == 0 {
		t.Error("a lost text is not noticed")
	}
}

// Goal: searches at once, each in a process's place, all find everything, and a deletion among them leaves nothing.
func TestSearchesAtOnce(t *testing.T) {
	s, home := crashShelf(), t.TempDir()
	q, err := Parse("needle")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			found, err := Search(t.Context(), crashShelf(), Config{Home: home, Batch: 5}, q, Filter{Limit: MaxHits})
			if err != nil || len(found.Hits) != 12*9+2 || found.Why != nil {
				t.Errorf("%d hits, %v, %v", len(found.Hits), found.Why, err)
			}
		})
	}
	all.Wait()
	p, err := openPlace(home, false)
	if err == nil {
		err = p.hold(t.Context(), true, true, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Forget(t.Context(), home, []string{"s07"}, false, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("a deletion beside a search that does not wait: %v", err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if err := Forget(t.Context(), home, []string{"s07"}, false, nil); err != nil || holds(t, home, "s07") {
		t.Errorf("%v", err)
	}
	s.remove("s07")
	if d := differs(t, s, Config{Home: home}, Config{}); len(d) > 0 {
		t.Error(d)
	}
}
