package composer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// editMsg is a file that waits for the editor.
type editMsg struct {
	path string
	err  error
}

// editedMsg is what the editor left.
type editedMsg struct {
	text string
	err  error
}

// openEditor gives the text to the person's editor, in a file. Attachments are in it by what they show.
func (c *Composer) openEditor() tea.Cmd {
	if len(c.cfg.Editor) == 0 || c.cfg.Temp == nil {
		c.note = note{text: "there is no editor: set $VISUAL or $EDITOR", wrong: true}
		return nil
	}
	c.close()
	text, temp := c.labelled(c.buf.text())+"\n", c.cfg.Temp
	return func() tea.Msg {
		path, err := temp(text)
		return editMsg{path, err}
	}
}

// edit runs the editor on the terminal.
func (c *Composer) edit(msg editMsg) tea.Cmd {
	if msg.err != nil {
		c.edited(editedMsg{err: msg.err})
		return nil
	}
	argv := append(slices.Clone(c.cfg.Editor), msg.path)
	return tea.ExecProcess(exec.Command(argv[0], argv[1:]...), func(err error) tea.Msg { return leftBehind(msg.path, err) })
}

// leftBehind reads and removes the file that an editor is done with.
func leftBehind(path string, failed error) tea.Msg {
	defer os.Remove(path)
	if failed != nil {
		return editedMsg{err: failed}
	}
	f, err := os.Open(path)
	if err != nil {
		return editedMsg{err: err}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPaste+1))
	if err == nil && len(b) > maxPaste {
		err = errors.New("the text has more than " + size(maxPaste))
	}
	return editedMsg{string(b), err}
}

// edited puts what the editor left in the place of the text; after a failure the text stays.
func (c *Composer) edited(msg editedMsg) {
	if msg.err != nil {
		c.note = note{text: fmt.Sprintf("the editor failed: %v; what was written is still here", msg.err), wrong: true}
		return
	}
	text := clean(strings.TrimPrefix(msg.text, "\ufeff"))
	if text = strings.TrimSuffix(text, "\n"); text == c.labelled(c.buf.text()) {
		return
	}
	c.recalled, c.buf.joined = false, false
	c.buf.set(c.fitting(c.unlabelled(text)))
	c.buf.joined = false
}

// labelled is a text with what chips show in their place.
func (c *Composer) labelled(text string) string {
	var b strings.Builder
	for _, r := range text {
		if isChip(r) {
			b.WriteString(c.labelOf(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unlabelled puts the chips of the present text back where their labels stand, each once.
func (c *Composer) unlabelled(text string) string {
	for _, r := range c.buf.text() {
		if isChip(r) {
			text = strings.Replace(text, c.labelOf(r), string(r), 1)
		}
	}
	return text
}
