package learn

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rule takes words off the beginning of a statement that tell of how it came about.
type rule struct {
	from *regexp.Regexp
	to   string
}

func begins(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)^` + pattern) }

const (
	someone = `(?:I|we)(?:'ve| have| had)?`
	just    = `(?:\s+(?:just|now|already|finally|also|then|today))*`
)

// rules are tried in this order, each once, the words about time before the others.
var rules = []rule{
	{begins(`(?:today|yesterday|just now|now|finally|this time|in this session),?\s+(` + someone + `\b.*)$`), "$1"},
	{begins(someone + just + `\s+(?:decided|chose|agreed|opted)\s+to\s+(.+)$`), "$1"},
	{begins(someone + just + `\s+decided\s+(?:on|for)\s+(.+)$`), "use $1"},
	{begins(someone + just + `\s+(?:chose|picked|selected|went with|opted for|settled on)\s+(.+)$`), "use $1"},
	{begins(someone + just + `\s+(?:found|found out|noticed|discovered|learned|learnt|realised|realized|saw)\s+(?:out\s+)?that\s+(.+)$`), "$1"},
	{begins(`(?:the\s+)?user\s+(?:said|told\s+(?:me|us)|corrected\s+(?:me|us))\s*(?:that|:)\s+(.+)$`), "$1"},
	{begins(`(?:it\s+)?turns\s+out\s+(?:that\s+)?(.+)$`), "$1"},
	{begins(`(?:note|remember)(?:\s+that|:)\s+(.+)$`), "$1"},
}

var (
	person  = regexp.MustCompile(`(?i)\b(?:I|I'm|I've|I'll|me|my|mine|we|we've|we'll|us|our|ours)\b`)
	because = regexp.MustCompile(`([^\s,;:.(—–-])\s+because\s`)
)

// rewrite puts a statement as a fact. Where no rule fits, or what it makes still speaks of somebody, it stays as it is.
func rewrite(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	out := text
	for _, r := range rules {
		out = r.from.ReplaceAllString(out, r.to)
	}
	if out == text || person.MatchString(out) {
		return text
	}
	if n := strings.Count(out, "because"); n == 1 {
		out = because.ReplaceAllString(out, "$1, because ")
	}
	return capital(out)
}

// capital begins a sentence, unless its first word is a name of the code.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	r, n := utf8.DecodeRuneInString(s)
	if strings.ContainsFunc(first[min(n, len(first)):], func(r rune) bool { return !unicode.IsLower(r) && !strings.ContainsRune(",.;:'’", r) }) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
