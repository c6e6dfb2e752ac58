package screen

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/notify"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// link is a session as the screen knows it: held by this process, or attached to while another one holds it. Its methods
// are called from many goroutines.
type link struct {
	cfg      Config
	app      *app.App
	home     *homes.Home
	ctx      context.Context //nolint:containedctx // of the program
	end      func()          // ends ctx
	dir      string
	notifier *notify.Notifier
	waits    *asks.Model
	thrift   *thrift // nil: memory is not looked after
	send     func(tea.Msg)

	busy   sync.WaitGroup // those who do something with the session
	making sync.Mutex     // held while a session is made

	mu    sync.Mutex // guards what follows; nobody waits for anything while it is held
	left  bool       // the screen was left: nothing begins any more
	id    string
	bare  string // a session that was made for the first message, and could not be held yet
	held  *homes.Session
	still bool // nothing goes on before a person says so
	past  *earlier
	feed  *feed

	watching sync.WaitGroup // what start began

	looking    sync.Mutex // guards what follows, which is looked up now and then
	branched   time.Time
	branchName string
	first      string // words of the first prompt
	silence    silence
	silent     string // how the holder does not answer
}

func newLink(ctx context.Context, cfg Config) *link {
	l := &link{cfg: cfg, app: cfg.App, home: cfg.Home, id: cfg.ID, send: func(tea.Msg) {}}
	l.ctx, l.end = context.WithCancel(ctx)
	return l
}

func newKey() string { return uuid.NewString() }

// titles tells whether the model may be asked for a title.
func (l *link) titles() bool { return l.cfg.Set.UI.Switches().Titles }

// session is the id; empty: none was made.
func (l *link) session() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// open takes the session, or looks at it, and gives what is known of it.
func (l *link) open(ctx context.Context) (beginning, error) {
	if !l.cfg.Attach {
		opt, err := l.cfg.Options(ctx, l.id, false)
		if err != nil {
			return beginning{}, err
		}
		if l.held, err = l.home.Hold(ctx, l.id, homes.HoldOptions{Options: opt, Still: true, Titles: l.titles()}); err != nil {
			return beginning{}, err
		}
		l.still = true
	}
	st, err := l.state(ctx)
	if err != nil {
		return beginning{}, err
	}
	l.dir = st.Cwd
	l.past = newEarlier(l.home, l.id, st.Cwd)
	l.feed = newFeed(l, l.past.fold(ctx), st.Head.Seq)
	l.past.join = l.feed.join
	b := beginning{stand: l.stand(ctx, st)}
	if b.items, b.more, err = l.past.newest(ctx, l.feed.fold, st); err != nil {
		return beginning{}, err
	}
	b.queue = l.feed.fold.Queue()
	b.items = append(b.items, l.report(ctx)...)
	return b, nil
}

// made makes a session for the first message, if there is none.
func (l *link) made(ctx context.Context, prompt string) error {
	l.making.Lock()
	defer l.making.Unlock()
	if l.session() != "" {
		return nil
	}
	if l.bare == "" {
		id, err := l.cfg.Create(ctx, prompt)
		if err != nil {
			return err
		}
		l.bare = id
	}
	opt, err := l.cfg.Options(ctx, l.bare, true)
	if err != nil {
		return err
	}
	held, err := l.home.Hold(ctx, l.bare, homes.HoldOptions{Options: opt, Titles: l.titles()})
	if err != nil {
		return err
	}
	past := newEarlier(l.home, l.bare, l.dir)
	past.done = true
	f := newFeed(l, past.fold(l.ctx), 0)
	past.join = f.join
	l.mu.Lock()
	l.id, l.held, l.past, l.feed = l.bare, held, past, f
	l.mu.Unlock()
	l.send(chat.Made{Asks: l.asks()})
	f.start(l.ctx, l.send)
	return nil
}

// start begins to follow the session.
func (l *link) start(send func(tea.Msg)) {
	l.send = send
	l.watching.Go(l.works)
	if l.feed != nil {
		l.feed.start(l.ctx, send)
	}
}

// enter is called by whoever does something with the session, and done when it is over; an error: the screen was left.
func (l *link) enter() (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left {
		return nil, errors.New("the screen was left")
	}
	l.busy.Add(1)
	return l.busy.Done, nil
}

