package screen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/perdure/perdure/internal/ui/composer"
)

// keptPart is a part of a draft in its file: one of them is there.
type keptPart struct {
	Text   string `json:"text,omitempty"`
	Pasted string `json:"pasted,omitempty"`
	Lines  int    `json:"lines,omitempty"` // of what was pasted
	Image  string `json:"image,omitempty"` // the name of the file that it was
	Media  string `json:"media,omitempty"`
	Data   []byte `json:"data,omitempty"`
}

func keptDraft(d composer.Draft) ([]byte, error) {
	if d.Empty() {
		return nil, nil
	}
	var kept []keptPart
	for _, p := range d.Parts {
		switch p := p.(type) {
		case composer.Text:
			kept = append(kept, keptPart{Text: string(p)})
		case composer.Pasted:
			kept = append(kept, keptPart{Pasted: p.Text, Lines: p.Lines})
		case composer.Image:
			kept = append(kept, keptPart{Image: p.Name, Media: p.Media, Data: p.Data})
		}
	}
	return json.Marshal(kept)
}

// draftKept is the draft of a file; empty if it is none.
func draftKept(b []byte) (d composer.Draft) {
	var kept []keptPart
	if json.Unmarshal(b, &kept) != nil {
		return d
	}
	for _, p := range kept {
		switch {
		case p.Text != "":
			d.Parts = append(d.Parts, composer.Text(p.Text))
		case p.Pasted != "":
			d.Parts = append(d.Parts, composer.Pasted{Text: p.Pasted, Lines: max(p.Lines, 1)})
		case len(p.Data) > 0 && strings.HasPrefix(p.Media, "image/"):
			d.Parts = append(d.Parts, composer.Image{Name: p.Image, Media: p.Media, Data: p.Data})
		}
	}
	return d
}

// draftName is the file of what is written here: of a session that is not made yet for this directory, and of one that is
// looked at apart from what its holder writes.
func (l *link) draftName() (id, name string) {
	id, held, err := l.there()
	switch {
	case err != nil:
		return "", unmadeName(l.dir)
	case held == nil:
		return id, "attached.json"
	}
	return id, "draft.json"
}

func unmadeName(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:16]) + ".json"
}

// KeepDraft keeps what is written, so that a kill does not take it along; an empty draft is forgotten.
func (l *link) KeepDraft(_ context.Context, d composer.Draft) error {
	done, err := l.enter()
	if err != nil {
		return err
	}
	defer done()
	b, err := keptDraft(d)
	if err != nil {
		return err
	}
	id, name := l.draftName()
	if id != "" && l.cfg.ID == "" { // it was made here, by what was written then
		_ = l.home.KeepDraft("", unmadeName(l.dir), nil)
	}
	return l.home.KeepDraft(id, name, b)
}

// written is what was written here and not sent when this screen was left last.
func (l *link) written() composer.Draft {
	b, err := l.home.Draft(l.draftName())
	if err != nil {
		return composer.Draft{} // whoever writes something is told that it cannot be kept
	}
	return draftKept(b)
}
