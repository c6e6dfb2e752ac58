package desk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/board"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// source is a home as a board sees it.
type source struct {
	app   *app.App
	home  *homes.Home
	seen  time.Time // when somebody left the board last
	tilde func(string) string

	mu     sync.Mutex
	stamp  stamp
	full   time.Time // of the last look at everything
	probed time.Time // of the last look at who holds something
	back   time.Time // of the last attempt to bring something back
	held   map[string]string
	abouts map[string]about
}

// stamp changes with each commit of any process to the home.
type stamp struct {
	size int64
	at   time.Time
}

// about is what was found out about a session as of an event.
type about struct {
	head store.Head
	text string
}

// How often everything is looked at though no commit says that something has changed, how often those that hold
// something are: a process that is killed commits nothing; and how often what was killed is brought back.
const (
	fullEvery  = time.Minute
	probeEvery = 3 * time.Second
	backEvery  = 10 * time.Second
	maxListed  = 5000
	recent     = 7 * 24 * time.Hour // what stopped longer ago waits for nobody any more
)

func newSource(a *app.App, h *homes.Home) *source {
	s := &source{app: a, home: h, tilde: a.Tilde, held: map[string]string{}, abouts: map[string]about{}}
	s.seen = background.Seen(h.Dir())
	if s.seen.IsZero() {
		s.seen = a.Now().Add(-24 * time.Hour)
	}
	return s
}

// seenNow notes that a person has looked.
func (s *source) seenNow() { background.SeenNow(s.home.Dir()) }

