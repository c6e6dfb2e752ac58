package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Proposed is what came of proposing.
type Proposed struct {
	New       []Proposal // that wait now
	Left      int        // new ones that are only listed with the reason
	Confirmed []string   // keys of entries that say the same, and were confirmed by it
	Known     int        // that wait already, were decided about, or stand in an entry or in the project's instructions
}

// confirmAfter is how long an entry is confirmed by being said again before that is written down anew.
const confirmAfter = 24 * time.Hour

// Propose puts proposals into the inbox. What an entry says confirms the entry instead, if nobody but the user and the
// model is behind it; what the project's instructions say, what waits and what was refused before is not proposed again.
// A proposal with a reason why it was left out is kept for those who want to see it. The proposals' ids, states and dates
// are given here.
func (i Inbox) Propose(ctx context.Context, list []Proposal) (Proposed, error) {
	return i.ProposeAll(ctx, list, Seen{})
}

// ProposeAll is Propose for all that a session found out up to an event, which is remembered in the same step.
func (i Inbox) ProposeAll(ctx context.Context, list []Proposal, seen Seen) (Proposed, error) {
	var out Proposed
	var rest []Proposal
	for _, p := range list[:min(len(list), maxProposeOnce)] {
		p.Text, p.Reason = strings.ToValidUTF8(strings.TrimSpace(p.Text), "\uFFFD"), strings.ToValidUTF8(strings.TrimSpace(p.Reason), "\uFFFD")
		if p.Why != "" {
			p.Text, p.Reason = strings.ReplaceAll(p.Text, "\x00", ""), strings.ReplaceAll(p.Reason, "\x00", "")
		}
		if p.Why != "" && len(p.Text)+len(p.Reason) > MaxProposal {
			p.Text, p.Reason = clip(p.Text), ""
		}
		if rank(p.Source) < 0 {
			p.Source = SourceImport
		}
		if p.Why == "" && errors.Join(checkProposal(p.Text), checkReason(p.Reason)) != nil || norm(p.Text) == "" {
			return out, errors.Join(checkProposal(p.Text), checkReason(p.Reason))
		}
		s := i.scope(p)
		key, known, err := s.says(p)
		switch {
		case err != nil:
			return out, err
		case p.Why != "" || !known:
			rest = append(rest, p)
		case key != "" && p.Trusted():
			if err := s.confirm(ctx, key); err != nil {
				return out, err
			}
			out.Confirmed = append(out.Confirmed, key)
		default:
			out.Known++
		}
	}
	if len(rest) == 0 && seen.Session == "" {
		return out, nil
	}
	err := i.change(ctx, func(f *inboxFile) error {
		f.see(seen)
		for _, p := range rest {
			f.take(p, &out, i.m.Project.cfg.Now().UTC().Format(time.RFC3339))
		}
		return nil
	})
	return out, err
}

func checkReason(text string) error {
	if text == "" {
		return nil
	}
	return checkProposal(text)
}

// take adds a proposal that says something new.
func (f *inboxFile) take(p Proposal, out *Proposed, date string) {
	mark := says(p.Text)
	if slices.Contains(f.Refused, mark) {
		out.Known++
		return
	}
	for i := range f.List {
		old := &f.List[i]
		if says(old.Text) != mark || old.Scope != scopeName(p) || old.State == ProposalLeft && p.Why == "" {
			continue
		}
		if p.Source == SourceUser && p.Why == "" {
			old.Source = SourceUser // a person says it
		}
		out.Known++
		return
	}
	for f.find(fmt.Sprintf("p%d", f.Next)) != nil {
		f.Next++
	}
	p.ID, p.State, p.Date, p.Scope = fmt.Sprintf("p%d", f.Next), ProposalWaits, date, scopeName(p)
	p.Key, p.Edited, p.Accepts = "", false, 0
	f.Next++
	if p.Why != "" {
		p.State = ProposalLeft
		out.Left++
	} else {
		out.New = append(out.New, p)
	}
	f.List = append(f.List, p)
}

func scopeName(p Proposal) string {
	if p.Scope == userDir {
		return userDir
	}
	return "project"
}

func (i Inbox) scope(p Proposal) *Scope {
	if p.Scope == userDir {
		return i.m.User
	}
	return i.m.Project
}

// Says reports whether an entry says that already, whose key is given, or the project's instructions for agents do.
func (s *Scope) Says(text string) (key string, known bool, err error) {
	f, err := s.look()
	if err != nil {
		return "", false, err
	}
	defer f.close()
	d, err := f.draft()
	if err != nil {
		return "", false, err
	}
	x, err := d.index()
	if err != nil {
		return "", false, err
	}
	if e := d.same(x, text); e != nil {
		return e.Key, true, nil
	}
	return "", s.known(text) != nil, nil
}

// says is Says for a proposal, with its reason or without.
func (s *Scope) says(p Proposal) (key string, known bool, err error) {
	if key, known, err = s.Says(p.Text); !known && err == nil && p.Reason != "" {
		key, known, err = s.Says(p.Body())
	}
	return key, known, err
}

// confirm notes that an entry was said again: who is behind it stays.
func (s *Scope) confirm(ctx context.Context, key string) error {
	l, err := s.Show(key)
	if err != nil {
		return err
	}
	if at, err := time.Parse(time.RFC3339, l.Mark.Confirmed); err == nil && s.cfg.Now().Sub(at) < confirmAfter {
		return nil
	}
	by := By{Session: l.Mark.Session, Seq: l.Mark.Seq, Source: l.Mark.Source}
	return s.onEntry(ctx, by, "confirm "+key, key, func(d *draft, _ *index, _ Entry) error {
		mark := d.meta.Entries[key]
		mark.Confirmed = d.now()
		d.meta.Entries[key] = mark
		b, err := d.meta.bytes()
		d.set(metaName, b)
		return err
	})
}
