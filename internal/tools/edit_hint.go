package tools

import (
	"bytes"
	"fmt"
	"strconv"
)

// Bounds of the search for what a model may have meant.
const (
	hintLines = 50_000 // of the file
	hintWidth = 400    // bytes of a line that are compared
	hintShown = 160    // bytes of a line that are shown
)

func itoa(n int) string { return strconv.Itoa(n) }

// nearest says where in a file something like want is, or nothing. It begins with a separator.
func nearest(env Env, norm, want []byte) string {
	if numbered(want) {
		return ": it has Read's line numbers in it; leave them and the tab after them out"
	}
	wanted := bytes.Split(bytes.Trim(want, "\n"), []byte("\n"))
	lines := bytes.SplitN(norm, []byte("\n"), hintLines)
	first := bytes.TrimSpace(wanted[0])
	if len(first) == 0 || len(norm) == 0 {
		return "; read the file again and copy the text exactly"
	}
	best, bestAgree := -1, -1
	for i := range lines {
		if !bytes.Equal(bytes.TrimSpace(lines[i]), first) {
			continue
		}
		if n := agree(lines[i:], wanted); n > bestAgree {
			best, bestAgree = i, n
		}
	}
	switch {
	case best >= 0 && bestAgree == len(wanted):
		return fmt.Sprintf(": line %d matches but for white space; copy it exactly, with its tabs and spaces:\n%s",
			best+1, numberedLine(env, lines, best))
	case best >= 0:
		at := best + bestAgree
		return fmt.Sprintf(": its first line is line %d of the file, but its line %d differs:\n%s",
			best+1, bestAgree+1, numberedLine(env, lines, at))
	}
	if i := mostAlike(lines, first); i >= 0 {
		return fmt.Sprintf(": the nearest is line %d:\n%s", i+1, numberedLine(env, lines, i))
	}
	return ", nor anything like it; read the file again"
}

// agree counts how many lines from the start are equal but for white space around them.
func agree(lines, wanted [][]byte) int {
	n := 0
	for n < len(wanted) && n < len(lines) && bytes.Equal(bytes.TrimSpace(lines[n]), bytes.TrimSpace(wanted[n])) {
		n++
	}
	return n
}

// numberedLine shows line i as Read does; after the last line it says that the file ends.
func numberedLine(env Env, lines [][]byte, i int) string {
	if i >= len(lines) {
		return "(the file ends there)"
	}
	b, _ := env.hide(lines[i], false)
	b = b[:min(len(b), hintShown)]
	return fmt.Sprintf("%6d\t%s", i+1, bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// numbered tells that every line of a text starts with a number and a tab or arrow, as Read shows them.
func numbered(b []byte) bool {
	for _, line := range bytes.Split(bytes.Trim(b, "\n"), []byte("\n")) {
		line = bytes.TrimLeft(line, " ")
		digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
		if digits == 0 || !bytes.HasPrefix(line[digits:], []byte("\t")) && !bytes.HasPrefix(line[digits:], []byte("→")) {
			return false
		}
	}
	return true
}

// mostAlike gives the line that shares the most pairs of bytes with want, if it shares more than half; else -1.
func mostAlike(lines [][]byte, want []byte) int {
	pairs := map[[2]byte]int{}
	want = want[:min(len(want), hintWidth)]
	for i := 0; i+1 < len(want); i++ {
		pairs[[2]byte{want[i], want[i+1]}]++
	}
	best, bestScore := -1, 0.5
	seen := map[[2]byte]int{}
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		line = line[:min(len(line), hintWidth)]
		if len(line) < 2 || len(line) > 3*len(want) || len(want) > 3*len(line) {
			continue
		}
		clear(seen)
		shared := 0
		for k := 0; k+1 < len(line); k++ {
			p := [2]byte{line[k], line[k+1]}
			if seen[p]++; seen[p] <= pairs[p] {
				shared++
			}
		}
		if score := 2 * float64(shared) / float64(len(line)+len(want)-2); score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}
