package perdure

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Waiting is something that needs a human before the turn can go on.
type Waiting = view.Waiting

// Options are what a caller brings to a session that it opens. Zero fields change nothing.
type Options struct {
	// Mode says what happens to calls that no rule decides. In default, what only reads inside of the session's
	// directories is allowed and all else asks; in acceptEdits, Write and Edit inside are allowed too; in plan, Write,
	// Edit, and Bash that does more than read are denied; in bypassPermissions all is allowed, and deny and ask rules,
	// deciding commands and protected paths still hold: it is a run's, and lasts no longer than the lease.
	Mode       string
	Rules      []view.Rule // if SetRules: replace the ones in force, but for those of source flag, which stay
	SetRules   bool        // Rules are meant, also if there are none
	MaxSteps   *int
	BudgetNano *int64
	CompactAt  *int           // how full the window may be before the conversation is compacted, in thousandths; 0: the default
	NoCompact  *bool          // compact only when asked
	OnLost     string         // after an act that nobody can tell the outcome of, files are taken back: rollback; or a person is asked first: ask; or not: tell, keep
	RetryFor   *time.Duration // how long a model that cannot be reached is waited for; 0: not at all; at first 24 hours
	AddDirs    []string
	Root       string      // another directory that the session belongs to, absolute
	Cwd        string      // another directory that commands run in, absolute; the model is told
	Agent      *Agent      // another provider, model, window and price; the rest of it is ignored
	Actor      store.Actor // who opens; zero: user
}

func (o Options) inner() session.Options {
	return session.Options{
		Mode: session.Mode(o.Mode), Rules: rulesOf(o.Rules), SetRules: o.SetRules, MaxSteps: o.MaxSteps, BudgetNano: o.BudgetNano,
		CompactAt: o.CompactAt, NoCompact: o.NoCompact, OnLost: o.OnLost, RetryFor: o.RetryFor, AddDirs: o.AddDirs, Root: o.Root, Cwd: o.Cwd,
		Agent: (*session.Agent)(o.Agent), Actor: o.Actor,
	}
}

// rulesOf keeps the difference between no rules and none given.
func rulesOf(rules []view.Rule) (out []session.Rule) {
	if rules != nil {
		out = []session.Rule{}
	}
	for _, r := range rules {
		out = append(out, session.Rule(r))
	}
	return out
}

// RunOptions are what a run is started with.
type RunOptions struct {
	Options
	Prompt    string             // empty: finish what is open and what was accepted, nothing new
	Key       string             // idempotency key of the prompt; empty: a new one
	Interrupt <-chan struct{}    // each receive cancels the open turn; never closed
	TurnEnded func(view.Turn)    // called as each turn ends; must not block
	Wait      bool               // do not end while the model is to be told of something, or a human is needed; see [Home.Run]
	Asleep    func(*view.Result) // called each time that it goes to sleep for that, with what Run would return; must not block
}

// Run takes a session's lease and runs it until it is idle or needs a human: first it settles what an earlier holder
// left open and finishes the open turn, then it runs accepted messages, then the prompt. When ctx ends it parks: the
// turn stays open, commands run on, and the result's stop reason is "parked".
//
// With Wait, the session is held and nothing is asked of a model while it awaits something: what is met, a message, an
// answer or an approval starts or continues a turn. It ends when nothing is awaited any more, when a limit has halted the
// turn, or by an interrupt, which leaves the awaits open.
//
// Errors: store.ErrNotFound, *store.HeldError, store.ErrUncertain, *store.CorruptError.
func (h *Home) Run(ctx context.Context, id string, opt RunOptions) (*view.Result, error) {
	return h.in.Run(ctx, id, homes.RunOptions{
		Options: opt.inner(), Prompt: opt.Prompt, Key: opt.Key, Interrupt: opt.Interrupt, TurnEnded: opt.TurnEnded, Wait: opt.Wait, Asleep: opt.Asleep,
	})
}

