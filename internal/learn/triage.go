package learn

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/lineage"
	"github.com/perdure/perdure/internal/plain"
)

// fleeting are the signs of what is only about now, each with the reason that a person is told.
var fleeting = []struct {
	sign *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`(?i)\b(?:I|we)(?:'ll|’ll|\s+will|\s+(?:am|are)\s+(?:going|about)\s+to|'m\s+(?:going|about)\s+to|'re\s+(?:going|about)\s+to|\s+plan\s+to)\b`), "it says what comes next"},
	{regexp.MustCompile(`(?i)^(?:next(?:\s+step)?|todo|to do|then|afterwards|let me|let's)\b`), "it says what comes next"},
	{regexp.MustCompile(`(?i)\b(?:today|tonight|tomorrow|yesterday|right now|just now|at the moment|currently|for now|for the moment|so far|temporarily|this (?:run|session|time|turn|step|morning|afternoon|evening|week)|(?:is|are) (?:now|still) (?:running|failing|open|in progress))\b`), "it is about now"},
	{regexp.MustCompile(`(?i)\blines?\s+\d+|[\w/-]+\.[A-Za-z]\w{0,5}:\d+\b|#L\d+`), "it names a line of a file, which moves"},
	{regexp.MustCompile(`(?i)\bport\s*[:=]?\s*\d{2,5}\b|\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):\d{2,5}\b`), "it names a port"},
	{regexp.MustCompile(`(?i)\bpid\s*[:=]?\s*\d+|\bprocess\s+(?:id\s+)?\d{2,}\b`), "it names a process"},
	{regexp.MustCompile(`(?:^|[\s"'(=` + "`" + `])(?:/tmp|/var/tmp|/var/folders|/dev/shm)(?:/|\b)|\$TMPDIR\b|(?i:\\AppData\\Local\\Temp)`), "it names a temporary path"},
	{regexp.MustCompile(`\b(?:bash|task)_\d+\b|\bt\d+\.s\d+(?:\.b\d+)?\b`), "it names a task or a call of this session"},
}

// triage says why a statement is not worth proposing; empty: it is.
func triage(text string) string {
	switch n := lineage.Words(text); {
	case n < lineage.LeastLine:
		return "it says too little"
	case tooLong(text) != "":
		return tooLong(text)
	case strings.ContainsFunc(text, plain.Hidden):
		return "it has characters that do not show"
	}
	for _, f := range fleeting {
		if f.sign.MatchString(text) {
			return f.why
		}
	}
	return ""
}

func tooLong(text string) string {
	if len(text) <= knowledge.MaxProposal {
		return ""
	}
	return fmt.Sprintf("it has %d bytes, at most %d are proposed", len(text), knowledge.MaxProposal)
}

// lasting are the signs that a finding holds beyond the work that it came up in.
var lasting = regexp.MustCompile(`(?i)\b(?:always|never|must|needs?|requires?|required|only|cannot|can't|does not|doesn't|instead of|by default|defaults? to|unless|before|depends on|breaks?|fails? (?:when|if|on|with|unless)|silently|case[- ]sensitive|deprecated|not supported|unsupported|limit(?:ed)?)\b`)

// corrects are the signs that a constraint is a correction by the user.
var corrects = regexp.MustCompile(`(?i)\b(?:the )?user\b.*\b(?:said|says|asked|asks|wants?|wanted|told|corrected|prefers?|insists?)\b`)
