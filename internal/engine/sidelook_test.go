package engine

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/needs"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// looking is a look at the stream of a call in a directory, and the stream.
func looking(t *testing.T, act string) (*SideLook, *side, string) {
	dir := t.TempDir()
	l := at(Config{SideDir: dir}, session.New("s")).eng.LookAt("s", act)
	t.Cleanup(l.Close)
	if l.Act() != act {
		t.Errorf("it looks at %s", l.Act())
	}
	return l, openSide(dir, "s", act), filepath.Join(dir, "s", act+".stream")
}

// What a call streams is seen by another process as it came: its kinds, the words, and the tool that an input is for.
func TestAStreamIsSeen(t *testing.T) {
	l, s, _ := looking(t, "t1.s1.a1")
	for _, d := range []modelapi.Delta{
		{Kind: modelapi.DeltaStart, Usage: model.Usage{Input: 7}},
		{Kind: modelapi.DeltaThinking, Text: "hm"},
		{Kind: modelapi.DeltaText, Text: "I "},
		{Kind: modelapi.DeltaText, Text: "look\n"},
		{Kind: modelapi.DeltaTool, Tool: "Bash", ID: "u1"},
		{Kind: modelapi.DeltaTool, Text: `{"a`},
		{Kind: modelapi.DeltaTool, Tool: "Read", ID: "u2", Text: "{"},
		{Kind: "news of a later version", Text: "x"},
	} {
		s.write(d)
	}
	seen := func(kind modelapi.DeltaKind, text, tool, use string) Update {
		return Update{Session: "s", Act: "t1.s1.a1", Kind: string(kind), Text: text, Tool: tool, Use: use}
	}
	want := []Update{
		seen(modelapi.DeltaThinking, "hm", "", ""), seen(modelapi.DeltaText, "I ", "", ""), seen(modelapi.DeltaText, "look\n", "", ""),
		seen(modelapi.DeltaTool, "", "Bash", "u1"), seen(modelapi.DeltaTool, `{"a`, "Bash", "u1"), seen(modelapi.DeltaTool, "{", "Read", "u2"),
	}
	if got := l.Next(); !reflect.DeepEqual(got, want) {
		t.Errorf("seen %+v, want %+v", got, want)
	}
	if got := l.Next(); got != nil {
		t.Errorf("seen again: %+v", got)
	}
	s.write(modelapi.Delta{Kind: modelapi.DeltaText, Text: "on"})
	if got := l.Next(); len(got) != 1 || got[0].Text != "on" {
		t.Errorf("then %+v", got)
	}
	s.write(modelapi.Delta{Kind: modelapi.DeltaText, Text: "late"})
	if l.Close(); l.Next() != nil {
		t.Error("seen after the look was closed")
	}
}

// A look may begin before the stream, and where none is kept nothing is seen; the words of a summary are called so.
func TestALookBeforeTheStream(t *testing.T) {
	dir := t.TempDir()
	l := at(Config{SideDir: dir}, session.New("s")).eng.LookAt("s", "c1.a1")
	for range 2 {
		if l.Next() != nil {
			t.Error("something is seen of nothing")
		}
	}
	s := openSide(dir, "s", "c1.a1")
	s.write(modelapi.Delta{Kind: modelapi.DeltaText, Text: "in short"})
	s.write(modelapi.Delta{Kind: modelapi.DeltaThinking, Text: "hm"})
	if got := l.Next(); len(got) != 2 || got[0].Kind != "summary" || got[0].Text != "in short" || got[1].Kind != string(modelapi.DeltaThinking) {
		t.Errorf("seen %+v", got)
	}
	l.Close()
	unopened := at(Config{SideDir: dir}, session.New("s")).eng.LookAt("s", "c1.a1")
	if unopened.Close(); unopened.Next() != nil {
		t.Error("something is seen after the look was closed")
	}
	none := at(Config{}, session.New("s")).eng.LookAt("s", "c1.a1")
	if none.Next() != nil {
		t.Error("something is seen where no streams are kept")
	}
	none.Close()
}