// close ends what is under way, waits for it and gives the session back. A message that is being sent is sent.
func (l *link) close() {
	l.mu.Lock()
	l.left = true
	l.mu.Unlock()
	l.end()
	l.busy.Wait()
	l.watching.Wait()
	if l.feed != nil {
		l.feed.running.Wait()
	}
	if l.held != nil {
		_ = l.held.Close()
	}
}

// bye leaves the terminal as it was, and keeps what was written.
func (l *link) bye(m *chat.Model) {
	_ = l.KeepDraft(context.WithoutCancel(l.ctx), m.Written()) // its person was told if it cannot be kept
	if l.notifier != nil {
		_, _ = app.Underneath(l.app.Stdout).Write([]byte(l.notifier.Leave()))
	}
}

// state is the session as of now.
func (l *link) state(ctx context.Context) (*session.State, error) {
	id, held, err := l.there()
	switch {
	case err != nil:
		return nil, err
	case held != nil:
		return held.State(ctx)
	}
	return l.home.State(ctx, id)
}

// errNone is about a session that does not exist yet.
var errNone = errors.New("there is no session yet: it begins with the first message")

// there is the id and the held session; an error before there is one.
func (l *link) there() (id string, held *homes.Session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id == "" {
		return "", nil, errNone
	}
	return l.id, l.held, nil
}

// look has the stand looked at soon.
func (l *link) look() {
	l.mu.Lock()
	f := l.feed
	l.mu.Unlock()
	if f != nil {
		f.look()
	}
}

// sendWithin bounds how long a message may take until it is durable; its session may take longer to be made, as long as the
// screen is there, since it may need a copy of many files.
const sendWithin = 30 * time.Second

// Send brings a message; the first one makes the session. One that is under way when the screen is left still arrives.
func (l *link) Send(ctx context.Context, key string, d composer.Draft) error {
	done, err := l.enter()
	if err != nil {
		return err
	}
	defer done()
	making, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(l.ctx, func() { time.AfterFunc(sendWithin, stop) })()
	if err := l.made(making, d.String()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendWithin)
	defer cancel()
	text, more := parts(d)
	id, held, err := l.there()
	if err != nil {
		return err
	}
	if held == nil { // it is accepted, whether or not somebody reads it now
		if _, err := l.home.Send(ctx, id, key, text, more...); err != nil {
			return err
		}
		return l.seat(ctx, id)
	}
	if err := l.seat(ctx, id); err != nil {
		return err
	}
	l.goesOn() // a held session does so even if it refuses the message
	return held.Send(ctx, key, text, more...)
}

// seat opens a paused session again, since its person has said something in it, and notes that somebody sits at one that
// this process holds.
func (l *link) seat(ctx context.Context, id string) error {
	st, err := l.state(ctx)
	if err != nil {
		return err
	}
	if st.Lifecycle == session.LifecyclePaused {
		if err := l.tell(ctx, id, &session.LifecycleSet{To: session.LifecycleOpen}); err != nil {
			return err
		}
	}
	if _, held, _ := l.there(); held == nil || st.Labels[app.LabelSeat] == app.SeatScreen {
		return nil
	}
	return l.tell(ctx, id, &session.Labelled{Labels: map[string]string{app.LabelSeat: app.SeatScreen}})
}

// tell brings something to the session. Nobody waits for a holder that does not look.
func (l *link) tell(ctx context.Context, id string, body session.Body) error {
	return l.app.Within(ctx, l.home, id, patience, func(ctx context.Context) error { return l.home.Deliver(ctx, id, "", body) })
}

// patience is how long another process may take until it accepts what was sent.
const patience = 5 * time.Second

// Withdraw takes a message back.
func (l *link) Withdraw(ctx context.Context, key string) error {
	done, err := l.enter()
	if err != nil {
		return err
	}
	defer done()
	id, _, err := l.there()
	if err != nil {
		return err
	}
	return l.app.Within(ctx, l.home, id, patience, func(ctx context.Context) error { return l.home.Withdraw(ctx, id, key) })
}

