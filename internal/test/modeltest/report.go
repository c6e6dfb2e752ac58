package modeltest

import "sort"

// A Report is what the server saw and sent. A test compares it with the
// session: Usage with the session's usage, Sealed with its steps.
type Report struct {
	Requests      int                  `json:"requests"` // accepted model calls, faulty attempts included
	Counted       int                  `json:"counted"`  // token counts asked for
	Refused       int                  `json:"refused"`  // requests that broke a rule
	Violations    []Violation          `json:"violations"`
	Conversations []ConversationReport `json:"conversations"` // by API and key
}

// A ConversationReport sums up one conversation. Forks that share a first user
// message are one conversation.
type ConversationReport struct {
	API      string `json:"api"`
	Key      string `json:"key"`
	Requests int    `json:"requests"`
	// Started calls sent their first frame; Completed ones their last.
	Started   int `json:"started"`
	Completed int `json:"completed"`
	InFlight  int `json:"in_flight"`
	// Sealed are the different answers that a client has, or can have, whole.
	Sealed int `json:"sealed"`
	// Lost are the calls that were started and are no sealed answer: cut
	// streams, and whole ones that the client asked for again.
	Lost int `json:"lost"`
	// Usage is the sum over sealed answers, each once, in the API's terms.
	Usage Usage `json:"usage"`
	// LostInput are the input tokens of the lost calls.
	LostInput int64 `json:"lost_input_tokens"`
	// ChangedRetries counts requests for a step with another prefix than the
	// first for that step. Forks, and a refusal that was left out, count too.
	ChangedRetries int `json:"changed_retries"`
	// Versions are the distinct anthropic-version and anthropic-beta headers.
	Versions []string     `json:"versions,omitempty"`
	Steps    []StepReport `json:"steps"`
}

// A StepReport is one step of a conversation.
type StepReport struct {
	Step     int `json:"step"`
	Attempts int `json:"attempts"`
	// PrefixHashes are the hashes of system, tools and messages, without cache
	// markers, one for each different request: one entry if all retries agreed.
	PrefixHashes []string `json:"prefix_hashes"`
	Sealed       bool     `json:"sealed"`
	Usage        Usage    `json:"usage"` // of the sealed answers
}

// Report returns a snapshot. Its slices are the caller's.
func (s *Server) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{
		Requests: s.requests, Counted: s.counted, Refused: s.refused,
		Violations:    append([]Violation{}, s.violations...),
		Conversations: []ConversationReport{},
	}
	for _, c := range s.convs {
		r.Conversations = append(r.Conversations, c.report())
	}
	sort.Slice(r.Conversations, func(i, j int) bool {
		a, b := r.Conversations[i], r.Conversations[j]
		return a.API+" "+a.Key < b.API+" "+b.Key
	})
	return r
}

// Violations returns the refused requests, the first 1,000 of them.
func (s *Server) Violations() []Violation { return s.Report().Violations }

// Conversation returns the report of one conversation.
func (r Report) Conversation(api, key string) (ConversationReport, bool) {
	for _, c := range r.Conversations {
		if c.API == api && c.Key == key {
			return c, true
		}
	}
	return ConversationReport{}, false
}

func (c *conversation) report() ConversationReport {
	out := ConversationReport{
		API: c.api, Key: c.key, Requests: c.requests,
		Versions: append([]string(nil), c.versions...),
	}
	for i, s := range c.steps {
		step := StepReport{Step: i, Attempts: s.attempts}
		for n, v := range s.variants {
			step.PrefixHashes = append(step.PrefixHashes, v.prefixHash)
			usage := wireUsage(c.api, v.answer.usage)
			lost := v.started - v.inFlight
			if v.completed > 0 || v.acked {
				step.Sealed = true
				step.Usage = step.Usage.Add(usage)
				out.Sealed++
				lost--
			}
			out.Lost += max(lost, 0)
			out.LostInput += int64(max(lost, 0)) * usage.Input
			out.Started += v.started
			out.Completed += v.completed
			out.InFlight += v.inFlight
			if n > 0 {
				out.ChangedRetries++
			}
		}
		out.Usage = out.Usage.Add(step.Usage)
		out.Steps = append(out.Steps, step)
	}
	return out
}

// sawVersion notes a header value if it is new; a frozen session has one.
func (c *conversation) sawVersion(v string) {
	const most = 16
	if v != "" && !contains(c.versions, v) && len(c.versions) < most {
		c.versions = append(c.versions, v)
	}
}