// Send brings a message to a session as a turn of its own: a text, and parts that follow it, such as images. It is
// accepted durably when Send returns; it runs when a holder runs the session. The same key and content again do nothing
// more. Errors: ErrRefused for a message without words, and besides ErrClosed for a session that was closed; ErrSecret,
// store.ErrKeyReused.
func (h *Home) Send(ctx context.Context, id, key, text string, more ...model.Part) error {
	_, err := h.in.Send(ctx, id, key, text, more...)
	return err
}

// Withdraw takes back a message that was sent under a key and whose turn has not begun. Errors: ErrRefused when no such
// message waits.
func (h *Home) Withdraw(ctx context.Context, id, key string) error {
	return h.in.Withdraw(ctx, id, key)
}

// Configure changes the mode, the limits, the compaction or the model of a session, whoever holds it: its holder takes
// it between two steps. The other fields of opt are not read. The mode in which nothing asks is refused: that is for
// [Session.Configure]. Errors: ErrRefused.
func (h *Home) Configure(ctx context.Context, id string, opt Options) error {
	return h.in.Configure(ctx, id, opt.inner())
}

// Answer answers the question that an act asked, whoever holds the session.
func (h *Home) Answer(ctx context.Context, id, act, text string) error {
	return h.in.Answer(ctx, id, act, text)
}

// Approval is a person's answer to a call that waits for one.
type Approval struct {
	Allow   bool
	Grant   string // a rule that is allowed from now on for the session's life; empty: only this call
	Message string // words for the model with a refusal
}

// Approve answers a call that waits for an approval, as [Home.View], a result or [Session.Waiting] shows it: its Session,
// Act and Bound are read. If the call is no longer what was shown, as Bound says, the answer is refused: ErrRefused.
func (h *Home) Approve(ctx context.Context, w Waiting, a Approval) error {
	return h.in.Approve(ctx, w, homes.Approval(a))
}

// Cancel asks to end a session's open turn.
func (h *Home) Cancel(ctx context.Context, id string) error { return h.in.Cancel(ctx, id) }

// Compact compacts a session's conversation: the model writes a summary, dwelling on focus if that is not empty, and its
// requests hold that, the user's messages, the running tasks and the newest steps from then on. The log keeps everything. A
// session that nobody holds is compacted before Compact returns, unless an open turn waits for something; then, and if
// somebody holds it, it is compacted before its next model call. Errors: store.ErrNotFound; ErrRefused when the model has
// not said anything yet. The text says why it is not done yet; empty: it is, and [Home.Context] shows what it came to.
func (h *Home) Compact(ctx context.Context, id, focus string) (notYet string, err error) {
	c, err := h.in.Compact(ctx, id, focus)
	return c.Why, err
}

// Await says what a session's model is to be told of: a task's end, a line of its output, or a time.
type Await struct {
	Event   string        // end, line or timer
	Task    string        // of end and line
	Pattern string        // RE2, of line
	After   time.Duration // of a timer: its delay; else: when to say that it has not happened; 0 is never
	Note    string        // words that the model is reminded by
}

// Await makes a session's model be told of something, as if it had asked for that, and returns the await's id. The
// intent is durable then, and watched by whoever holds the session: [Home.Run] with Wait. Errors: ErrRefused,
// store.ErrNotFound.
func (h *Home) Await(ctx context.Context, id string, a Await) (string, error) {
	return h.in.Await(ctx, id, session.Await{
		Event: session.AwaitEvent(a.Event), Task: a.Task, Pattern: a.Pattern, AfterMS: a.After.Milliseconds(), Note: a.Note,
	})
}

// DropAwait takes back what is awaited; the model is told with its next request. Errors: ErrRefused when that await is not
// open.
func (h *Home) DropAwait(ctx context.Context, id, await string) error {
	return h.in.DropAwait(ctx, id, await)
}