// List looks at all sessions, if anything has changed.
func (s *source) List(ctx context.Context) ([]board.Row, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if st := stampOf(s.home.Dir()); !s.full.IsZero() && st == s.stamp && now.Sub(s.full) < fullEvery && !s.holdersMoved(ctx, now) {
		return nil, false, nil
	}
	s.stamp = stampOf(s.home.Dir()) // before the look: what comes during it is seen by the next one
	entries := s.supervise(ctx, now)
	var rows []board.Row
	held := map[string]string{}
	q := store.Query{Limit: 1000}
	for len(rows) < maxListed {
		page, err := s.home.List(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, l := range page.Sessions {
			if sessions.OnlyTasks(l) && l.Heads.Turns == 0 {
				continue
			}
			if l.Holder != nil {
				held[l.ID] = holder(l.Info)
			}
			rows = append(rows, s.row(ctx, l, entries[l.ID]))
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
	}
	s.full, s.held = now, held
	return rows, true, nil
}

func stampOf(home string) stamp {
	info, err := os.Stat(filepath.Join(home, "perdure.mark"))
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// holder tells one holder, and whether it lives, from another.
func holder(info store.Info) string {
	if info.Holder == nil {
		return ""
	}
	return info.Holder.ID + string(info.Holder.Alive)
}

// holdersMoved reports whether a process that had a session has died.
func (s *source) holdersMoved(ctx context.Context, now time.Time) bool {
	if now.Sub(s.probed) < probeEvery {
		return false
	}
	s.probed = now
	for id, was := range s.held {
		if info, err := s.home.Store().Get(ctx, id); err != nil || holder(info) != was {
			return true
		}
	}
	return false
}

// supervise gives the sessions in the background, and brings back those that were killed.
func (s *source) supervise(ctx context.Context, now time.Time) map[string]background.Entry {
	k := background.Keeper{App: s.quiet(), Home: s.home}
	all := k.All()
	due := slices.ContainsFunc(all, func(e background.Entry) bool { return e.State == background.Killed || e.State == background.Queued })
	if due && now.Sub(s.back) >= backEvery && s.app.Exe != "" && s.app.Inside() == "" {
		s.back = now
		if _, err := k.BringBack(ctx, background.Look{}); err == nil { // what goes wrong stands in the row
			all = k.All()
		}
	}
	out := map[string]background.Entry{}
	for _, e := range all {
		out[e.Session] = e
	}
	return out
}

// quiet is the world of this process without its voice, which would tear the screen.
func (s *source) quiet() *app.App {
	a := *s.app
	var said bytes.Buffer
	a.Stdout, a.Stderr = &said, &said
	return &a
}

// row is one session.
func (s *source) row(ctx context.Context, l view.Listing, e background.Entry) board.Row {
	title, _ := sessions.Known(l)
	r := board.Row{ID: l.ID, Title: title, Dir: s.tilde(l.Heads.Cwd), Status: sessions.Stands(l), Since: since(homes.Stirred(l))}
	if l.Heads.CostNano != nil && *l.Heads.CostNano > 0 {
		r.Cost = fmt.Sprintf("$%.2f", float64(*l.Heads.CostNano)/1e9)
	}
	r.Background = e.Session != ""
	r.Group = s.group(l)
	switch {
	case r.Background && e.State == background.Refused && !sessions.Rests(l):
		r.Group, r.About = board.Waits, "does not run: "+e.Why
		return r
	case r.Background && e.State != background.Supervised && !sessions.Rests(l):
		r.Group, r.Status = board.Works, map[background.State]string{background.Queued: "queued", background.Killed: "killed"}[e.State]
		return r
	}
	if r.Group == board.Waits {
		r.Answerable = l.Activity == string(session.Waiting)
		r.About = s.about(ctx, l)
	}
	return r
}

// group is what a session needs.
func (s *source) group(l view.Listing) board.Group {
	old := s.app.Now().Sub(since(homes.Stirred(l))) > recent
	switch activity := session.Activity(l.Activity); {
	case sessions.Rests(l):
		return board.Rests
	case activity == session.Waiting:
		return board.Waits
	case activity == session.Running, activity == session.Asleep:
		return board.Works
	case activity != session.Idle && !old: // failed, stopped, killed or left: it goes on if a person says so
		return board.Waits
	case activity == session.Idle && l.Heads.Turns > 0 && since(homes.Stirred(l)).After(s.seen):
		return board.News
	}
	return board.Rests
}

// about says what a session waits for, or what keeps it from going on.
func (s *source) about(ctx context.Context, l view.Listing) string {
	if known, ok := s.abouts[l.ID]; ok && known.head == l.Head {
		return known.text
	}
	st, err := s.home.State(ctx, l.ID)
	if err != nil {
		return err.Error()
	}
	text := ""
	waits := pending.Both(st)
	f := st.Failure()
	switch {
	case len(waits) > 1:
		text = fmt.Sprintf("%s, and %d more", pending.Line(waits[0]), len(waits)-1)
	case len(waits) == 1:
		text = pending.Line(waits[0])
	case f != nil:
		text = f.Message
	case l.Activity == string(session.Interrupted):
		text = "its process was killed: perdure -p -r goes on"
	}
	if len(s.abouts) >= maxListed {
		clear(s.abouts)
	}
	s.abouts[l.ID] = about{l.Head, text}
	return text
}

// inGroups are the rows in the order in which they are shown.
func inGroups(rows []board.Row) []board.Row {
	slices.SortStableFunc(rows, func(a, b board.Row) int {
		if a.Group != b.Group {
			return int(a.Group - b.Group)
		}
		return b.Since.Compare(a.Since)
	})
	return rows
}

// Pause lets a session start nothing new.
func (s *source) Pause(ctx context.Context, id string) error {
	return sessions.SetLifecycle(ctx, s.quiet(), s.home, id, session.LifecyclePaused, session.LifecycleOpen)
}

// Close declares a session done.
func (s *source) Close(ctx context.Context, id string) error {
	return sessions.SetLifecycle(ctx, s.quiet(), s.home, id, session.LifecycleClosed, session.LifecycleOpen, session.LifecyclePaused)
}

// startsWithin bounds how long the command that starts a session may take.
const startsWithin = time.Minute

// Start lets a prompt run in the background, in a process of its own: this one has the home open.
func (s *source) Start(ctx context.Context, prompt string) (string, error) {
	path := s.app.Exe
	if runtime.GOOS == "linux" && path != "" {
		path = "/proc/self/exe"
	}
	if path == "" {
		return "", errors.New("the path of this program is not known")
	}
	ctx, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Env, cmd.Dir = []string{"perdure", "start", "--", prompt}, s.app.Environ, s.app.Dir
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			err = errors.New(strings.TrimPrefix(text, "perdure: "))
		}
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}