// A line is seen when it is whole, and nothing more behind one that is damaged or has no end.
func TestLinesOfAStream(t *testing.T) {
	for name, c := range map[string]struct {
		parts []string
		want  []string // the words seen after each part
	}{
		"in two":  {[]string{`{"k":"text","t":"a"}` + "\n" + `{"k":"te`, `xt","t":"b"}` + "\n"}, []string{"a", "b"}},
		"in four": {[]string{`{"k":`, `"text"`, `,"t":"a"}`, "\n"}, []string{"", "", "", "a"}},
		"damaged": {[]string{`{"k":"text","t":"a"}` + "\n" + "no\n" + `{"k":"text","t":"b"}` + "\n", `{"k":"text","t":"c"}` + "\n"}, []string{"a", ""}},
		"endless": {[]string{strings.Repeat("x", maxSideLine+1), "\n" + `{"k":"text","t":"a"}` + "\n"}, []string{"", ""}},
		"long":    {[]string{`{"k":"text","t":"` + strings.Repeat("x", maxSideLine/2), `"}` + "\n"}, []string{"", strings.Repeat("x", maxSideLine/2)}},
	} {
		l, s, path := looking(t, "t1.s1.a1")
		s.close()
		for i, part := range c.parts {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(part)
			}
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
			got := ""
			for range 2 + len(part)/sideRead { // so much is read at a time
				for _, u := range l.Next() {
					got += u.Text
				}
			}
			if got != c.want[i] {
				t.Errorf("%s, part %d: seen %.40q, want %.40q", name, i, got, c.want[i])
			}
		}
	}
}

// What an interrupted call left is counted as far as it can be read; what is no file of ours is neither read nor seen.
func TestWhatAStreamLeaves(t *testing.T) {
	l, s, path := looking(t, "t1.s1.a1")
	for _, d := range []modelapi.Delta{
		{Kind: modelapi.DeltaStart, Usage: model.Usage{Input: 30, CacheRead: 4, CacheWrite: 3}},
		{Kind: modelapi.DeltaThinking, Text: "hm"},
		{Kind: modelapi.DeltaText, Text: "so "},
		{Kind: modelapi.DeltaTool, Text: "{"},
		{Kind: modelapi.DeltaText, Text: "far"},
	} {
		s.write(d)
	}
	dir := s.dir
	if usage, text := s.seen(); usage != 37 || text != "so far" {
		t.Errorf("the call itself: %d, %q", usage, text)
	}
	if usage, text := readSide(dir, "s", "t1.s1.a1"); usage != 37 || text != "so far" {
		t.Errorf("left: %d, %q", usage, text)
	}
	s.close()
	if err := os.WriteFile(path, []byte(`{"u":5}`+"\nno\n"+`{"u":9,"k":"text","t":"x"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if usage, text := readSide(dir, "s", "t1.s1.a1"); usage != 5 || text != "" {
		t.Errorf("of a damaged one: %d, %q", usage, text)
	}
	removeSide(dir, "s", "t1.s1.a1")
	removeSides(dir, "s")
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory of no stream stays")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if usage, text := readSide(dir, "s", "t1.s1.a1"); usage != 0 || text != "" || l.Next() != nil {
		t.Errorf("of a directory: %d, %q", usage, text)
	}
	removeSides(dir, "s")
	if _, err := os.Stat(path); err != nil {
		t.Error("what is not ours was taken away")
	}
	if usage, text := readSide("", "s", "t1.s1.a1"); usage != 0 || text != "" {
		t.Errorf("where none are kept: %d, %q", usage, text)
	}
}

// The stream of a call that was answered goes with it.
func TestAnAnsweredStreamGoes(t *testing.T) {
	for _, discard := range []bool{true, false} {
		_, s, path := looking(t, "t1.s1.a1")
		s.discard = discard
		s.close()
		if _, err := os.Stat(path); (err == nil) == discard {
			t.Errorf("discarded %v: %v", discard, err)
		}
	}
}

// openFiles is how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	needs.System(t, "linux") // elsewhere nothing tells which files are open
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Streams and looks at them leave no file open, whatever is or is not there: a program makes thousands in its life.
func TestStreamsLeaveNothingOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would close what was forgotten
	dir := t.TempDir()
	e := at(Config{SideDir: dir}, session.New("s")).eng
	if err := os.MkdirAll(filepath.Join(dir, "s", "t2.s1.a1.stream"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	for range 20 {
		for _, act := range []string{"t1.s1.a1", "t2.s1.a1", "t3.s1.a1"} {
			s := openSide(dir, "s", act)
			if act == "t3.s1.a1" {
				s.discard = true
				s.close()
			}
			l := e.LookAt("s", act)
			l.Next()
			l.Close()
			s.close()
			readSide(dir, "s", act)
		}
		removeSide(dir, "s", "t1.s1.a1")
		removeSides(dir, "s")
	}
	if now := openFiles(t); now > before+10 {
		t.Errorf("%d files are open, %d before", now, before)
	}
}
