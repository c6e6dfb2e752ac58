package diffview

import (
	"strconv"
	"strings"
)

// parse reads unified diffs. Lines that belong to none say something about the file, or are dropped.
func parse(text string) []file {
	var files []file
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	current := func() *file {
		if len(files) == 0 {
			files = append(files, file{})
		}
		return &files[len(files)-1]
	}
	for i := 0; i < len(lines); i++ {
		l := strings.TrimSuffix(lines[i], "\r")
		switch {
		case strings.HasPrefix(l, "diff "):
			_, name, _ := strings.Cut(l, " b/")
			files = append(files, file{name: name})
		case strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			called := name(l, strings.TrimSuffix(lines[i+1], "\r"))
			if f := current(); f.name != called || len(f.hunks) > 0 {
				files = append(files, file{})
			}
			current().name = called
			i++
		case strings.HasPrefix(l, "@@"):
			a, b, before, after, ok := place(l)
			if !ok {
				continue
			}
			h, read := readHunk(lines[i+1:], a, b, before, after)
			h.hot = changed(h.rows[:min(len(h.rows), maxRows)])
			current().hunks = append(current().hunks, h)
			i += read
		case strings.HasPrefix(l, "Binary files "), strings.HasPrefix(l, "GIT binary patch"):
			current().note = "binary"
		case strings.HasPrefix(l, "rename to "), strings.HasPrefix(l, "new file"), strings.HasPrefix(l, "deleted file"):
			if current().note == "" {
				current().note = l
			}
		}
	}
	// What says something about a file stands in the place of its lines only if it has none.
	out := files[:0]
	for _, f := range files {
		if len(f.hunks) > 0 {
			f.note = ""
		}
		if f.name != "" || f.note != "" || len(f.hunks) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// name is what a file is called by the two lines above its diff.
func name(before, after string) string {
	clean := func(s, side string) string {
		s, _, _ = strings.Cut(s[len("--- "):], "\t")
		return strings.TrimPrefix(s, side)
	}
	if n := clean(after, "b/"); n != "/dev/null" {
		return n
	}
	return clean(before, "a/")
}

// place reads @@ -12,3 +14,5 @@.
func place(l string) (a, b, before, after int, ok bool) {
	f := strings.Fields(l)
	if len(f) < 4 || f[0] != "@@" || f[1][0] != '-' || f[2][0] != '+' {
		return 0, 0, 0, 0, false
	}
	number := func(s string) (at, n int, ok bool) {
		first, rest, two := strings.Cut(s, ",")
		at, err := strconv.Atoi(first)
		n = 1
		if two && err == nil {
			n, err = strconv.Atoi(rest)
		}
		return at, n, err == nil && at >= 0 && n >= 0
	}
	a, before, ok = number(f[1][1:])
	b, after, ok2 := number(f[2][1:])
	return a, b, before, after, ok && ok2
}

// readHunk reads so many lines of each side, or as many as there are, and returns how many lines that took.
func readHunk(lines []string, a, b, before, after int) (h hunk, read int) {
	for read < len(lines) {
		l := lines[read]
		sign := byte(' ')
		if l != "" {
			sign, l = l[0], l[1:]
		}
		switch {
		case sign == '\\' && len(h.rows) > 0:
			h.rows[len(h.rows)-1].open = true
			read++
			continue
		case before <= 0 && after <= 0, sign != ' ' && sign != '+' && sign != '-':
			return h, read
		}
		if sign != '+' {
			before--
		}
		if sign != '-' {
			after--
		}
		h.add(row{sign: sign, text: l}, &a, &b)
		read++
	}
	return h, read
}
