package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/plain"
)

// Accept makes a proposal an entry: a person stands by it now. Where an entry says it already, that one is confirmed. One
// that was accepted before is accepted again only if its entry is gone.
func (i Inbox) Accept(ctx context.Context, id string) (Entry, error) {
	p, err := i.Get(id)
	if err != nil {
		return Entry{}, err
	}
	s := i.scope(p)
	if p.State == ProposalAccepted {
		if _, err := s.Show(p.Key); !errors.Is(err, ErrNoEntry) {
			return Entry{}, errors.Join(err, refuse("%s was accepted as %s", id, p.Key))
		}
	}
	if !p.Trusted() && strings.ContainsFunc(p.Text+p.Reason, func(r rune) bool { return r != '\n' && r != '\t' && plain.Hidden(r) }) {
		return Entry{}, refuse("%s has characters that do not show: put what it says into words of yours, by edit", id)
	}
	e, err := i.note(ctx, s, p)
	if err != nil {
		return e, err
	}
	return e, i.change(ctx, func(f *inboxFile) error {
		if now := f.find(id); now != nil {
			now.State, now.Key, now.Accepts = ProposalAccepted, e.Key, p.Accepts+1
			f.Refused = slices.DeleteFunc(f.Refused, func(m string) bool { return m == says(p.Text) })
		}
		return nil
	})
}

// note writes a proposal into the memory, once for each time that it is accepted.
func (i Inbox) note(ctx context.Context, s *Scope, p Proposal) (Entry, error) {
	by := By{Session: p.Session, Seq: p.Seq, Source: SourceUser, Key: fmt.Sprintf("proposal %s/%d", p.ID, p.Accepts)}
	key, _, err := s.says(p)
	if err != nil {
		return Entry{}, err
	}
	if key != "" {
		by.Key = ""
		if err := s.Edit(ctx, key, Revision{}, by); err != nil {
			return Entry{}, err
		}
		l, err := s.Show(key)
		return l.Entry, err
	}
	return s.Add(ctx, p.addition(), by)
}

func (p Proposal) addition() Addition { return Addition{Text: p.Body(), Topic: p.Topic} }

// Preview gives the index as it is and as it would be with a proposal, and the name and text of the file of details.
func (i Inbox) Preview(p Proposal) (before, after string, e Entry, err error) {
	s := i.scope(p)
	f, err := s.look()
	if err != nil {
		return "", "", e, err
	}
	defer f.close()
	d, err := f.draft()
	if err != nil {
		return "", "", e, err
	}
	was, err := d.get(indexName)
	if err != nil {
		return "", "", e, err
	}
	a := p.addition()
	if e, err = s.entry(a); err == nil {
		e, err = d.add(e, a.Text)
	}
	if err != nil {
		return "", "", e, err
	}
	now, err := d.get(indexName)
	return string(was), string(now), e, err
}

// Edit gives a proposal other words: they are the user's then, and it waits.
func (i Inbox) Edit(ctx context.Context, id, text string) (Proposal, error) {
	text = strings.TrimSpace(text)
	if err := checkProposal(text); err != nil {
		return Proposal{}, err
	}
	return i.on(ctx, id, func(_ *inboxFile, p *Proposal) error {
		if p.State == ProposalAccepted {
			return refuse("%s was accepted as %s: edit that entry", id, p.Key)
		}
		p.Text, p.Reason, p.Source, p.State, p.Why, p.Edited = text, "", SourceUser, ProposalWaits, "", true
		return nil
	})
}

// Refuse takes a proposal off the list. What it says is not proposed again.
func (i Inbox) Refuse(ctx context.Context, id string) (Proposal, error) {
	return i.on(ctx, id, func(f *inboxFile, p *Proposal) error {
		if p.State == ProposalAccepted {
			return refuse("%s was accepted as %s: forget that entry", id, p.Key)
		}
		p.State = ProposalRefused
		if mark := says(p.Text); !slices.Contains(f.Refused, mark) {
			f.Refused = append(f.Refused, mark)
		}
		return nil
	})
}

func (i Inbox) on(ctx context.Context, id string, do func(f *inboxFile, p *Proposal) error) (out Proposal, err error) {
	if _, err := i.Get(id); err != nil {
		return out, err
	}
	err = i.change(ctx, func(f *inboxFile) error {
		p := f.find(id)
		if p == nil {
			return fmt.Errorf("%q: %w", clip(id), ErrNoProposal)
		}
		err := do(f, p)
		out = *p
		return err
	})
	return out, err
}
