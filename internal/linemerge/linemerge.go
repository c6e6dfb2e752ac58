// Package linemerge brings two versions of a text together that were both made from a third.
package linemerge

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Merge gives base with what mine and theirs have each made of it, if they changed different lines, with an unchanged line
// between them at least, or changed the same lines alike. Not ok: they changed the same lines, or neighbouring ones, in
// different ways, or put different lines at the same place, and only a person can tell what is wanted. A line ends with
// its \n; what else is in it does not matter.
func Merge(base, mine, theirs string) (merged string, ok bool) {
	ours, others := udiff.Lines(base, mine), udiff.Lines(base, theirs)
	var out strings.Builder
	at := 0
	take := func(e udiff.Edit) {
		out.WriteString(base[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	for len(ours) > 0 && len(others) > 0 {
		x, y := ours[0], others[0]
		switch {
		case x == y:
			take(x)
			ours, others = ours[1:], others[1:]
		case x.End < y.Start:
			take(x)
			ours = ours[1:]
		case y.End < x.Start:
			take(y)
			others = others[1:]
		default:
			return "", false
		}
	}
	for _, e := range append(ours, others...) {
		take(e)
	}
	out.WriteString(base[at:])
	return out.String(), true
}
