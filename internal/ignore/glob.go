package ignore

import "strings"

// glob is a pattern as git reads it: byte by byte. All ways to match are followed at once, so that no pattern costs
// more than its length for each byte of a path.
type glob []part

// part is what stands for one byte, or for any number of them.
type part struct {
	kind  kind
	byte  byte
	bytes *[256]bool
}

type kind uint8

// special are the bytes that are more than themselves.
const special = `*?[\`

const (
	exactly kind = iota // one byte
	oneOf               // a byte of a class
	one                 // "?": a byte of a name
	many                // "*": bytes of a name
	dirs                // "**/": nothing, or all up to a slash
	rest                // "**" at the end: all that follows
)

// compile reads a pattern; not ok: it is one that git takes for nothing.
func compile(p string) (g glob, ok bool) {
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '\\':
			if i++; i == len(p) {
				return nil, false
			}
			g, i = append(g, part{kind: exactly, byte: p[i]}), i+1
		case '?':
			g, i = append(g, part{kind: one}), i+1
		case '*':
			n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
			g, i = append(g, stars(p, i, n)), i+n
			if g[len(g)-1].kind == dirs {
				i++ // its slash
			}
		case '[':
			class, n := classOf(p[i:])
			if n == 0 {
				return nil, false
			}
			g, i = append(g, part{kind: oneOf, bytes: class}), i+n
		default:
			g, i = append(g, part{kind: exactly, byte: c}), i+1
		}
	}
	return g, true
}

// stars says what n stars at i stand for. Two and more have a meaning of their own where they are a whole name, or what
// follows plain bytes: git compares these first, and takes the rest for a pattern.
func stars(p string, i, n int) part {
	whole := n > 1 && (!strings.ContainsAny(p[:i], special) || p[i-1] == '/')
	switch {
	case whole && i+n == len(p):
		return part{kind: rest}
	case whole && p[i+n] == '/':
		return part{kind: dirs}
	}
	return part{kind: many}
}

// named gives the class of a name, in ASCII; nil: there is none.
func named(name string) func(c byte) bool {
	switch name {
	case "alnum":
		return func(c byte) bool { return letter(c) || digit(c) }
	case "alpha":
		return letter
	case "digit":
		return digit
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		return func(c byte) bool { return c < 32 || c == 127 }
	case "graph":
		return func(c byte) bool { return c > 32 && c < 127 }
	case "print":
		return func(c byte) bool { return c >= 32 && c < 127 }
	case "lower":
		return func(c byte) bool { return c >= 'a' && c <= 'z' }
	case "upper":
		return func(c byte) bool { return c >= 'A' && c <= 'Z' }
	case "punct":
		return func(c byte) bool { return c > 32 && c < 127 && !letter(c) && !digit(c) }
	case "space":
		return func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	case "xdigit":
		return func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
	}
	return nil
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// classOf reads "[…]" at the front of a text, and how long it is; 0: it has no end.
func classOf(p string) (*[256]bool, int) {
	var set [256]bool
	i := 1
	not := i < len(p) && (p[i] == '!' || p[i] == '^')
	if not {
		i++
	}
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0
		}
		c := p[i]
		switch {
		case c == ']' && !first:
			for b := range set {
				set[b] = set[b] != not
			}
			set['/'] = false // a class is of names
			return &set, i + 1
		case strings.HasPrefix(p[i:], "[:"):
			name, _, found := strings.Cut(p[i+2:], ":]")
			is := named(name)
			if !found || is == nil {
				return nil, 0
			}
			for b := range set {
				set[b] = set[b] || is(byte(b)) //nolint:gosec // of 256
			}
			i += len(name) + 4
			continue
		case c == '\\':
			if i++; i >= len(p) {
				return nil, 0
			}
			c = p[i]
		}
		i++
		to := c
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			if i++; p[i] == '\\' {
				i++
			}
			if i >= len(p) {
				return nil, 0
			}
			to, i = p[i], i+1
		}
		for b := int(c); b <= int(to); b++ {
			set[b] = true
		}
	}
}

// match reports whether all of a text is what the pattern says.
func (g glob) match(text string) bool {
	var room [2][128]bool
	now, next := room[0][:], room[1][:]
	if len(g) >= len(now) {
		now, next = make([]bool, len(g)+1), make([]bool, len(g)+1)
	}
	g.enter(now, 0)
	for i := range len(text) {
		clear(next[:len(g)+1])
		alive, c := false, text[i]
		for at := range g {
			if now[at] {
				alive = g.step(next, at, c) || alive
			}
		}
		if !alive {
			return false
		}
		now, next = next, now
	}
	return now[len(g)]
}

// enter notes that the parts before at have matched: those that may stand for nothing are passed by.
func (g glob) enter(set []bool, at int) {
	set[at] = true
	for at < len(g) && (g[at].kind == many || g[at].kind == dirs || g[at].kind == rest) {
		at++
		set[at] = true
	}
}

// step notes where a byte leads from a part, if anywhere.
func (g glob) step(next []bool, at int, c byte) bool {
	p, on, stay := &g[at], false, false
	switch p.kind {
	case exactly:
		on = c == p.byte
	case oneOf:
		on = p.bytes[c]
	case one:
		on = c != '/'
	case many:
		stay = c != '/'
	case rest:
		stay = true
	case dirs: // in the midst of a name what follows cannot begin
		next[at], on = true, c == '/'
		if on {
			g.enter(next, at+1)
		}
		return true
	}
	if on {
		g.enter(next, at+1)
	}
	if stay {
		g.enter(next, at)
	}
	return on || stay
}
