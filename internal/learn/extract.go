package learn

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/lineage"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// MaxFound bounds the findings of one session: the newest are kept.
const MaxFound = 200

// maxLeft is how much is kept of a text that is too long to be proposed, in bytes.
const maxLeft = 200

// Entry is an event of a session's log, or of an ancestor's up to the fork.
type Entry struct {
	Session string
	Event   store.Event
}

// Logs is what a session's log is read from.
type Logs interface {
	Get(ctx context.Context, id string) (store.Info, error)
	Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error]
}

// maxAncestors bounds a chain of forks.
const maxAncestors = 1000

// Log reads a session's log, an ancestor's part first.
func Log(ctx context.Context, logs Logs, id string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		parts := []session.Range{{Session: id, From: 1}}
		for at := id; ; {
			info, err := logs.Get(ctx, at)
			if err == nil && len(parts) > maxAncestors {
				err = fmt.Errorf("session %s has more than %d ancestors", id, maxAncestors)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if info.Parent == nil {
				break
			}
			at = info.Parent.Session
			parts = append(parts, session.Range{Session: at, From: 1, To: info.Parent.Seq})
		}
		for _, r := range slices.Backward(parts) {
			for ev, err := range logs.Read(ctx, r.Session, r.From, r.To) {
				if !yield(Entry{r.Session, ev}, err) || err != nil {
					return
				}
			}
		}
	}
}

// Extract gives the findings of a session: of its own events, not those of its ancestors, which only tell whose words are
// repeated. The log is read twice; what is held of it are the findings.
func Extract(id string, log iter.Seq2[Entry, error]) ([]Found, error) {
	c := &collector{id: id, known: map[string]int{}}
	if err := c.collect(log); err != nil || len(c.found) == 0 {
		return nil, err
	}
	return c.found, c.judge(log)
}

