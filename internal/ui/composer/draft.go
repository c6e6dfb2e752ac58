package composer

import "strings"

// Draft is what a person has written: text and what is attached to it, in its order.
type Draft struct{ Parts []Part }

// Part is a part of a draft: [Text], [Pasted] or [Image].
//
//sumtype:decl
type Part interface{ part() }

// Text is text as it was typed. It is clean: no control characters but newlines and tabs.
type Text string

// Pasted is a text that is too long to be edited here, as it was pasted, without control characters.
type Pasted struct {
	Text  string
	Lines int // at least 1
}

// Image is a picture that was read from a file.
type Image struct {
	Name  string // of the file, without its directory
	Media string // as in image/png: what its bytes say, not its name
	Data  []byte
}

func (Text) part()   {}
func (Pasted) part() {}
func (Image) part()  {}

// Label is what a part shows in a line: of text its beginning is the caller's to cut, of what is attached its name.
func Label(p Part) string {
	switch p := p.(type) {
	case Text:
		return strings.Join(strings.Fields(string(p)), " ")
	case Pasted:
		return pastedLabel(p)
	case Image:
		return imageLabel(p.Name, p.Data)
	}
	return ""
}

// Empty reports that there is nothing but blanks in it.
func (d Draft) Empty() bool {
	for _, p := range d.Parts {
		if t, ok := p.(Text); !ok || strings.TrimSpace(string(t)) != "" {
			return false
		}
	}
	return true
}

// String is the draft as text: pasted text in its place, of images what the screen shows of them.
func (d Draft) String() string {
	var b strings.Builder
	for _, p := range d.Parts {
		switch p := p.(type) {
		case Text:
			b.WriteString(string(p))
		case Pasted:
			b.WriteString(p.Text)
		case Image:
			b.WriteString(imageLabel(p.Name, p.Data))
		}
	}
	return b.String()
}

// beginning is as much of the draft as a search looks at, and maybe a little more.
func (d Draft) beginning() string {
	const most = 16 << 10
	var b strings.Builder
	for _, p := range d.Parts {
		text := Draft{[]Part{p}}.String()
		if b.Len()+len(text) > most {
			b.WriteString(strings.ToValidUTF8(text[:max(most-b.Len(), 0)], ""))
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

// draft is what a text with chips stands for.
func (c *Composer) draft(text string) Draft {
	var d Draft
	from := 0
	for i, r := range text {
		if !isChip(r) {
			continue
		}
		if i > from {
			d.Parts = append(d.Parts, Text(text[from:i]))
		}
		from = i + len(string(r))
		if a := c.chips[r]; a != nil && a.part != nil {
			d.Parts = append(d.Parts, a.part)
		} else if a != nil {
			d.Parts = append(d.Parts, Text(a.raw))
		}
	}
	if from < len(text) {
		d.Parts = append(d.Parts, Text(text[from:]))
	}
	return d
}

// chipped is the text with chips that stands for a draft.
func (c *Composer) chipped(d Draft) string {
	var b strings.Builder
	for _, p := range d.Parts {
		switch p := p.(type) {
		case Text:
			b.WriteString(c.fitting(clean(string(p))))
		case Pasted:
			b.WriteRune(c.pastedChip(p))
		case Image:
			b.WriteRune(c.chip(&attachment{part: p, label: imageLabel(p.Name, p.Data)}))
		}
	}
	return b.String()
}

// maxText bounds a text that an editor or the history brings, in bytes; of a longer one is made an attachment.
const maxText = 256 << 10

func (c *Composer) fitting(text string) string {
	if len(text) <= maxText {
		return text
	}
	return string(c.pastedChip(Pasted{Text: text, Lines: countLines(text)}))
}
