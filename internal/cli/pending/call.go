package pending

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/permission"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/asks"
)

// Bounds of a call that is shown to be judged.
const (
	maxShownLine = 400     // characters of a line; its beginning and its end are shown
	maxShownStep = 200     // characters of a simple command, or of the files that it writes
	maxShownFile = 1 << 20 // bytes of a file that is compared
	LinesInList  = 400     // lines of a text in approvals list
	LinesAtEnd   = 40      // lines of a text where a run tells what it waits for
	LinesOnPage  = 20_000  // lines of a text where one can scroll; long lines are whole there
	maxPageLine  = 1 << 16 // characters of a line there
	maxDiffLines = 10_000  // of both sides; what is longer is shown as its new lines
)

// Row is a line of a call as it is shown: one line, safe for a terminal.
type Row = asks.Row

// Left is the look of a row in whose place something of the call is left out.
const Left = asks.Warning

// Rows are what a person has to know of a call that waits: where, why, and what. most bounds the lines of each of its
// texts.
func Rows(w Wait, most int) []Row {
	p := w.Call.Approval
	var out []Row
	about := func(texts ...string) {
		for _, s := range texts {
			out = append(out, Row{Look: asks.About, Text: s})
		}
	}
	about(inOrder("in ", safe.Visible(p.Cwd))...)
	if p.Target != "" {
		about(inOrder("works on ", safe.Visible(p.Target))...)
	}
	if p.Reason != "" {
		about("because " + safe.Shown(p.Reason, 500))
	}
	if p.Rule != "" && !strings.Contains(p.Reason, p.Rule) {
		about("by the rule " + safe.Shown(p.Rule, 500))
	}
	for _, r := range describe(w.Call.Tool, w.Call.Input, p.Cwd, p.Target, most) {
		out = append(out, Row{Look: r.Look, Text: "  " + r.Text})
	}
	return out
}

// Lines are the texts of Rows.
func Lines(w Wait, most int) []string {
	rows := Rows(w, most)
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Text
	}
	return out
}

// Line is what waits on one line: the file or the command of a call, the words of a question.
func Line(w Wait) string {
	if q := w.Call.Question; q != nil {
		return onLine(display.FirstLine(q.Question))
	}
	fields := fieldsOf(w.Call.Input)
	for _, name := range []string{"command", "file_path", "path", "pattern"} {
		var s string
		if json.Unmarshal(fields[name], &s) == nil && s != "" {
			return onLine(w.Call.Tool + " " + display.FirstLine(s))
		}
	}
	return onLine(w.Call.Tool + " " + string(Effective(w.Call.Input)))
}

// onLine is a call on one line: where a terminal may show it in another order than it has, in that.
func onLine(s string) string { return safe.Shown(safe.Ordered(safe.Visible(s)), 200) }

// inOrder gives a line, and below one that a terminal may show in another order than it has, its letters by their
// numbers.
func inOrder(before, text string) []string {
	if !safe.Turns(text) {
		return []string{before + text}
	}
	return []string{before + safe.Isolated(text), "in its order: " + safe.Ordered(text)}
}

// Wider is the pattern that may be granted beside the exact rule of an approval, and what it allows.
func Wider(w Wait) (rule, allows string) {
	p := w.Call.Approval
	if p.Offer == "" {
		return "", ""
	}
	r := permission.Request{Tool: w.Call.Tool, Root: p.Cwd, Cwd: p.Cwd}
	var command string
	if json.Unmarshal(fieldsOf(w.Call.Input)["command"], &command) == nil {
		r.Command = command
	}
	if r.Path = p.Target; r.Path == "" { // asked by an older version
		r.Path = offeredPath(p.Offer)
	}
	return permission.Wider(r)
}

