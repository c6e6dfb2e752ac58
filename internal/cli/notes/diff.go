package notes

import (
	"fmt"
	"strings"
)

// around is how many lines are shown before and after a change.
const around = 3

// diff shows how a file changes, where what changes is in one place.
func diff(name, before, after string) []string {
	old, now := split(before), split(after)
	from := 0
	for from < len(old) && from < len(now) && old[from] == now[from] {
		from++
	}
	end := 0
	for end < len(old)-from && end < len(now)-from && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	if from == len(old) && from == len(now) {
		return nil
	}
	head := "--- a/" + name
	if len(old) == 0 {
		head = "--- /dev/null"
	}
	top, below := max(0, from-around), min(end, around)
	out := []string{head, "+++ b/" + name, fmt.Sprintf("@@ -%s +%s @@", span(top, len(old)-end+below), span(top, len(now)-end+below))}
	add := func(mark string, list []string) {
		for _, l := range list {
			out = append(out, mark+l)
		}
	}
	add(" ", old[top:from])
	add("-", old[from:len(old)-end])
	add("+", now[from:len(now)-end])
	add(" ", now[len(now)-end:len(now)-end+below])
	return out
}

// span names lines as a unified diff does.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
