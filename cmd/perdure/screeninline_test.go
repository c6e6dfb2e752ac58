package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// told is a script of answers with many lines.
func told() string {
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, "line %02d of the answer.\\n\\n", i)
	}
	return `{"turns":[{"match":"tell","steps":[{"text":"` + lines.String() + `","delay_ms":10}]},{"match":"hi","steps":[{"text":"Hello."}]}]}`
}

// Goal: with --inline what is finished stands in the scrollback once.
func TestInlineIsPrintedOnce(t *testing.T) {
	s := newSeat(t, 80, 24, told())
	s.runs("w", "--inline --session-id one --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "tell me 日本語")
	s.keys("w", "Enter")
	s.sees("w", "all of it", has("line 29 of the answer."))
	s.types("w", "hi")
	s.sees("w", "typed", has("> hi"))
	s.keys("w", "Enter")
	s.sees("w", "another answer", has("Hello."))
	s.leaves("w")
	all := s.tmux("capture-pane", "-t", "w", "-p", "-S", "-")
	for i := range 30 {
		if line := fmt.Sprintf("line %02d of the answer.", i); strings.Count(all, line) != 1 {
			t.Errorf("%q is there %d times", line, strings.Count(all, line))
		}
	}
	if n, m := strings.Count(all, "\n > tell me 日本語"), strings.Count(all, "Hello."); n != 1 || m != 1 {
		t.Errorf("the prompt %d times, the other answer %d times", n, m)
	}
	if t.Failed() {
		t.Logf("%s", all)
	}
}

// Goal: with --inline what is live stands once, however often the terminal is made narrower and wider meanwhile, and
// nothing of what was printed before is lost.
func TestInlineIsThereOnceAtEveryWidth(t *testing.T) {
	var calls []string
	for i := range 5 {
		calls = append(calls, fmt.Sprintf(`{"name":"Bash","input":{"command":"until [ -e gate ]; do sleep 0.02; done; echo call%d and more words, so that it is a line of nearly as many cells as there are"}}`, i))
	}
	s := newSeat(t, 100, 60, `{"turns":[{"match":"tell","steps":[{"text":"First line.\n\nSecond line.","tools":[`+strings.Join(calls, ",")+`]},{"text":"The end."}]}]}`)
	s.runs("w", "--inline --session-id one --allowed-tools Bash --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "tell me")
	s.keys("w", "Enter")
	s.sees("w", "calls that have not begun", has("○ Bash"))
	call := regexp.MustCompile(`(?m)^ [●○] Bash until.*(…|there are)$`)
	for _, width := range []int{80, 60, 40, 100, 50} {
		s.tmux("resize-window", "-t", "w", "-x", strconv.Itoa(width), "-y", "60")
		s.sees("w", fmt.Sprintf("drawn in %d cells", width), func(screen string) bool {
			rows := call.FindAllString(screen, -1)
			return len(rows) == 5 && len([]rune(rows[4])) > min(width, 90)-6
		})
	}
	for width := 100; width >= 60; width -= 2 { // somebody drags an edge
		s.tmux("resize-window", "-t", "w", "-x", strconv.Itoa(width), "-y", "60")
	}
	s.sees("w", "drawn in 60 cells", func(screen string) bool {
		rows := call.FindAllString(screen, -1)
		return len(rows) == 5 && len([]rune(rows[4])) > 54
	})
	s.d.write("gate", "")
	s.sees("w", "all of it", has("The end."))
	s.leaves("w")
	all := s.tmux("capture-pane", "-t", "w", "-p", "-S", "-")
	for what, n := range map[string]int{"tell me": 1, "First line.": 1, "Second line.": 1, "Bash until": 5, "○": 0, strings.Repeat("─", 16): 0, "The end.": 1} {
		if got := strings.Count(all, what); got != n {
			t.Errorf("%q is there %d times, want %d", what, got, n)
		}
	}
	if t.Failed() {
		t.Logf("%s", all)
	}
}

// Goal: the screen fits every size, while words stream too, and wide characters and joined ones stand in the prompt, the
// title, the path, the output and the approval.
func TestTheScreenFitsEverySize(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[{"match":"寿司","steps":[
	 {"text":"日本語の返事 👨‍👩‍👧 é 한국어 and words that come slowly, so that the size changes while they do, more than once.","delay_ms":60,
	  "tools":[{"name":"Bash","input":{"command":"echo 出力 | tee 寿司.txt"}}]},
	 {"text":"終わり."}]}]}`)
	s.runs("w", "--session-id one --name 題名👨‍👩‍👧 --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "寿司 👨‍👩‍👧")
	s.keys("w", "Enter")
	s.sees("w", "words", has("日本語の返事"))
	fits := func(what string, words ...string) {
		t.Helper()
		for _, size := range [][2]string{{"40", "12"}, {"120", "40"}, {"80", "24"}} {
			s.tmux("resize-window", "-t", "w", "-x", size[0], "-y", size[1])
			s.sees("w", what+" at "+size[0], func(screen string) bool {
				lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
				return has(words...)(screen) && strings.HasPrefix(lines[len(lines)-2], "> ")
			})
		}
	}
	fits("words", "返事")
	s.sees("w", "an approval", has("寿司.txt", "ctrl+o"))
	fits("the approval", "ctrl+o")
	s.keys("w", "C-o")
	s.sees("w", "it has the keys", has("y once", "寿司.txt"))
	for range 600 { // a person looks
		if s.tmux("send-keys", "-t", "w", "-l", "y"); has("終わり.")(s.tmux("capture-pane", "-t", "w", "-p")) {
			break
		}
		s.quiet()
	}
	s.sees("w", "the end", has("終わり.", "題名"))
	s.keys("w", "C-u")
	fits("the end", "終わり")
	s.leaves("w")
}

// Goal: a terminal that cannot be drawn on is refused with what to do instead, and NO_COLOR is heeded.
func TestTerminalsThatCannot(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.types("w", "TERM=dumb '"+s.d.exe+"' --model "+s.model+"; echo left with $?")
	s.keys("w", "Enter")
	s.sees("w", "refused", has("left with 2", "perdure -p"))
	s.types("w", "export NO_COLOR=1")
	s.keys("w", "Enter")
	s.runs("w", "--model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "/")
	s.sees("w", "commands", has("/plan"))
	if screen := s.tmux("capture-pane", "-t", "w", "-p", "-e"); coloured().MatchString(screen) {
		t.Errorf("colours: %q", screen)
	}
	s.leaves("w")
}
