package composer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func manyLines(n int) string { return strings.TrimSuffix(strings.Repeat("line\n", n), "\n") }

// Goal: a paste of more than 200 lines or 8 KB is one thing in the text, which goes as one, and is sent whole and in its
// place. No line of it is left out: an input of another library keeps the first 10,000 lines and says nothing.
func TestLongPastesAreAttached(t *testing.T) {
	p := newPerson(t)
	p.types("see ")
	p.paste(manyLines(12_412) + "\r\n")
	p.types(" ok")
	p.wrote("see [pasted 12,412 lines] ok|")
	p.press("left", "left", "left", "left")
	p.wrote("see |[pasted 12,412 lines] ok")
	p.press("right", "backspace")
	p.wrote("see | ok")
	p.press("ctrl+_")
	p.press("end", "enter")
	d := p.sent[0]
	if len(d.Parts) != 3 || d.Parts[0] != Text("see ") || d.Parts[2] != Text(" ok") {
		t.Fatalf("%d parts: %.200v", len(d.Parts), d.Parts)
	}
	if got := d.Parts[1].(Pasted); got.Lines != 12_412 || got.Text != manyLines(12_412)+"\n" {
		t.Errorf("%d lines, %d bytes", got.Lines, len(got.Text))
	}
	p.press("up")
	p.wrote("see [pasted 12,412 lines] ok|")
	if got := p.Draft(); len(got.Parts) != 3 || got.Parts[1] != d.Parts[1] {
		t.Errorf("recalled: %.200v", got.Parts)
	}
}

// Goal: the bounds are 200 lines and 8 KB; several pastes are numbered; words go over each as over one.
func TestPastesAreNumbered(t *testing.T) {
	p := newPerson(t)
	p.paste(manyLines(200))
	if len(p.buf.lines) != 200 {
		t.Errorf("200 lines became %d", len(p.buf.lines))
	}
	p.press("ctrl+c")
	p.paste(manyLines(201))
	p.types(" ")
	p.paste(strings.Repeat("x", 8<<10+1))
	p.paste(manyLines(201))
	p.wrote("[pasted 201 lines] [pasted 8 KB #2][pasted 201 lines #3]|")
	p.press("ctrl+w", "ctrl+w")
	p.wrote("[pasted 201 lines] |")
	p.press("ctrl+y", "alt+b", "alt+b")
	p.wrote("[pasted 201 lines] |[pasted 8 KB #2][pasted 201 lines #3]")
	p.press("end", "alt+backspace")
	p.wrote("[pasted 201 lines] [pasted 8 KB #2]|")
	if n := len(p.Draft().Parts); n != 3 {
		t.Errorf("%d parts", n)
	}
	p.paste(strings.Repeat("x", maxPaste+1))
	if got := p.screen(); !strings.Contains(got, "left out") {
		t.Errorf("what is left out is not said:\n%s", got)
	}
}

func png(n int) Image { return Image{Name: "shot.png", Media: "image/png", Data: make([]byte, n)} }

// Goal: the path of an image becomes the image, in all the ways in which terminals write one that is dropped on them.
func TestPathsOfImages(t *testing.T) {
	for pasted, path := range map[string]string{
		"/tmp/shot.png": "/tmp/shot.png", "/tmp/shot.png ": "/tmp/shot.png", "'/tmp/a shot.PNG'": "/tmp/a shot.PNG", `"/tmp/a shot.webp"`: "/tmp/a shot.webp",
		`/tmp/a\ shot\'s.jpeg`: "/tmp/a shot's.jpeg", "file:///tmp/a%20shot.gif\r\n": "/tmp/a shot.gif", "file://localhost/tmp/日本.jpg": "/tmp/日本.jpg",
		"/tmp/a shot.png": "/tmp/a shot.png", "~/shot.png": "~/shot.png", "shot.png": "shot.png", "/tmp/shot\u202fat 3.png": "/tmp/shot\u202fat 3.png",
	} {
		p := newPerson(t)
		p.src.images[path] = png(120 << 10)
		p.types("what is ")
		p.paste(pasted)
		p.wrote("what is [image shot.png 120 KB]|")
		p.press("backspace")
		p.wrote("what is |")
	}
	for _, text := range []string{"http://x.de/shot.png", "rename shot.png to a.png", "file://host/shot.png", "/tmp/notes.txt", "/tmp/none.png", "a\nb.png"} {
		p := newPerson(t)
		p.src.images["/shot.png"] = png(1)
		p.paste(text)
		p.wrote(text + "|")
		if p.Height() != strings.Count(text, "\n")+1 {
			t.Errorf("%q:\n%s", text, p.screen())
		}
	}
	p := newPerson(t)
	p.src.images["/a.png"], p.src.images["/b c.png"] = png(1), png(1)
	p.paste(`/a.png '/b c.png'`)
	p.wrote("[image shot.png 1 B] [image shot.png 1 B #2]|")
}

// Goal: a path that is typed becomes the image when the word ends, if it says where it begins; a name in a sentence
// does not.
func TestTypedPaths(t *testing.T) {
	p := newPerson(t)
	p.src.images["./shot.png"], p.src.images["shot.png"] = png(2000), png(2000)
	p.types("rename shot.png like ./shot.png please")
	p.wrote("rename shot.png like [image shot.png 2 KB] please|")
	for range 8 {
		p.press("ctrl+_")
	}
	if got := p.text(); strings.Contains(got, "[image") {
		t.Errorf("undone: %q", got)
	}
	p.press("ctrl+c")
	p.types("see ./shot.png")
	p.press("enter")
	if len(p.sent) != 1 || len(p.sent[0].Parts) != 2 || p.sent[0].Parts[1].(Image).Media != "image/png" {
		t.Errorf("sent: %.200v", p.sent)
	}
}

