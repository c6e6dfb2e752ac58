package screen

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/internal/ui/rewind"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
)

// What the tests see of this room besides what it exports.
var (
	NewAsks  = newAsks
	Parts    = parts
	Exported = exported
)

// PermissionsSource is the source of the page of permissions; run does what its commands do.
func PermissionsSource(a *app.App, h *homes.Home, id string, run func(args ...string) error) panels.PermissionsSource {
	return permissionsOf{a, h, id, func(_ context.Context, verb string, args ...string) (chat.Reply, error) {
		return chat.Reply{}, run(append([]string{verb}, args...)...)
	}}
}

// MaxPrompt is how long a message is at most that the history offers.
const MaxPrompt = maxPrompt

// Link is a session as a screen has it, without a terminal.
type Link struct{ *link }

// Began is what a screen begins with.
type Began struct {
	Items []transcript.Item
	More  bool
	Queue []chat.Queued
	Stand chat.Stand
}

// OpenLink does what [Open] does before it draws; what comes goes to send.
func OpenLink(ctx context.Context, cfg Config, send func(tea.Msg)) (Link, Began, error) {
	l := Link{newLink(ctx, cfg)}
	l.dir = cfg.App.Dir
	var b beginning
	var err error
	if cfg.ID != "" {
		b, err = l.open(l.ctx)
	}
	if err == nil {
		l.start(send)
	}
	return l, Began{b.items, b.more, b.queue, b.stand}, err
}

// Close is what leaving a screen does.
func (l Link) Close() { l.close() }

// Session is the id.
func (l Link) Session() string { return l.session() }

// Answers is the source of the list of what the session asks.
func (l Link) Answers() asks.Source {
	return answers{inbox.NewSource(l.app, l.home, l.session()), l.link}
}

// Screen is the model that is drawn.
func (l Link) Screen(b Began) (*chat.Model, error) {
	return l.model(l.ctx, beginning{b.Items, b.More, b.Queue, b.Stand})
}

// Pages has so many events read at least: first, and of each page before that.
func (l Link) Pages(first, page int) { l.past.first, l.past.page = first, page }

// Silence watches whether a holder answers.
type Silence struct{ silence }

// Look says how it does not.
func (s *Silence) Look(info store.Info, now time.Time) string { return s.look(info, now) }

// SilentAfter is how long that takes.
const SilentAfter = silentAfter

// Written is what was written here before.
func (l Link) Written() composer.Draft { return l.written() }

// Applying is the source of the page of /apply.
func (l Link) Applying(args string) rewind.Source { return l.applying(args) }
