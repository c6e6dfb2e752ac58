package permission

import "strings"

// Bounds of what one word is expanded to. What lies beyond may be anything.
const (
	maxForms   = 256 // forms of one word
	maxValues  = 8   // values of one variable
	maxFollows = 3   // variables in the values of variables
)

// expand gives the forms that a word may take: known variables replaced by their values, braces by what stands in
// them. What cannot be known stays marked as such.
func (s *script) expand(w word) []string { return s.expandDeep(w, 0) }

func (s *script) expandDeep(w word, depth int) []string {
	forms := []string{""}
	rest, slots := w.form, w.slots
	for rest != "" {
		i := strings.IndexByte(rest, markUnknown)
		if i < 0 {
			i = len(rest)
		}
		forms = product(forms, []string{rest[:i]})
		if i == len(rest) {
			break
		}
		values := []string{"\x00"}
		if len(slots) > 0 {
			values, slots = s.values(slots[0], depth), slots[1:]
		}
		forms, rest = product(forms, values), rest[i+1:]
	}
	if !strings.ContainsRune(w.form, markOpen) {
		for i, form := range forms {
			forms[i] = unbraced(form)
		}
		return forms
	}
	var out []string
	for _, form := range forms {
		out = append(out, braces(form)...)
		if len(out) > maxForms {
			return []string{"\x00"}
		}
	}
	return out
}

// product joins every beginning with every end.
func product(heads, tails []string) []string {
	if len(heads)*len(tails) > maxForms {
		return []string{"\x00"}
	}
	out := make([]string, 0, len(heads)*len(tails))
	size := 0
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, h+t)
			size += len(h) + len(t)
		}
	}
	if size > 4*maxCommand {
		return []string{"\x00"}
	}
	return out
}

// braces expands the first brace expansion of a form, and then the others.
func braces(form string) []string {
	for at := 0; ; at++ {
		i := strings.IndexByte(form[at:], markOpen)
		if i < 0 {
			return []string{unbraced(form)}
		}
		at += i
		end, commas := closing(form, at)
		if end < 0 {
			continue
		}
		inside := form[at+1 : end]
		var alternatives []string
		switch {
		case len(commas) > 0:
			from := at + 1
			for _, c := range append(commas, end) {
				alternatives, from = append(alternatives, form[from:c]), c+1
			}
		case strings.Contains(inside, ".."):
			alternatives = []string{"\x00"}
		default:
			continue
		}
		var out []string
		tails := braces(form[end+1:])
		for _, alt := range alternatives {
			out = append(out, product(product([]string{unbraced(form[:at])}, braces(alt)), tails)...)
			if len(out) > maxForms {
				return []string{"\x00"}
			}
		}
		return out
	}
}

// closing finds the } of the { at i, and the commas that belong to it.
func closing(form string, i int) (end int, commas []int) {
	depth := 0
	for k := i; k < len(form); k++ {
		switch form[k] {
		case markOpen:
			depth++
		case markComma:
			if depth == 1 {
				commas = append(commas, k)
			}
		case markClose:
			if depth--; depth == 0 {
				if len(commas) == 0 && !strings.Contains(form[i:k], "..") {
					// Bash looks for a later one then: {a},b} is a} and b.
					if later, more := closingLater(form, i, k); later > 0 {
						return later, more
					}
				}
				return k, commas
			}
		}
	}
	return -1, nil
}

func closingLater(form string, i, from int) (end int, commas []int) {
	depth := 1
	for k := from + 1; k < len(form); k++ {
		switch form[k] {
		case markOpen:
			depth++
		case markComma:
			if depth == 1 {
				commas = append(commas, k)
			}
		case markClose:
			if depth--; depth == 0 && len(commas) > 0 {
				return k, commas
			}
			depth = max(depth, 1)
		}
	}
	return -1, nil
}

// unbraced makes braces that expand nothing the letters that they are.
func unbraced(form string) string {
	if !strings.ContainsAny(form, "\x01\x02\x03") {
		return form
	}
	return strings.NewReplacer("\x01", "{", "\x02", ",", "\x03", "}").Replace(form)
}
