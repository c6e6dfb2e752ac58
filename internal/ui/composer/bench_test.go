package composer

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// full is a composer with 200 lines of mixed text.
func full(tb testing.TB) *person {
	p := newPerson(tb)
	p.SetSize(100, 30)
	line := "some words of a line that is longer than the screen is wide, with 日本語 and 👩‍👩‍👧‍👦 in it, and then some more words\n"
	p.buf.insert(strings.Repeat(line, 200))
	p.press("ctrl+home")
	p.buf.up(-100, p.textWidth())
	return p
}

// BenchmarkKeyToView is one letter into a full composer, until it is drawn.
func BenchmarkKeyToView(b *testing.B) {
	p := full(b)
	for b.Loop() {
		p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		_, _, _ = p.Height(), p.View(), p.Cursor()
		p.Update(press("backspace"))
	}
}

// BenchmarkPaste10000 is a paste of 10,000 lines, until it is drawn.
func BenchmarkPaste10000(b *testing.B) {
	text := strings.Repeat("a line of a long paste, of eighty characters or so, as those of a log often are\r\n", 10_000)
	p := newPerson(b)
	for b.Loop() {
		p.Update(tea.PasteMsg{Content: text})
		_ = p.View()
		p.clear()
	}
}

// Goal: what a key costs does not grow with the text: in a text of 200 lines, and after a paste of 10,000, it is far below
// a frame. The bounds are a multiple of what is measured, for slow machines.
func TestKeysAreFast(t *testing.T) {
	p := full(t)
	began := time.Now()
	for range 100 {
		p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		_, _, _ = p.Height(), p.View(), p.Cursor()
	}
	if each := time.Since(began) / 100; each > 16*time.Millisecond {
		t.Errorf("a key takes %v", each)
	}
	began = time.Now()
	p.Update(tea.PasteMsg{Content: strings.Repeat("a line of 日本語 and others\r\n", 10_000)})
	_ = p.View()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a paste takes %v", took)
	}
}
