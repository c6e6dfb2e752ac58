package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func shown(m *Model) string {
	var b strings.Builder
	for _, l := range m.Visible() {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

// Goal: of a long text the first and the last lines are shown, and the number of the others; together they are all.
func TestEndsCountWhatTheyLeaveOut(t *testing.T) {
	for n := range 60 {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "line %d\n", i)
		}
		first, last, left := ends(text.String(), 10, 7, hard(20))
		if len(first)+len(last)+left != n || n <= 17 && left > 0 || n > 17 && len(first)+len(last) != 17 {
			t.Fatalf("%d lines: %d and %d, %d left out", n, len(first), len(last), left)
		}
		for i, l := range last {
			if want := fmt.Sprintf("line %d", n-len(last)+i); l != want {
				t.Fatalf("%q, want %q", l, want)
			}
		}
	}
	first, last, left := ends("aaaabbbbcccc\n\ndddd", 2, 2, hard(4))
	if got := fmt.Sprint(first, last, left); got != "[aaaa bbbb] [ dddd] 1" {
		t.Error(got)
	}
	if first, last, left = ends("a\r\nb\rc\r\n\r\nd", 9, 9, hard(4)); fmt.Sprint(first, last, left) != "[a c  d] [] 0" {
		t.Error(first, last, left)
	}
}

// Goal: a tab reaches the next stop, whatever is before it.
func TestTabs(t *testing.T) {
	for in, want := range map[string]string{"\tx": "        x", "日本\tx": "日本    x", "1234567\tx": "1234567 x", "12345678\tx": "12345678        x", "e\u0301\tx": "e\u0301       x"} {
		if got := Clean(in, 8); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Goal: words that are found are on the screen: the call is opened that holds them, as far as it takes.
func TestFindOpensWhatHolds(t *testing.T) {
	m := newModel(60, 12)
	m.Put(Item{ID: "p", Kind: Person, Text: "begin"})
	out := strings.Repeat("ordinary\n", 300) + "the Needle is here\n" + strings.Repeat("ordinary\n", 300)
	m.Put(Item{ID: "c", Kind: Tool, Call: Call{Name: "Bash", About: "make", State: Done, Output: out}})
	m.Put(Item{ID: "t", Kind: Thinking, Text: strings.Repeat("thought\n", 30) + "a Thorn"})
	for i := range 30 {
		m.Put(Item{ID: fmt.Sprint(i), Kind: Text, Text: "later words"})
	}
	for _, word := range []string{"needle", "THORN", "begin"} {
		m.Browse(false)
		m.End()
		if !m.Find(word, true) || !strings.Contains(strings.ToLower(shown(m)), strings.ToLower(word)) {
			t.Errorf("%s is not on the screen:\n%s", word, shown(m))
		}
	}
	if m.Find("nowhere", true) {
		t.Error("it finds what is nowhere")
	}
}

// Goal: an item that is longer than the screen is read to its end before the next one is selected.
func TestMoveReadsLongItems(t *testing.T) {
	m := newModel(60, 10)
	m.Put(Item{ID: "a", Kind: Text, Text: "first"})
	m.Put(Item{ID: "b", Kind: Text, Text: strings.Repeat("- line\n", 29) + "- the end"})
	m.Put(Item{ID: "c", Kind: Text, Text: "last"})
	m.Browse(true)
	m.Move(-2)
	var seen []string
	for range 30 {
		m.Move(1)
		it, _ := m.Selected()
		seen = append(seen, it.ID)
		if it.ID == "c" {
			break
		}
		if strings.Contains(shown(m), "the end") {
			seen = append(seen, "end")
		}
	}
	if got := strings.Join(seen, " "); !strings.HasSuffix(got, "end c") || len(seen) < 5 {
		t.Errorf("it went by %s", got)
	}
}

// Goal: a conversation as people see it, at the smallest size too.
func TestConversation(t *testing.T) {
	m := newModel(40, 20)
	m.Put(Item{ID: "p", Kind: Person, Text: "直して: the build\nis red", With: []string{"image/png 3 KiB"}})
	m.Say("k", Thinking, "let me see")
	m.Say("t", Text, "I look at `make`.")
	m.Settle("t")
	m.Put(Item{ID: "c", Kind: Tool, Call: Call{Name: "Bash", About: "make 2>&1", State: Failed, Took: 3000000000, Outcome: "exit code 2: no rule", Output: "a\tb\nno rule"}})
	m.Put(Item{ID: "n", Kind: Note, Text: "bash_1 exited 0"})
	m.Put(Item{ID: "x", Kind: Trouble, Text: "the model call failed (529): overloaded; it is tried again at 10:00:00"})
	m.Select("c")
	m.Toggle()
	want := strings.TrimPrefix(`
 > 直して: the build
   is red
   [image/png 3 KiB]

 ✻ thinking, 10 characters

 I look at make.

▌✗ Bash make 2>&1 → 3s, exit code 2: n…
▌  │ a       b
▌  │ no rule
 · bash_1 exited 0

 ! the model call failed (529):
   overloaded; it is tried again at
   10:00:00`, "\n")
	if got := shown(m); got != strings.TrimSpace(want) && got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