// Cancel ends what goes on, and names the commands that are ended with it.
func (l *link) Cancel(ctx context.Context) (stopped []string, err error) {
	done, err := l.enter()
	if err != nil {
		return nil, err
	}
	defer done()
	id, held, err := l.there()
	if err != nil {
		return nil, err
	}
	st, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	stopped = RunsOn(st)
	l.goesOn()
	if held == nil {
		return stopped, l.app.Within(ctx, l.home, id, patience, func(ctx context.Context) error { return l.home.Cancel(ctx, id) })
	}
	return stopped, held.Interrupt(ctx)
}

// goesOn notes that a person has said that it goes on.
func (l *link) goesOn() {
	l.mu.Lock()
	l.still = false
	l.mu.Unlock()
}

// Continue lets a turn go on, here if nobody else runs the session.
func (l *link) Continue(ctx context.Context) (*chat.Goal, error) {
	done, err := l.enter()
	if err != nil {
		return nil, err
	}
	defer done()
	id, held, err := l.there()
	if err != nil {
		return nil, err
	}
	if held == nil {
		l.looking.Lock()
		defer l.looking.Unlock()
		return &chat.Goal{Session: id, On: true, Silent: l.silent}, nil // whoever holds it is found out by trying to
	}
	defer l.look()
	if err := l.seat(ctx, id); err != nil {
		return nil, err
	}
	l.goesOn()
	return nil, held.Continue(ctx)
}

// begin lets a session go on of which a person has answered something.
func (l *link) begin(ctx context.Context) error {
	l.mu.Lock()
	held, still := l.held, l.still
	l.mu.Unlock()
	if held == nil || !still {
		return nil
	}
	defer l.look()
	l.goesOn()
	return held.Begin(ctx)
}

// Older brings earlier items.
func (l *link) Older(ctx context.Context) ([]transcript.Item, bool, error) {
	done, err := l.enter()
	if err != nil {
		return nil, true, err
	}
	defer done()
	l.mu.Lock()
	past := l.past
	l.mu.Unlock()
	if past == nil {
		return nil, false, nil
	}
	return past.older(ctx)
}

// Again has Older begin anew, with what the session's log has as far as that event.
func (l *link) Again(through int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.past; was != nil {
		l.past = newEarlier(l.home, was.own, was.dir)
		l.past.through, l.past.join, l.past.first, l.past.page = through, was.join, was.first, was.page
	}
}

// Mode sets how freely the session may act.
func (l *link) Mode(ctx context.Context, mode string) error {
	done, err := l.enter()
	if err != nil {
		return err
	}
	defer done()
	m, err := permission.ParseMode(mode)
	if err != nil {
		return err
	}
	id, held, err := l.there()
	switch {
	case err != nil:
		return l.want(ctx, mode, "")
	case held != nil:
		err = held.Configure(ctx, homes.Options{Mode: m})
	default:
		err = l.app.Within(ctx, l.home, id, patience, func(ctx context.Context) error {
			return l.home.Configure(ctx, id, homes.Options{Mode: m})
		})
	}
	l.look()
	return err
}

// Leaving says what goes on when the screen is left.
func (l *link) Leaving(ctx context.Context) string {
	id, _, err := l.there()
	if err != nil {
		return ""
	}
	st, err := l.home.State(ctx, id)
	if err != nil {
		return ""
	}
	names := RunsOn(st)
	for _, t := range l.home.Tasks().Live(st) {
		names = append(names, t.ID)
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " will go on"
}

// RunsOn names the commands of the open turn that run and go on without this process: the next one that holds the
// session collects what they print.
func RunsOn(st *session.State) (names []string) {
	if st.Turn == nil {
		return nil
	}
	for _, c := range st.Turn.Calls {
		if c.State == session.ActExecuting && c.Effect == session.EffectProcess && c.Start != nil && !c.Start.Background {
			names = append(names, plain.Line(c.Start.Command, 60))
		}
	}
	return names
}

// want sets the mode or the model of a session that is not made yet.
func (l *link) want(ctx context.Context, mode, model string) error {
	stand, err := l.cfg.Want(ctx, mode, model)
	if err != nil {
		return err
	}
	stand.Branch = l.branch()
	l.send(chat.Changed{Stand: &stand})
	return nil
}
