package main

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// palette is a terminal's colours: the sixteen, and what is written on what.
type palette struct {
	front, back string
	colours     [16]string
}

var (
	dark = palette{"#d4d7dd", "#1b1e24", [16]string{
		"#3b4048", "#e06c75", "#8cc265", "#d8a657", "#61afef", "#c678dd", "#4fb9c4", "#d4d7dd",
		"#5c6370", "#ef8a92", "#a5d884", "#e9c07a", "#84c5ff", "#dd9cf0", "#74d3dd", "#ffffff",
	}}
	light = palette{"#24292f", "#ffffff", [16]string{
		"#24292f", "#cf222e", "#116329", "#8a5a00", "#0969da", "#8250df", "#0b6f7a", "#6e7781",
		"#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f",
	}}
)

// The size of a cell and of the space around all of them, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 14
)

// look is how a cell is written.
type look struct {
	fore, back                                  string // empty: the terminal's own
	bold, faint, italic, under, struck, swapped bool
}

// picture draws what a terminal shows: text with the sequences that tmux writes, which are of colour and nothing else.
func picture(text string, width, height int, p palette) []byte {
	var b bytes.Buffer
	w, h := float64(width)*cellWidth+2*margin, height*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s" stroke="#8c959f" stroke-opacity="0.4"/>`+"\n", p.back)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="%s">`+"\n", p.front)
	var l look
	for y, line := range strings.Split(text, "\n") {
		x, rest := 0, line
		var state byte
		for rest != "" {
			seq, n, size, next := ansi.DecodeSequence(rest, state, nil)
			state, rest = next, rest[size:]
			if n == 0 {
				l = l.after(seq, p)
				continue
			}
			// A run: all cells that look alike, and have a width of one each.
			run, cells := seq, n
			for n == 1 && rest != "" && !block(seq) {
				seq, more, size, next := ansi.DecodeSequence(rest, state, nil)
				if more != 1 || block(seq) {
					break
				}
				state, rest, run, cells = next, rest[size:], run+seq, cells+1
			}
			l.cells(&b, run, x, y, cells, p)
			x += cells
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// block is what fills a part of its cell from the left: fonts leave gaps between such.
func block(s string) bool { return s >= "█" && s <= "▏" }

// cells draws a run.
func (l look) cells(b *bytes.Buffer, text string, x, y, cells int, p palette) {
	fore, back := l.fore, l.back
	if l.swapped {
		fore, back = orElse(back, p.back), orElse(fore, p.front)
	}
	left, top, wide := margin+float64(x)*cellWidth, margin+y*cellHeight, float64(cells)*cellWidth
	if back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, wide, cellHeight, back)
	}
	bare := strings.TrimLeft(text, " ")
	left += float64(len(text)-len(bare)) * cellWidth
	bare = strings.TrimRight(bare, " ")
	if bare == "" {
		return
	}
	style := ""
	for _, s := range []struct {
		on   bool
		text string
	}{
		{fore != "", ` fill="` + fore + `"`},
		{l.bold, ` font-weight="bold"`},
		{l.faint, ` opacity="0.6"`},
		{l.italic, ` font-style="italic"`},
		{l.under, ` text-decoration="underline"`},
		{l.struck, ` text-decoration="line-through"`},
	} {
		if s.on {
			style += s.text
		}
	}
	if block(text) {
		r := []rune(text)[0]
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.2f" height="%d"%s/>`+"\n", left, top, cellWidth*float64('▏'-r+1)/8, cellHeight, orElse(style, ` fill="`+p.front+`"`))
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", left, top+13, float64(ansi.StringWidth(bare))*cellWidth, style,
		strings.ReplaceAll(html.EscapeString(bare), " ", "\u00a0"))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// after is the look after a sequence: of those that are not about colour none comes from tmux.
func (l look) after(seq string, p palette) look {
	body, _ := strings.CutPrefix(seq, "\x1b[")
	body, ok := strings.CutSuffix(body, "m")
	if !ok {
		return l
	}
	for _, code := range strings.Split(body, ";") {
		n, _ := strconv.Atoi(code)
		switch {
		case n == 0:
			l = look{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 3:
			l.italic = true
		case n == 4:
			l.under = true
		case n == 7:
			l.swapped = true
		case n == 9:
			l.struck = true
		case n >= 30 && n <= 37:
			l.fore = p.colours[n-30]
		case n == 39:
			l.fore = ""
		case n >= 40 && n <= 47:
			l.back = p.colours[n-40]
		case n == 49:
			l.back = ""
		case n >= 90 && n <= 97:
			l.fore = p.colours[n-82]
		case n >= 100 && n <= 107:
			l.back = p.colours[n-92]
		}
	}
	return l
}
