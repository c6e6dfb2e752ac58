package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/store"
)

// target is what is opened next.
type target struct {
	id     string // empty: a new session
	attach bool
	pick   bool
	words  string  // of the search with which it is picked
	on     bool    // what is halted goes on at once
	prompt string  // that is sent at once
	left   string  // the session from which it is picked; empty: from none
	back   *target // where esc in the picker goes to; nil: it leaves
	silent string  // how the process that holds it does not answer
	bypass bool    // the flag of the mode bypassPermissions holds for it, too
}

// open shows one session, and says where to go from it; nil: nowhere.
func (s *sitting) open(ctx context.Context, t target) (*target, error) {
	if t.pick {
		return s.pick(ctx, t)
	}
	if err := s.settle(ctx, t); err != nil {
		return nil, err
	}
	r, id, err := screen.Open(ctx, s.config(ctx, t))
	if id != "" {
		s.last = id
	}
	var held *store.HeldError
	switch {
	case errors.As(err, &held) && t.id != "":
		return s.held(ctx, t, held)
	case err != nil:
		return nil, err
	case r.Goal == nil:
		return nil, nil
	}
	for line := range strings.Lines(r.Goal.Note) {
		s.app.Note("%s", strings.TrimSpace(line))
	}
	if r.Goal.Session == "" && !r.Goal.Fresh && !r.Goal.Fork { // where to is not known yet: esc there has stopped nothing
		return &target{pick: true, left: id, back: &target{id: id, attach: t.attach, on: r.Open}}, nil
	}
	if r.Open && r.Goal.Session != id {
		s.app.Note("%s", leftOpen(id))
	}
	switch {
	case r.Goal.Fresh:
		return s.fresh(ctx, t)
	case r.Goal.Fork:
		next, err := s.branchOf(ctx, r.Goal.Session, r.Goal.Share)
		if err == nil && r.Goal.Session == id {
			next.bypass = s.bypasses(ctx, t, id)
		}
		if err != nil && ctx.Err() == nil { // why is said in the session that was left
			s.app.Note("no fork: %v", err)
			next, err = &target{id: r.Goal.Session, attach: t.attach}, nil
		}
		return next, err
	}
	next := &target{on: r.Goal.On, silent: r.Goal.Silent, bypass: r.Goal.Kin && s.bypasses(ctx, t, id)}
	next.id, err = s.app.Resolve(ctx, s.home, r.Goal.Session)
	return next, err
}

// bypasses reports whether the mode bypassPermissions of a session that was left holds for its fork, with which its
// person goes on, and says so. It does if they have given the flag for that session and have not changed the mode
// since. A fork of a session that another process holds has it not, since the flag was given there.
func (s *sitting) bypasses(ctx context.Context, t target, id string) bool {
	st, err := s.home.State(ctx, id)
	if err != nil || st.Config.Mode != string(permission.ModeBypass) {
		return false
	}
	if t.attach || s.flags(t).mode != string(permission.ModeBypass) {
		s.app.Note("the mode is default here: %s is for the process that was given its flag", permission.ModeBypass)
		return false
	}
	s.app.Note("the mode is %s here, too, by the flag: shift+tab goes on to another one", permission.ModeBypass)
	return true
}

// leftOpen says that a session was left whose turn was under way.
func leftOpen(id string) string {
	return fmt.Sprintf("%s was left in mid-turn: its model stops there until /resume %s opens it again; what it started runs on", id, id)
}

// fresh begins a new session, with the model of the one that was left if no other can be found. Where none can begin,
// why is said in the session that was left.
func (s *sitting) fresh(ctx context.Context, from target) (*target, error) {
	err := s.ready(ctx)
	if err != nil && s.model() == "" && s.last != "" {
		if st, serr := s.home.State(ctx, s.last); serr == nil {
			s.f.model = st.Agent.Provider + "/" + st.Agent.Model
			err = s.ready(ctx)
		}
	}
	if err == nil || s.last == "" {
		return &target{}, err
	}
	s.app.Note("no new session: %v", err)
	return &target{id: s.last, attach: from.attach}, nil
}

// notOne reports that no session, or more than one, is called as was said.
func notOne(err error) bool {
	var e *app.ExitError
	return errors.As(err, &e) && (e.Code == app.ExitMissing || e.Code == app.ExitUsage)
}

// pick lets a person choose a session. What cannot be done with it is said there, and another one can be chosen.
func (s *sitting) pick(ctx context.Context, from target) (*target, error) {
	note := ""
	for {
		msg, err := screen.Pick(ctx, s.app, s.home, screen.Picking{Words: from.words, Note: note, Back: from.back != nil, Left: from.left})
		if err != nil || msg.What == picker.Return {
			return from.back, err
		}
		t, err := s.chosen(ctx, msg)
		if t != nil && err == nil && from.back != nil && from.back.on {
			if t.id == from.left && !t.attach {
				return from.back, nil
			}
			s.app.Note("%s", leftOpen(from.left))
		}
		if note = refusal(ctx, msg.What, err); note != "" {
			continue
		}
		if t != nil && s.given != nil && s.of == "" { // what the flags waited for
			if s.of = t.id; t.id == "" {
				s.f, s.given = s.given, nil
			}
		}
		return t, err
	}
}

// held lets a person choose what to do with a session that another process holds.
func (s *sitting) held(ctx context.Context, t target, held *store.HeldError) (*target, error) {
	note := ""
	for {
		what, err := screen.Held(ctx, s.app, s.home, held, t.id, t.silent, note)
		if err != nil {
			return nil, err
		}
		next, err := s.chosen(ctx, picker.ChosenMsg{ID: t.id, What: what})
		if note = refusal(ctx, what, err); note != "" {
			continue
		}
		if next != nil && !next.attach {
			next.on = t.on
		}
		return next, err
	}
}

// refusal is why what a person chose was not done, for the page where they chose it; empty: it was, or they have left.
func refusal(ctx context.Context, what picker.What, err error) string {
	if err == nil || ctx.Err() != nil {
		return ""
	}
	switch what {
	case picker.Fork:
		return "no fork: " + err.Error()
	case picker.TakeOver:
		return "not taken over: " + err.Error()
	case picker.Handoff:
		return "no handoff: " + err.Error()
	default:
		return ""
	}
}

// chosen is what a person chose to do with a session.
func (s *sitting) chosen(ctx context.Context, msg picker.ChosenMsg) (*target, error) {
	switch msg.What {
	case picker.Leave, picker.Return:
		return nil, nil
	case picker.Continue:
	case picker.Attach:
		return &target{id: msg.ID, attach: true}, nil
	case picker.TakeOver:
		return &target{id: msg.ID}, s.home.Takeover(ctx, msg.ID)
	case picker.Fork:
		return s.branchOf(ctx, msg.ID, false)
	case picker.Handoff:
		if _, err := s.home.WriteHandoff(ctx, msg.ID, false); err != nil {
			return nil, err
		}
		s.set.Knowledge.Handoff, s.f.handoff = "continue", "continue"
		return &target{}, nil
	}
	return &target{id: msg.ID}, nil
}
