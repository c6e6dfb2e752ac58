package permission

import "strings"

// What the words of a program are that are no options.
type wordKind int

const (
	wordsNameFiles wordKind = iota
	wordsAreText            // echo, tr
	wordsSearch             // grep: the first is a pattern unless an option gave one, the others name files
	wordsFormat             // date: only +FORMAT; other words set the clock
)

// reader describes a program that only reads, by the options under which that is
// so. An option that is not listed asks, and so does a beginning of a long one.
type reader struct {
	flags string // one-letter options without a value
	texts string // one-letter options whose value, attached or the next word, is text
	files string // one-letter options whose value names a file
	some  string // one-letter options with an attached value or none
	// long are the long options, between blanks: --all has no value, --color= has
	// one only when attached, --include: has one, attached or the next word.
	long   string
	number bool // -20 is an option
	// apart: the value of a one-letter option is the next word also where letters
	// follow it, which are options. Digits are a value.
	apart bool
	plain bool // it has no options: what looks like one is a word
	// harmless: no option of the program does more than change what is shown, so
	// a file pattern may turn into one.
	harmless bool
	words    wordKind
	most     int // words at most, 0: any number
	// permutes: it takes options behind its other words on every system. The C
	// library of macOS, and POSIXLY_CORRECT, end the options at the first of those:
	// what follows is a file then.
	permutes bool
	undashed bool               // a file in the working directory that is named like an option asks, if a pattern may become it
	noDirs   bool               // a directory asks
	unnamed  func(options) bool // reports that it shows the content of files that no word names
}

// options are a command's words in their roles.
type options struct {
	seen  []string // the options, one-letter ones apart
	words []word   // words that are no options
	files []word   // values that name files
	globs []word   // file patterns, whatever their role: they may become several words
	vals  []string // values that are text
	late  []word   // options, and their values, behind a word that is none
	dashy bool     // a pattern may become a name that begins with a dash
}

func (o options) has(name string) bool {
	for _, s := range o.seen {
		if s == name {
			return true
		}
	}
	return false
}

// optionReader walks the words of one command.
type optionReader struct {
	reader
	name string
	args []word
	at   int
	out  options
}

// read sorts the words of a command, or says why one of them asks.
func (r reader) read(name string, args []word) (options, string) {
	p := &optionReader{reader: r, name: name, args: args}
	for ; p.at < len(args); p.at++ {
		w := args[p.at]
		if w.glob {
			if !r.harmless && leadingGlob(w) && !strings.HasPrefix(w.text, "--") {
				return p.out, "a file pattern may turn into an option of " + name
			}
			p.out.globs, p.out.dashy = append(p.out.globs, w), p.out.dashy || r.undashed && leadingGlob(w)
		}
		operands, first := len(p.out.words), p.at
		why := ""
		switch {
		case r.plain:
			p.out.words = append(p.out.words, w)
		case w.text == "--":
			return p.rest()
		case strings.HasPrefix(w.text, "--"):
			why = p.longOption(w)
		case strings.HasPrefix(w.text, "-") && w.text != "-":
			why = p.letters(w)
		default:
			p.out.words = append(p.out.words, w)
		}
		if why != "" {
			return p.out, why
		}
		if operands > 0 && len(p.out.words) == operands && !r.permutes {
			p.out.late = append(p.out.late, args[first:p.at+1]...)
		}
	}
	return p.out, ""
}

// rest takes all words after --.
func (p *optionReader) rest() (options, string) {
	p.out.seen = append(p.out.seen, "--")
	for _, w := range p.args[p.at+1:] {
		if w.glob {
			p.out.globs = append(p.out.globs, w)
		}
		p.out.words = append(p.out.words, w)
	}
	return p.out, ""
}

func (p *optionReader) longOption(w word) string {
	name, value, attached := strings.Cut(w.text, "=")
	p.out.seen = append(p.out.seen, name)
	switch {
	case w.glob && (!attached || strings.ContainsAny(name, "*?[")):
		return "a file pattern may turn into an option of " + p.name
	case !attached && (p.lists(name) || p.lists(name+"=?")):
		return ""
	case attached && (p.lists(name+"=") || p.lists(name+"=?") || p.lists(name+":")):
		p.out.vals = append(p.out.vals, value)
		return ""
	case !attached && p.lists(name+":"):
		return p.next(w, false)
	}
	return p.name + " " + clip(name) + " is not known to only read"
}

func (p *optionReader) lists(item string) bool { return strings.Contains(p.long, " "+item+" ") }

func (p *optionReader) letters(w word) string {
	t := w.text[1:]
	if w.glob {
		return "a file pattern may turn into an option of " + p.name
	}
	if p.number && digits(t, 9) {
		return ""
	}
	for i := range len(t) {
		p.out.seen = append(p.out.seen, "-"+t[i:i+1])
		switch c := t[i]; {
		case strings.IndexByte(p.flags, c) >= 0:
		case strings.IndexByte(p.some, c) >= 0:
			p.out.vals = append(p.out.vals, t[i+1:])
			return ""
		case strings.IndexByte(p.texts, c) >= 0:
			if i+1 < len(t) {
				if p.apart && !digits(t[i+1:], 9) {
					return p.name + " -" + t[i:i+1] + " takes its value from the next word, and " + clip(t[i+1:]) + " for options"
				}
				p.out.vals = append(p.out.vals, t[i+1:])
				return ""
			}
			return p.next(w, false)
		case strings.IndexByte(p.files, c) >= 0:
			if i+1 < len(t) {
				p.out.files = append(p.out.files, literal(t[i+1:]))
				return ""
			}
			return p.next(w, true)
		default:
			return p.name + " -" + t[i:i+1] + " is not known to only read"
		}
	}
	return ""
}

// next takes the following word as the value of an option.
func (p *optionReader) next(opt word, file bool) string {
	if p.at++; p.at >= len(p.args) {
		return p.name + " " + clip(opt.text) + " lacks its value"
	}
	w := p.args[p.at]
	if w.glob {
		return "the value of " + p.name + " " + clip(opt.text) + " is a file pattern"
	}
	if file {
		p.out.files = append(p.out.files, w)
	} else {
		p.out.vals = append(p.out.vals, w.text)
	}
	return ""
}
