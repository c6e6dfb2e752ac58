package workflow

import (
	"fmt"

	"github.com/perdure/perdure/internal/session"
)

// maxEffects bounds the effects that a document lists; the newest ones are.
const maxEffects = 50

// Fit writes a document that is no longer than [MaxDocument]. What has to go goes in this order, and is named in the
// document: older effects, older notes, and then the ends of texts. What others keep in it stays: where that leaves no
// room, it is not ok.
func (d *Document) Fit() (b []byte, ok bool) {
	out := *d
	out.LeftOut = nil
	dropped := len(d.Effects) - maxEffects
	if dropped > 0 {
		out.Effects = out.Effects[dropped:]
	}
	out.LeftOut = leftOut(nil, max(0, dropped), "side effects")
	b = out.JSON()
	for rung := 0; len(b) > MaxDocument && rung <= rungLast; rung++ {
		out.shrink(d, rung)
		b = out.JSON()
	}
	return b, len(b) <= MaxDocument
}

// rungLast is the highest rung of shrinking.
const rungLast = 10

// shrink makes a document smaller than the rung before did; whole is what it was at first.
func (d *Document) shrink(whole *Document, rung int) {
	d.Effects = d.Effects[len(d.Effects)-len(d.Effects)/2:]
	keep := 1 << (rungLast - rung) // notes of each list
	d.LeftOut = leftOut(nil, len(whole.Effects)-len(d.Effects), "side effects")
	from := whole.noteLists()
	for i, l := range d.noteLists() {
		all := *from[i].notes
		*l.notes = all[len(all)-min(len(all), keep):]
		d.LeftOut = leftOut(d.LeftOut, len(all)-len(*l.notes), l.key)
	}
	if rung < 3 {
		return
	}
	most := 4 << (rungLast - rung) // bytes of a text
	d.Plan = make([]Step, 0, len(whole.Plan))
	cut := 0
	for _, s := range whole.Plan {
		short := s
		for _, text := range []*string{&short.Content, &short.Output, &short.Blocker, &short.Reason, &short.ActiveForm} {
			if len(*text) > most {
				*text = session.CutEnd(*text, most) + "…"
				cut++
			}
		}
		d.Plan = append(d.Plan, short)
	}
	d.LeftOut = leftOut(d.LeftOut, cut, "ends of texts")
	for _, l := range d.noteLists() {
		for i, n := range *l.notes {
			if len(n.Text)+len(n.Reason) > 2*most {
				n.Text, n.Reason = session.CutEnd(n.Text, most)+"…", session.CutEnd(n.Reason, most)
				*l.notes = append((*l.notes)[:i:i], append([]Note{n}, (*l.notes)[i+1:]...)...)
			}
		}
	}
}

func leftOut(words []string, n int, what string) []string {
	if n > 0 {
		words = append(words, fmt.Sprintf("%d %s", n, what))
	}
	return words
}
