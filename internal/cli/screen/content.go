package screen

import (
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/model"
)

// Content is a draft as a message: a part for each of its parts, in their order, with the text as it was written.
func Content(d composer.Draft) []model.Part {
	out := make([]model.Part, 0, len(d.Parts))
	for _, p := range d.Parts {
		switch p := p.(type) {
		case composer.Text:
			out = append(out, model.TextPart(string(p)))
		case composer.Pasted:
			out = append(out, model.TextPart(p.Text))
		case composer.Image:
			out = append(out, model.Part{Type: model.BlockImage, Media: p.Media, Data: p.Data})
		}
	}
	return out
}

// DraftOf is a message that was taken back, to be written on. A long text of it is an attachment, as it was when it was
// pasted; the names of images are not in a message. Documents, which a composer cannot hold, are left out: ok is false.
func DraftOf(parts []model.Part) (d composer.Draft, ok bool) {
	ok = true
	for _, p := range parts {
		switch p.Type {
		case model.BlockText:
			d.Parts = append(d.Parts, composer.TextOrPasted(string(p.Data)))
		case model.BlockImage:
			d.Parts = append(d.Parts, composer.Image{Name: "taken back", Media: p.Media, Data: p.Data})
		default:
			ok = false
		}
	}
	return d, ok
}
