package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/notify"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
)

// link is a session as the screen knows it: held by this process, or attached to while another one holds it.
type link struct {
	cfg      Config
	app      *app.App
	home     *homes.Home
	ctx      context.Context //nolint:containedctx // of the program
	dir      string
	notifier *notify.Notifier
	waits    *asks.Model

	mu    sync.Mutex // guards what follows; it is held while a session is made
	id    string
	held  *homes.Session
	still bool // nothing goes on before a person says so
	past  earlier
	feed  *feed
	send  func(tea.Msg)

	branched   time.Time
	branchName string
	first      string // words of the first prompt
}

func newKey() string { return uuid.NewString() }

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
		if l.held, err = l.home.Hold(ctx, l.id, homes.HoldOptions{Options: opt, Still: true}); err != nil {
			return beginning{}, err
		}
		l.still = true
	}
	st, err := l.state(ctx)
	if err != nil {
		return beginning{}, err
	}
	l.dir = st.Cwd
	l.past = earlier{home: l.home, id: l.id, dir: st.Cwd}
	fold := talk.New(talk.Config{Dir: st.Cwd, Words: l.past.words(ctx)})
	through := st.Head.Seq
	first, items, more, err := l.past.newest(ctx, fold, st)
	if err != nil {
		return beginning{}, err
	}
	if more && first <= 1 { // a fork that has said nothing yet: what it goes on from is shown
		older, still, err := l.past.older(ctx)
		if err != nil {
			return beginning{}, err
		}
		items, more = append(older, items...), still
	}
	l.feed = &feed{link: l, fold: fold, after: through}
	b := beginning{items: items, more: more, queue: fold.Queue(), stand: l.stand(ctx, st)}
	b.items = append(b.items, l.report(ctx)...)
	return b, nil
}

// made makes a session for the first message.
func (l *link) made(ctx context.Context, prompt string) error {
	id, err := l.cfg.Create(ctx, prompt)
	if err != nil {
		return err
	}
	opt, err := l.cfg.Options(ctx, id, true)
	if err != nil {
		return err
	}
	held, err := l.home.Hold(ctx, id, homes.HoldOptions{Options: opt})
	if err != nil {
		return err
	}
	l.id, l.held = id, held
	l.past = earlier{home: l.home, id: id, dir: l.dir, done: true}
	l.feed = &feed{link: l, fold: talk.New(talk.Config{Dir: l.dir, Words: l.past.words(ctx)})}
	list := newAsks(l.app, l.home, id, "ctrl+o", l.app.Styles())
	l.send(chat.Made{Asks: list})
	l.feed.start(l.ctx, l.send)
	return nil
}

// start begins to follow the session.
func (l *link) start(send func(tea.Msg)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send = send
	if l.feed != nil {
		l.feed.start(l.ctx, send)
	}
}

// close gives the session back.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		_ = l.held.Close()
	}
}

// bye leaves the terminal as it was.
func (l *link) bye(*chat.Model) {
	if l.notifier != nil {
		_, _ = app.Underneath(l.app.Stdout).Write([]byte(l.notifier.Leave()))
	}
}

// state is the session as of now.
func (l *link) state(ctx context.Context) (*session.State, error) {
	if l.held != nil {
		return l.held.State(ctx)
	}
	return l.home.State(ctx, l.id)
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

// Send brings a message; the first one makes the session.
func (l *link) Send(ctx context.Context, key string, d composer.Draft) error {
	text, more := parts(d)
	l.mu.Lock()
	if l.id == "" {
		if err := l.made(ctx, d.String()); err != nil {
			l.mu.Unlock()
			return err
		}
	}
	id, held := l.id, l.held
	l.still = false
	l.mu.Unlock()
	if held == nil {
		_, err := l.home.Send(ctx, id, key, text, more...)
		return err
	}
	return held.Send(ctx, key, text, more...)
}

// parts are a draft as a message: the text with names in the place of what is attached, then what is attached.
func parts(d composer.Draft) (text string, more []model.Part) {
	var b strings.Builder
	for _, p := range d.Parts {
		switch p := p.(type) {
		case composer.Text:
			b.WriteString(string(p))
		case composer.Pasted:
			n := len(more) + 1
			fmt.Fprintf(&b, "[pasted text %d]", n)
			more = append(more, talk.PastedPart(n, p.Lines, p.Text))
		case composer.Image:
			fmt.Fprintf(&b, "[image %s]", p.Name)
			more = append(more, model.Part{Type: model.BlockImage, Media: p.Media, Data: p.Data})
		}
	}
	return b.String(), more
}

// Withdraw takes a message back.
func (l *link) Withdraw(ctx context.Context, key string) error {
	id, _, err := l.there()
	if err != nil {
		return err
	}
	return l.home.Withdraw(ctx, id, key)
}

// Cancel ends what goes on, and names the commands that are ended with it.
func (l *link) Cancel(ctx context.Context) (stopped []string, err error) {
	id, held, err := l.there()
	if err != nil {
		return nil, err
	}
	st, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	if st.Turn != nil {
		for _, c := range st.Turn.Calls {
			if c.State == session.ActExecuting && c.Effect == session.EffectProcess && c.Start != nil && !c.Start.Background {
				stopped = append(stopped, plain.Line(c.Start.Command, 60))
			}
		}
	}
	l.goesOn()
	if held == nil {
		return stopped, l.home.Cancel(ctx, id)
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
	id, held, err := l.there()
	if err != nil {
		return nil, err
	}
	if held == nil {
		return &chat.Goal{Session: id}, nil // whoever holds it is found out by trying to
	}
	l.goesOn()
	defer l.feed.look()
	return nil, held.Continue(ctx)
}

// Older brings earlier items.
func (l *link) Older(ctx context.Context) ([]transcript.Item, bool, error) {
	return l.past.older(ctx)
}

// maxPeek bounds what is looked at of a command's output, in bytes: its end.
const maxPeek = 32 << 10

// Output is the end of what a running call has printed.
func (l *link) Output(_ context.Context, base string) (text string, omitted int64, err error) {
	id, _, err := l.there()
	if err != nil {
		return "", 0, err
	}
	act := base
	if st, err := l.state(l.ctx); err == nil {
		if c := st.Call(base); c != nil {
			act = c.ID
		}
	}
	end, err := l.home.Output(id, act, 1<<62, 1)
	if err != nil {
		return "", 0, err
	}
	from := max(end.To-maxPeek, 0)
	news, err := l.home.Output(id, act, from, maxPeek)
	return string(news.Bytes), from + news.Omitted, err
}

// Mode sets how freely the session may act.
func (l *link) Mode(ctx context.Context, mode string) error {
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
		err = l.home.Configure(ctx, id, homes.Options{Mode: m})
	}
	l.feed.look()
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
	var names []string
	for _, t := range l.home.Tasks().Live(st) {
		names = append(names, t.ID)
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " will go on: perdure task list"
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
