package modeltest

import "bytes"

// A conversation is what the server knows about one history, or about several
// that share their beginning (forks): each step has one variant per prefix.
type conversation struct {
	api, key string
	requests int
	base     int // step of its first request: of a compacted conversation, the ones before are not its own
	steps    []*stepState
	versions []string       // anthropic-version and anthropic-beta seen, distinct
	last     *ParsedRequest // newest accepted request, to explain a difference
}

type stepState struct {
	attempts int
	variants []*variant
}

// A variant is one answer: to one prefix, at one step.
type variant struct {
	prefix     chain // what precedes the answer, without thinking
	prefixHash string
	model      string
	thinking   []byte
	answer     answer
	started    int  // attempts whose first frame was sent
	completed  int  // attempts whose last frame was sent
	inFlight   int  // attempts being sent
	sealable   bool // some attempt got far enough that a client may keep it
	acked      bool // a later request contained it
	returned   []byte
}

const maxVariants = 64

// check compares the history of r with what was sent before. It returns the
// chain before the answer to r and the variants that the history contains; it
// changes nothing, so that a refused request leaves no trace.
func (c *conversation) check(r *ParsedRequest, foreign bool) (chain, []*variant, *refusal) {
	prefix := r.start()
	var path []*variant
	for i, m := range r.Messages {
		if m.Role == "assistant" {
			v, bad := c.variantAt(r, i, len(path), prefix, foreign)
			if bad != nil {
				return chain{}, nil, bad
			}
			path = append(path, v)
		}
		prefix = prefix.addBare(m)
	}
	var newest *variant
	if len(path) > 0 {
		newest = path[len(path)-1]
	}
	paused := newest != nil && newest.answer.stop == "pause_turn"
	if bad := checkPrefill(r, paused); bad != nil {
		return chain{}, nil, bad
	}
	if newest != nil && len(r.Results()) > 0 && newest.model == r.Model && !bytes.Equal(newest.thinking, r.call.thinking) {
		return chain{}, nil, refuse(RuleThinkingToggled, "thinking was %s, is %s inside a tool loop",
			clip(newest.thinking), clip(r.call.thinking))
	}
	return prefix, path, nil
}

// variantAt finds the answer that message i of the history claims to be. The
// result is nil for a foreign message, when these are allowed.
func (c *conversation) variantAt(r *ParsedRequest, i, step int, prefix chain, foreign bool) (*variant, *refusal) {
	var v *variant
	if step < len(c.steps) {
		v = c.steps[step].find(prefix)
	}
	if v == nil {
		if foreign || compacted(r) && (c.requests == 0 || step < c.base) {
			return nil, nil
		}
		if c.requests == 0 {
			return nil, refuse(RulePrefixMessage, "no conversation began with this first user message")
		}
		if step >= len(c.steps) {
			return nil, refuse(RuleAssistantUnsealed, "messages.%d: step %d was never answered", i, step)
		}
		return nil, c.explain(r, i)
	}
	if !v.sealable {
		return nil, refuse(RuleAssistantUnsealed, "messages.%d: the answer of step %d was never sent to its end", i, step)
	}
	if bad := checkReturned(r, i, v); bad != nil {
		return nil, bad
	}
	if v.returned != nil && v.model == r.Model && !bytes.Equal(v.returned, r.Messages[i].Raw) {
		return nil, refuse(RuleAssistantBytes, "messages.%d: was returned as %s, now as %s",
			i, clipDiff(v.returned, r.Messages[i].Raw), clipDiff(r.Messages[i].Raw, v.returned))
	}
	return v, nil
}

// compacted reports whether a history begins with what was kept of an older one: it is a new conversation, in which
// answers of the older one stand without their thinking.
func compacted(r *ParsedRequest) bool {
	return len(r.Messages) > 0 && bytes.Contains(r.Messages[0].Raw, []byte("before this point was compacted"))
}

func (s *stepState) find(prefix chain) *variant {
	for _, v := range s.variants {
		if v.prefix == prefix {
			return v
		}
	}
	return nil
}

// explain says what differs from the newest accepted request before message i.
func (c *conversation) explain(r *ParsedRequest, i int) *refusal {
	switch {
	case c.last == nil:
		return refuse(RulePrefixMessage, "messages.%d: no request preceded it", i)
	case !bytes.Equal(r.System, c.last.System):
		return refuse(RulePrefixSystem, "system was %s, is %s",
			clipDiff(c.last.System, r.System), clipDiff(r.System, c.last.System))
	case !bytes.Equal(r.Tools, c.last.Tools):
		return refuse(RulePrefixTools, "tools were %s, are %s",
			clipDiff(c.last.Tools, r.Tools), clipDiff(r.Tools, c.last.Tools))
	}
	for n := range min(i, len(c.last.Messages)) {
		was, is := c.last.Messages[n].Raw, r.Messages[n].Raw
		if !bytes.Equal(was, is) {
			rule := RulePrefixMessage
			if r.API == OpenAI && (r.Messages[n].Role == "system" || r.Messages[n].Role == "developer") {
				rule = RulePrefixSystem
			}
			return refuse(rule, "messages.%d was %s, is %s", n, clipDiff(was, is), clipDiff(is, was))
		}
	}
	return refuse(RulePrefixMessage, "messages.%d: no answer was made for the messages before it", i)
}

// accept enters a checked request and returns the variant that answers it and
// the number of this attempt, from 1.
func (c *conversation) accept(r *ParsedRequest, prefix chain, path []*variant, made answer) (*variant, int, *refusal) {
	at := 0
	for i := range r.Messages {
		if r.Messages[i].Role != "assistant" {
			continue
		}
		if v := path[at]; v != nil {
			v.acked = true
			if v.returned == nil || v.model != r.Model {
				v.returned = r.Messages[i].Raw
			}
		}
		at++
	}
	for len(c.steps) <= r.Step {
		c.steps = append(c.steps, &stepState{})
	}
	s := c.steps[r.Step]
	v := s.find(prefix)
	if v == nil {
		if len(s.variants) == maxVariants {
			return nil, 0, refuse(RuleLimit, "more than %d different histories at step %d", maxVariants, r.Step)
		}
		v = &variant{prefix: prefix, prefixHash: r.PrefixHash, answer: made}
		s.variants = append(s.variants, v)
	}
	v.model, v.thinking = r.Model, r.call.thinking
	if c.requests == 0 {
		c.base = r.Step
	}
	s.attempts++
	c.requests++
	c.last = r
	return v, s.attempts, nil
}

// clipDiff shows a around the first byte in which it differs from b.
func clipDiff(a, b []byte) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	const lead = 30
	if n > lead {
		return "…" + clip(a[n-lead:])
	}
	return clip(a)
}
