package screen

import (
	"strings"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/model"
)

// parts are a draft as a message: the text with names in the place of what is attached, then what is attached.
func parts(d composer.Draft) (text string, more []model.Part) {
	var b strings.Builder
	for _, p := range d.Parts {
		switch p := p.(type) {
		case composer.Text:
			b.WriteString(string(p))
		case composer.Pasted:
			n := len(more) + 1
			b.WriteString(talk.PastedName(n))
			more = append(more, talk.PastedPart(n, p.Lines, p.Text))
		case composer.Image:
			b.WriteString(imageName + p.Name + "]")
			more = append(more, model.Part{Type: model.BlockImage, Media: p.Media, Data: p.Data})
		}
	}
	return b.String(), more
}

const imageName = "[image "

// DraftOf is a message that was taken back, to be written on, as it was written: what is attached is in its place again.
// What a composer cannot hold, such as a document, is left out: ok is false.
func DraftOf(message []model.Part) (d composer.Draft, ok bool) {
	ok = true
	if len(message) == 0 {
		return d, ok
	}
	rest := string(message[0].Data)
	if message[0].Type != model.BlockText {
		rest, message = "", append([]model.Part{{}}, message...)
	}
	// put puts an attachment in the place of its name, which begins and ends with words; without one, at the end.
	put := func(begin, end string, attached func(name string) composer.Part) {
		before, after, found := strings.Cut(rest, begin)
		name, after, closed := strings.Cut(after, end)
		if !found || !closed {
			before, name, after = rest, "", ""
		}
		if before != "" {
			d.Parts = append(d.Parts, composer.Text(before))
		}
		d.Parts, rest = append(d.Parts, attached(name)), after
	}
	for n, p := range message[1:] {
		lines, text, pasted := talk.Pasted(p)
		switch {
		case pasted:
			name := talk.PastedName(n + 1)
			put(name[:len(name)-1], "]", func(string) composer.Part { return composer.Pasted{Text: text, Lines: lines} })
		case p.Type == model.BlockImage:
			put(imageName, "]", func(name string) composer.Part {
				return composer.Image{Name: name, Media: p.Media, Data: p.Data}
			})
		case p.Type == model.BlockText:
			put("\x00", "\x00", func(string) composer.Part { return composer.TextOrPasted(string(p.Data)) })
		default:
			ok = false
		}
	}
	if rest != "" {
		d.Parts = append(d.Parts, composer.Text(rest))
	}
	return d, ok
}