// Newer gives the findings of a session's own events after since, and of words of its model after all of them. Only if
// there are any is the whole log read, once: whose words they repeat may have been said at any time.
func Newer(ctx context.Context, logs Logs, id string, since int64, words string) ([]Found, error) {
	c := &collector{id: id, known: map[string]int{}}
	err := c.collect(func(yield func(Entry, error) bool) {
		for ev, err := range logs.Read(ctx, id, since+1, 0) {
			if !yield(Entry{id, ev}, err) || err != nil {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	c.tagged(words, knowledge.SourceModel, atEnd)
	if len(c.found) == 0 {
		return nil, nil
	}
	err = c.judge(Log(ctx, logs, id))
	for i := range c.found {
		if c.found[i].Seq == atEnd {
			c.found[i].Seq = 0
		}
	}
	return c.found, err
}

// atEnd is after every event.
const atEnd = int64(1) << 62

// walk decodes a log's events, but for those that are not asked for, and tells what each brought.
func walk(log iter.Seq2[Entry, error], asked func(store.Kind) bool, do func(e Entry, body session.Body, texts []string, from lineage.From)) error {
	l := &lineage.Log{}
	for e, err := range log {
		if err != nil {
			return err
		}
		if !asked(e.Event.Kind) {
			do(e, nil, nil, lineage.Nowhere)
			continue
		}
		body, err := session.Decode(e.Event)
		if err != nil {
			return &store.CorruptError{Session: e.Session, Seq: e.Event.Seq, Cause: err}
		}
		texts, from := l.Brings(e.Event, body)
		do(e, body, texts, from)
	}
	return nil
}

type collector struct {
	id    string
	found []Found
	known map[string]int // where in found a text is
}

// telling are the kinds in which findings stand.
var telling = []store.Kind{session.KindModelResponded, session.KindMessageReceived, session.KindQuestionAnswered, session.KindFactAdded}

// collect takes the findings of the session's own events.
func (c *collector) collect(log iter.Seq2[Entry, error]) error {
	asked := func(k store.Kind) bool { return slices.Contains(telling, k) }
	return walk(log, asked, func(e Entry, body session.Body, texts []string, from lineage.From) {
		if e.Session == c.id {
			c.event(e, body, texts, from)
		}
	})
}

func (c *collector) event(e Entry, body session.Body, texts []string, from lineage.From) {
	switch from {
	case lineage.Agent, lineage.User:
		source := knowledge.SourceModel
		if from == lineage.User {
			source = knowledge.SourceUser
		}
		for _, t := range texts {
			c.tagged(t, source, e.Event.Seq)
		}
	case lineage.Nowhere, lineage.Inside, lineage.Recalled, lineage.Outside:
	}
	if b, ok := body.(*session.FactAdded); ok {
		c.fact(b.Fact, e.Event.Seq)
	}
}

func (c *collector) tagged(text string, source knowledge.Source, seq int64) {
	for _, f := range tags(text) {
		f.Source, f.Seq = source, seq
		c.add(f)
	}
}

// fact is a finding if what was noted lasts. A tag in its text counts.
func (c *collector) fact(f session.Fact, seq int64) {
	out := Found{Text: f.Text, Reason: f.Reason, Source: sourceOf(f.Provenance), Seq: seq}
	if t := tags(f.Text); len(t) > 0 {
		out.Tag, out.Text = t[0].Tag, t[0].Text
		c.add(out)
		return
	}
	switch f.Kind {
	case "decision":
		out.Tag = Decision
	case "finding":
		out.Tag = Gotcha
		if !lasting.MatchString(f.Text) {
			out.Left = "nothing says that it holds beyond that work"
		}
	case "constraint":
		if out.Source != knowledge.SourceUser && !corrects.MatchString(f.String()) {
			return
		}
		out.Tag = Correction
	default:
		return
	}
	c.add(out)
}

func sourceOf(provenance string) knowledge.Source {
	switch s := knowledge.Source(provenance); s {
	case knowledge.SourceUser, knowledge.SourceModel, knowledge.SourceTool:
		return s
	case knowledge.SourceImport:
	}
	return knowledge.SourceImport
}

// add keeps a finding, as a fact. What the user says is the user's, whoever said it before.
func (c *collector) add(f Found) {
	if lineage.Words(f.Text) == 0 {
		return
	}
	f.Session = c.id
	if why := tooLong(f.Text); why != "" {
		f.Text, f.Reason, f.Left = session.CutEnd(f.Text, maxLeft)+"…", "", why
	} else if f.Text = rewrite(f.Text); triage(f.Text) != "" {
		f.Left = triage(f.Text)
	}
	f.claims = lineage.Parts(f.Text+"\n"+f.Reason, 1)
	if f.Left == "" && f.Reason != "" && triage(f.Reason) != "" && triage(f.Reason) != "it says too little" {
		f.Left = "its reason: " + triage(f.Reason)
	}
	f.Reason = strings.TrimSpace(f.Reason)
	key := strings.ToLower(strings.Join(strings.Fields(f.Text), " "))
	if i, twice := c.known[key]; twice {
		if f.Source == knowledge.SourceUser {
			c.found[i].Source = f.Source
		}
		return
	}
	if len(c.found) == MaxFound {
		c.found = c.found[1:]
		for k := range c.known {
			if c.known[k]--; c.known[k] < 0 {
				delete(c.known, k)
			}
		}
	}
	c.known[key] = len(c.found)
	c.found = append(c.found, f)
}

// judge gives what the agent only repeated the trust of whom it repeated, by all that came into the session before. What it
// said first, and a tool repeated, is its own.
func (c *collector) judge(log iter.Seq2[Entry, error]) error {
	var claims []string
	var first []int
	for _, f := range c.found {
		first = append(first, len(claims))
		claims = append(claims, f.claims...)
	}
	first = append(first, len(claims))
	j := lineage.NewJudge(claims)
	at := 0
	settle := func(seq int64) { // what was said up to here is compared with what came before
		for ; at < len(c.found) && c.found[at].Seq <= seq; at++ {
			f := &c.found[at]
			for i := first[at]; i < first[at+1]; i++ {
				if j.Derived(i) && f.Source == knowledge.SourceModel {
					f.Source = knowledge.SourceTool
				}
			}
			f.claims = nil
		}
	}
	asked := func(k store.Kind) bool { return !lineage.Mute(k) }
	err := walk(log, asked, func(e Entry, body session.Body, texts []string, from lineage.From) {
		if e.Session == c.id {
			settle(e.Event.Seq)
		}
		for _, t := range texts {
			switch from {
			case lineage.Inside, lineage.Recalled, lineage.Outside:
				j.Brought(t)
			case lineage.Agent:
				j.Said(t)
			case lineage.Nowhere, lineage.User: // what a person passes on may be anybody's
			}
		}
		for _, t := range lineage.Inputs(body) {
			j.Said(t)
		}
	})
	settle(atEnd)
	return err
}