// Goal: a message waits for its images; what becomes of it is said; nothing goes without its image unseen.
func TestSendingWaitsForImages(t *testing.T) {
	p := newPerson(t)
	p.src.images["/a.png"] = png(10)
	p.hold = true
	p.paste("/a.png")
	p.wrote("[reading a.png]|")
	p.press("enter", "left")
	if len(p.sent) != 0 || !strings.Contains(p.screen(), "reading a.png") {
		t.Errorf("sent %v:\n%s", p.sent, p.screen())
	}
	p.release()
	if len(p.sent) != 1 || !p.Empty() {
		t.Fatalf("sent %v", p.sent)
	}
	p.hold = true
	p.paste("/a.png")
	p.press("enter")
	p.types("!") // there is more to say
	p.release()
	p.wrote("[image shot.png 10 B]!|")
	if len(p.sent) != 1 {
		t.Error("it was sent while it was written")
	}
	p.press("ctrl+c")
	p.hold = true
	p.paste("/a.png")
	p.types(" x")
	p.src.err = errFake
	p.press("enter")
	p.release()
	p.wrote("/a.png x|")
	if got := p.screen(); len(p.sent) != 1 || !strings.Contains(got, "a.png is not attached: the\ndisk") {
		t.Errorf("sent %d:\n%s", len(p.sent), got)
	}
	p.src.err = nil
	p.press("ctrl+c")
	p.src.images["/a.png"] = png(MaxImage + 1)
	p.SetSize(70, 12)
	p.paste("/a.png")
	if got := p.screen(); !strings.Contains(got, "it has 5.0 MB, more than 5.0 MB") {
		t.Errorf("%s", got)
	}
	p.wrote("/a.png|")
}

// Goal: what nothing can bring back is forgotten, since it may be large.
func TestAttachmentsAreForgotten(t *testing.T) {
	p := newPerson(t)
	for range 50 {
		p.paste(manyLines(300))
		p.press("enter")
	}
	if n := len(p.chips); n > 1 {
		t.Errorf("%d attachments are kept", n)
	}
}

// editor has a composer with an editor that is a script; what runs is run here, and not on a terminal.
func editing(t *testing.T, script string) (p *person, dir string) {
	dir = t.TempDir()
	file := filepath.Join(dir, "editor")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return newPerson(t, func(c *Config) {
		c.Editor = []string{file}
		c.Temp = func(text string) (string, error) {
			f := filepath.Join(dir, "draft.md")
			return f, os.WriteFile(f, []byte(text), 0o600)
		}
	}), dir
}

// screenModel is a program around a composer, as an owner is one.
type screenModel struct{ *person }

func (m screenModel) Init() tea.Cmd  { return nil }
func (m screenModel) View() tea.View { return tea.NewView(m.person.View()) }
func (m screenModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.person.Update(msg)
	if _, ok := msg.(editedMsg); ok {
		return m, tea.Quit
	}
	return m, cmd
}

// Goal: the text goes to the editor in a file and comes back, with what is attached; the file is removed; an editor that
// fails changes nothing.
func TestEditor(t *testing.T) {
	for _, tc := range []struct{ name, script, want, says string }{
		{"changed", `sed 's/one/two/' "$1" > "$1.x" && mv "$1.x" "$1"; echo more >> "$1"`, "two [pasted 300 lines]\nmore|", ""},
		{"unchanged", "true", "one [pasted 300 lines]|", ""},
		{"taken out", `echo none > "$1"`, "none|", ""},
		{"failed", `echo lost > "$1"; exit 3`, "one [pasted 300 lines]|", "the editor failed: exit status 3"},
		{"removed", `rm "$1"`, "one [pasted 300 lines]|", "the editor failed"},
		{"escapes", `printf 'a\033[31mb\r\n\n' > "$1"`, "ab\n|", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, dir := editing(t, tc.script)
			p.SetSize(80, 12)
			p.types("one ")
			p.paste(manyLines(300))
			prog := tea.NewProgram(screenModel{p}, tea.WithInput(strings.NewReader("")), tea.WithOutput(&strings.Builder{}), tea.WithoutSignals())
			go func() {
				prog.Send(press("ctrl+x"))
				prog.Send(press("ctrl+e"))
			}()
			if _, err := prog.Run(); err != nil {
				t.Fatal(err)
			}
			p.wrote(tc.want)
			if _, err := os.Stat(filepath.Join(dir, "draft.md")); err == nil {
				t.Error("the file is still there")
			}
			if got := p.screen(); !strings.Contains(got, tc.says) {
				t.Errorf("%s", got)
			}
		})
	}
	p := newPerson(t)
	p.press("ctrl+g")
	if got := p.screen(); !strings.Contains(got, "$EDITOR") {
		t.Errorf("%s", got)
	}
}

// Goal: drafts go in and out unchanged.
func TestDraftsGoInAndOut(t *testing.T) {
	p := newPerson(t)
	d := Draft{[]Part{Text("a\n"), Pasted{"x\ny", 2}, Text(" b "), png(3), Pasted{"z\nz", 2}, Text("c")}}
	p.SetDraft(d)
	if got := fmt.Sprint(p.Draft()); got != fmt.Sprint(d) {
		t.Errorf("%s", got)
	}
	p.wrote("a\n[pasted 2 lines] b [image shot.png 3 B][pasted 2 lines #2]c|")
	p.SetDraft(Draft{})
	if !p.Empty() || p.Typing() {
		t.Error("something is left")
	}
	p.SetDraft(Draft{[]Part{Text(strings.Repeat("x", maxText+1))}})
	if got, ok := p.Draft().Parts[0].(Pasted); !ok || len(got.Text) != maxText+1 {
		t.Error("a text that is too long is no attachment")
	}
}