// offeredPath is the path that an exact rule about a file names.
func offeredPath(rule string) string {
	_, glob, _ := strings.Cut(rule, "(")
	var b strings.Builder
	for i := 0; i < len(glob)-1; i++ {
		if glob[i] == '\\' && i+1 < len(glob)-1 {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// callText shows a call for a person who has to judge it: a command as its lines, a change of a file as a diff, then
// every other field. most bounds the lines of each text: its beginning and its end are shown.
type callText struct {
	cwd    string
	target string // the file behind all links; empty: unknown
	most   int
	look   func(line string) asks.Look // of the lines that are added now; nil: Text
	out    []Row
}

func (t *callText) put(look asks.Look, texts ...string) {
	for _, s := range texts {
		t.out = append(t.out, Row{Look: look, Text: s})
	}
}

// describe gives the lines of a call. What is shown is what the tool reads: of two fields of one name the last.
func describe(tool string, input json.RawMessage, cwd, target string, most int) []Row {
	t := &callText{cwd: cwd, target: target, most: most}
	fields := fieldsOf(input)
	if fields == nil {
		t.text(string(input))
		return t.out
	}
	take := func(name string) (string, bool) {
		var s string
		if json.Unmarshal(fields[name], &s) != nil || fields[name] == nil {
			return "", false
		}
		return s, true
	}
	used := func(names ...string) {
		for _, n := range names {
			delete(fields, n)
		}
	}
	switch tool {
	case "Bash":
		if command, ok := take("command"); ok {
			t.text(command)
			t.steps(command)
			used("command")
		}
	case "Write":
		if content, ok := take("content"); ok {
			path, _ := take("file_path")
			t.change(path, func(string) (string, bool) { return content, true }, "", content)
			used("content", "file_path")
		}
	case "Edit":
		before, okOld := take("old_string")
		after, okNew := take("new_string")
		if okOld && okNew {
			path, _ := take("file_path")
			all := string(fields["replace_all"]) == "true" || string(fields["replace_all"]) == `"true"`
			t.change(path, func(was string) (string, bool) { return replaced(was, before, after, all) }, before, after)
			used("old_string", "new_string", "file_path")
		}
	}
	t.rest(fields)
	return t.out
}

// fieldsOf are the fields of a JSON object, of several with one name the last; nil if it is none.
func fieldsOf(input json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return nil
	}
	return fields
}

// Effective is an input as tools read it: without fields that a later one of the same name replaces.
func Effective(input json.RawMessage) json.RawMessage {
	fields := fieldsOf(input)
	if fields == nil {
		return input
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return out
}

// text adds a text's lines, the beginning and the end of a long one.
func (t *callText) text(s string) {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	head, tail := lines, []string(nil)
	if len(lines) > t.most {
		head, tail = lines[:t.most*2/3], lines[len(lines)-t.most/3:]
	}
	for _, l := range head {
		t.line(l)
	}
	if tail != nil {
		t.put(Left, fmt.Sprintf("… %s left out; perdure approvals list --json has all …", safe.Count(int64(len(lines)-len(head)-len(tail)), "line")))
	}
	for _, l := range tail {
		t.line(l)
	}
}

// line adds one line, of a long one the beginning and the end.
func (t *callText) line(l string) {
	look, most := asks.Text, maxShownLine
	if t.look != nil {
		look = t.look(l)
	}
	if t.most == LinesOnPage {
		most = maxPageLine
	}
	if r := []rune(l); len(r) > most {
		look = Left
		l = fmt.Sprintf("%s …%d characters left out… %s", string(r[:most*2/3]), len(r)-most/3-most*2/3, string(r[len(r)-most/3:]))
	}
	t.put(look, inOrder("", safe.Visible(l))...)
}

// ofDiff is the look of a line of a diff.
func ofDiff(line string) asks.Look {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "@@"):
		return asks.Aside
	case strings.HasPrefix(line, "+"):
		return asks.Added
	case strings.HasPrefix(line, "-"):
		return asks.Removed
	}
	return asks.Text
}

// diff adds the lines of a diff.
func (t *callText) diff(text string) {
	t.look = ofDiff
	t.text(text)
	t.look = nil
}

// steps lists the simple commands of a command, its first and its last ones: of one that is more than lines of which
// each is one.
func (t *callText) steps(command string) {
	steps, _, whole := permission.Steps(command)
	if len(steps) == 0 || whole && isLines(command, steps) {
		return
	}
	t.put(asks.Aside, "which runs")
	most := max(t.most/4, 4)
	for i, s := range steps {
		if n := len(steps) - most; n > 0 && i >= most*2/3 && i < most*2/3+n {
			if i == most*2/3 {
				t.put(asks.Aside, fmt.Sprintf("  … %d more …", n))
			}
			continue
		}
		t.put(asks.Step, inOrder("", stepLine(s))...)
	}
	if !whole {
		t.put(asks.Aside, "  and what cannot be read from its text")
	}
}

// isLines reports a command whose lines are its simple commands, which write and read no files by redirections.
func isLines(command string, steps []permission.Step) bool {
	lines := strings.Split(strings.TrimSpace(command), "\n")
	return len(lines) == len(steps) && !slices.ContainsFunc(steps, func(s permission.Step) bool {
		return len(s.Writes)+len(s.Reads)+s.Depth > 0 || s.Piped
	})
}

// stepLine is a simple command with the files of its redirections.
func stepLine(s permission.Step) string {
	line := strings.Repeat("  ", s.Depth+1)
	if s.Piped {
		line += "| "
	}
	line += safe.Shown(s.Text, maxShownStep)
	if len(s.Reads) > 0 {
		line += "   reads " + safe.Shown(strings.Join(s.Reads, ", "), maxShownStep)
	}
	if len(s.Writes) > 0 {
		line += "   writes " + safe.Shown(strings.Join(s.Writes, ", "), maxShownStep)
	}
	return line
}

// change shows what becomes of a file. Where the file cannot be read or is not as the call wants it, the pieces of the
// call are shown.
func (t *callText) change(path string, become func(string) (string, bool), before, after string) {
	at := t.target
	if at == "" {
		at = path
		if !filepath.IsAbs(at) {
			at = filepath.Join(t.cwd, at)
		}
	}
	was, exists, readable := readText(at)
	will, fits := become(was)
	switch {
	case readable && fits && exists && was == will:
		t.put(asks.Aside, "the file is like that already: "+safe.Shown(path, maxShownLine))
		return
	case readable && fits && short(was, will):
		name := safe.Visible(strings.TrimPrefix(path, "/")) // on one line
		old, now := "a/"+name, "b/"+name
		if !exists {
			old = "/dev/null"
		}
		if d := string(diff.Diff(old, []byte(was), now, []byte(will))); d != "" {
			_, d, _ = strings.Cut(d, "\n") // without the line that names the program
			t.diff(d)
			return
		}
	case !readable:
		t.put(asks.Aside, "the file as it is cannot be shown: "+safe.Shown(path, maxShownLine))
	case !fits:
		t.put(asks.Aside, "the text to replace is not found as it is, or more than once: "+safe.Shown(path, maxShownLine))
	default:
		t.put(asks.Aside, fmt.Sprintf("the whole of %s, now %d bytes, becomes:", safe.Shown(path, maxShownLine), len(was)))
	}
	var b strings.Builder
	mark(&b, "-", before)
	mark(&b, "+", after)
	t.diff(b.String())
}

func mark(b *strings.Builder, sign, text string) {
	for l := range strings.Lines(text) {
		b.WriteString(sign + strings.TrimSuffix(l, "\n") + "\n")
	}
}

func short(texts ...string) bool {
	n := 0
	for _, s := range texts {
		n += strings.Count(s, "\n")
	}
	return n <= maxDiffLines
}

// replaced is what Edit makes of a text. Line ends are looked at as plain newlines, as Edit does.
func replaced(was, before, after string, all bool) (string, bool) {
	was, before = strings.ReplaceAll(was, "\r\n", "\n"), strings.ReplaceAll(before, "\r\n", "\n")
	switch n := strings.Count(was, before); {
	case before == "":
		return after, was == ""
	case n == 0 || n > 1 && !all:
		return was, false
	}
	return strings.ReplaceAll(was, before, after), true
}

// readText reads a regular file of text; one that is missing is empty and readable.
func readText(path string) (text string, exists, readable bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if os.IsNotExist(err) {
		return "", false, true
	}
	if err != nil {
		return "", true, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", true, false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxShownFile+1))
	if err != nil || len(b) > maxShownFile || bytes.IndexByte(b, 0) >= 0 {
		return "", true, false
	}
	return string(b), true, true
}

// rest adds the other fields by name.
func (t *callText) rest(fields map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var s string
		if json.Unmarshal(fields[name], &s) != nil {
			s = string(fields[name])
		}
		label := safe.Shown(name, 60) + ":"
		if !strings.Contains(s, "\n") {
			t.line(label + " " + s)
			continue
		}
		t.put(asks.Text, label)
		from := len(t.out)
		t.text(s)
		for i := from; i < len(t.out); i++ {
			t.out[i].Text = "  " + t.out[i].Text
		}
	}
}
