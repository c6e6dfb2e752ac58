package background

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Report is what a look has come to, by session, in the order in which they were started.
type Report struct {
	Back    []string          // brought back: their supervisors were killed
	Begun   []string          // begun now, or a place became free for them
	Queued  []string          // they begin when others rest
	Over    []string          // nothing is left to do: they are no background sessions any more
	Down    map[string]string // kept down, and why
	Without []string          // of Back, those that began in mode bypassPermissions and ask again now
}

// Start lets a session run on without a terminal. All that is to be done stands in its log. It reports whether the
// session waits for a place. With bypass it never asks for permission while its supervisor lives; it begins at once then.
//
// The record is durable before anything is started: whatever is killed then, the next look goes on. Errors: those of the
// supervisor's beginning, which leave the record; *store.HeldError leaves none.
func (k Keeper) Start(ctx context.Context, id string, most int, bypass bool) (rep Report, err error) {
	if !named(id) {
		return rep, fmt.Errorf("session %s: %w", id, store.ErrBadID)
	}
	home, err := k.home()
	if err != nil {
		return rep, err
	}
	st, err := k.Home.State(ctx, id)
	if err != nil {
		return rep, err
	}
	r := Record{
		Version: recordVersion, Session: id, Home: home, Cwd: k.App.Dir, Env: k.needs(st), Started: k.App.Now().UnixMilli(),
		Most: min(max(most, 1), maxMost), Bypass: bypass,
	}
	err = k.deciding(ctx, func() error {
		if info, err := k.Home.Store().Get(ctx, id); err != nil {
			return err
		} else if info.Holder != nil && info.Holder.Alive != store.Dead {
			return &store.HeldError{Session: id, Holder: *info.Holder}
		}
		if err := write(k.Home.Dir(), r); err != nil {
			return err
		}
		if bypass {
			rep.Begun = append(rep.Begun, id)
			return k.begin(ctx, r, true)
		}
		rep, err = k.pass(ctx, Look{})
		return err
	})
	return rep, err
}

// needs are the variables that a session's model needs and has here.
func (k Keeper) needs(st *session.State) []string {
	return slices.DeleteFunc(connect.Variables(st.Agent.Provider), func(name string) bool { return k.App.Getenv(name) == "" })
}

// Look says how far a look goes.
type Look struct {
	Insist bool // what failed is tried again, and what was copied or moved from another home is taken
	Most   int  // instead of each record's own bound; 0: that
}

// BringBack starts a supervisor for each session that is wanted and has none, in the order in which they were started and
// no more than are to work at once. However many do it at the same time, each session gets one.
func (k Keeper) BringBack(ctx context.Context, look Look) (rep Report, err error) {
	err = k.deciding(ctx, func() error {
		rep, err = k.pass(ctx, look)
		return err
	})
	return rep, err
}

// pass is one look, while nobody else looks.
func (k Keeper) pass(ctx context.Context, look Look) (Report, error) {
	rep := Report{Down: map[string]string{}}
	working := k.working(ctx)
	var due []Record
	for _, e := range k.All() {
		if e.State == Supervised {
			continue
		}
		switch why, wanted := k.due(ctx, &e, look); {
		case ctx.Err() != nil:
			return rep, ctx.Err()
		case why != "":
			rep.Down[e.Session] = why
		case e.Over:
			rep.Over = append(rep.Over, e.Session)
		case !wanted:
		case working+len(due) >= bound(look, e.Record):
			rep.Queued = append(rep.Queued, e.Session)
		default:
			due = append(due, e.Record)
		}
	}
	errs := make([]error, len(due))
	var all sync.WaitGroup
	for i, r := range due {
		all.Go(func() { errs[i] = k.begin(ctx, r, false) })
	}
	all.Wait()
	for i, r := range due {
		switch {
		case errs[i] != nil:
			rep.Down[r.Session] = errs[i].Error()
		case r.Begun:
			rep.Back = append(rep.Back, r.Session)
			if r.Bypass {
				rep.Without = append(rep.Without, r.Session)
			}
		default:
			rep.Begun = append(rep.Begun, r.Session)
		}
	}
	return rep, nil
}

func bound(look Look, r Record) int {
	if look.Most > 0 {
		return min(look.Most, maxMost)
	}
	return r.Most
}

// due tells whether a session without a supervisor is to get one, and what keeps it down. A record of which nothing is
// left to do is removed.
func (k Keeper) due(ctx context.Context, e *Entry, look Look) (why string, wanted bool) {
	id := e.Session
	failed := e.Failed != ""
	if e.State == Refused && (!failed || !look.Insist) {
		return e.Why, false
	}
	home, err := k.home()
	if err != nil {
		return err.Error(), false
	}
	info, err := k.Home.Store().Get(ctx, id)
	var st *session.State
	if err == nil {
		st, err = k.Home.State(ctx, id)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return k.forget(id), false
	case err != nil:
		return err.Error(), false
	case info.Holder != nil && info.Holder.Alive != store.Dead:
		return "", false // whoever holds it runs it
	case e.Home != home && !look.Insist:
		return "it was started in " + e.Home + ", and may run there: perdure start --resume-all lets it run here", false
	case over(st, info.Pending):
		e.Over = true
		return k.forget(id), false
	}
	if missing := k.missing(e.Record); len(missing) > 0 {
		return "not set here, but where it was started: " + strings.Join(missing, ", "), false
	}
	if len(e.recent(k.App.Now())) >= maxStarts && !look.Insist {
		return fmt.Sprintf("its process was killed %d times within %v", maxStarts, startsWithin), false
	}
	if e.Home, e.Failed = home, ""; look.Insist {
		e.Starts = nil
	}
	return "", true
}

// forget removes the record of a session that is done.
func (k Keeper) forget(id string) (why string) {
	if err := remove(k.Home.Dir(), id); err != nil {
		return err.Error()
	}
	return ""
}

// missing are the variables that a session's model had where it was started, and does not have here.
func (k Keeper) missing(r Record) []string {
	return slices.DeleteFunc(slices.Clone(r.Env), func(name string) bool { return k.App.Getenv(name) != "" })
}

// begin starts the supervisor of a record. Whoever holds the session meanwhile runs it: that is no error.
func (k Keeper) begin(ctx context.Context, r Record, bypass bool) error {
	r.Begun, r.Starts = true, append(r.recent(k.App.Now()), k.App.Now().UnixMilli())
	if err := write(k.Home.Dir(), r); err != nil {
		return err
	}
	f, r, err := open(k.Home.Dir(), r.Session)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the supervisor has it, and the lock with it
	if !lock(k.Home.Dir(), r.Session, f, meaning) {
		return fmt.Errorf("the record of session %s is locked by somebody else", r.Session)
	}
	return k.launch(ctx, r, f, bypass)
}
