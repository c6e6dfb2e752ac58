// Package perdure keeps the whole existence of an AI agent durable: its conversation, its workflow state, usage,
// permissions, files, working directory and running commands. Kill the agent anywhere: nothing acknowledged is lost,
// no act is silently repeated, its commands keep running.
//
// A [Home] is a directory that holds sessions. There are three ways to use it:
//
//   - let it run the agent: [Home.Create], then [Home.Run] with a prompt; or [Home.Hold], for a program that stays with
//     the session: prompts, interrupts, answers and approvals, with the model's words as they come;
//   - keep the sessions of an agent of your own: [Home.Record], then [Recorder.User], [Recorder.Assistant],
//     [Recorder.ToolResult], or [Recorder.Append] with app events, facts and scratch state; [Home.Fork];
//   - look on and steer from outside: [Home.View], [Home.Events], [Home.Follow], [Home.Send], [Home.Answer],
//     [Home.Approve], [Home.Cancel]; [Home.Tasks] for the commands that run on.
//
// Beside it are package view (what is known of a session, as data), model (what is said: messages, tokens, prices) and
// tool (tools of your own). Package modelapi is the contract of a model API of your own; store has the log's envelope,
// errors, and the contract of a store of your own.
//
// Duties of the caller: call [RunShimIfAsked] first thing in main (and in TestMain), or set Config.ShimPath; without
// either, process tools are refused. Call [HideKeys] if commands of sessions must not find the keys of model APIs in this
// process's environment. Close what you open. When an error wraps store.ErrUncertain, end the process: the
// next one reads what the log holds.
package perdure

import (
	"context"
	"log/slog"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/tool"
	"github.com/perdure/perdure/view"
)

// Home is an open directory of sessions. It is safe for concurrent use, and several processes may have it open.
type Home struct{ in *homes.Home }

// Config is what a Home is opened with. The zero value is a good start.
type Config struct {
	// Store holds the sessions in place of the database in the directory; it is closed with the home. Files of acts and
	// outputs lie in the directory all the same. What it cannot do by its optional abilities, the home cannot: without
	// store.Archiver there is no Backup, without store.Notifier those who wait look every 20 ms. The perdure command
	// knows only the database: it does not see these sessions.
	Store    store.Store
	Environ  []string                                     // KEY=VALUE; nil: the process's. Provider keys never reach commands
	Tools    []tool.Tool                                  // nil: Tools()
	Provider func(spec string) (modelapi.Provider, error) // by PROVIDER/MODEL; nil: what Environ configures
	ShimPath []string                                     // argv prefix of a program that calls RunShimIfAsked; nil: this one
	Protect  []string                                     // more paths whose change always asks
	Memory   string                                       // where what agents remember lies: "home", "project", in its .agent directory, or "ask", there if its user consented; empty: they have no memory
	// MinSession is how long the turns of a session must have taken for it to leave a handoff at its end, where there
	// is a memory; nil: 15 minutes.
	MinSession *time.Duration
	// CommitKnowledge has the files of a project's knowledge committed to its repository at the end of a session, and them
	// alone, where Memory is "project".
	CommitKnowledge bool
	// Instructions has sessions read AGENTS.md, or CLAUDE.md where there is none: the user's in $XDG_CONFIG_HOME/perdure,
	// and those of the project that they work in. They are text for the model and no permission.
	Instructions bool
	Limits       view.Limits            // of every command that a session's model starts
	Secrets      map[string]string      // more values that are replaced by [secret:NAME]
	Prices       map[string]model.Price // by PROVIDER/MODEL: they come before the known ones
	Windows      map[string]int64       // sizes of context windows in tokens, by PROVIDER/MODEL, as well
	Observe      func(Update)           // sees events and deltas of sessions that this process runs; must not block
	Log          *slog.Logger           // nil discards
	Now          func() time.Time       // nil: the system's clock
}

// Tools are the built-in ones, to which a program may add its own: Bash, BashOutput, BashInput, KillBash, Await, Read,
// Write, Edit, Glob, Grep, TodoWrite, Note, History, AskUser.
func Tools() []tool.Tool { return tools.Public(tools.Builtin()) }

// RunShimIfAsked turns this process into the shim of a command if it was started as one, and never returns then. Call
// it first thing in main, before flags are parsed.
func RunShimIfAsked() { homes.RunShimIfAsked() }

// HideKeys puts the keys of model APIs out of other processes' reach, as far as the system lets it. On Linux their
// values are overwritten in the environment that the process was started with, which every process of the same user
// finds in /proc/PID/environ; and the process is made one that others of its user may not trace, so that neither its
// memory nor its descriptors can be read, and that leaves no core file. Root can still read its memory. On other systems
// it does nothing.
//
// os.Getenv and Open find the keys as before. Call it early in main. It changes the whole process: a debugger can no
// longer be attached without root, and C code that reads the environment finds the values gone.
func HideKeys() error { return homes.HideKeys() }

// Open opens a directory of sessions; an empty name is the one that the perdure command uses: $PERDURE_HOME, else
// perdure in $XDG_DATA_HOME or ~/.local/share. Reading changes nothing in it; the first write makes it (0700) if it is not
// there. Errors: store.ErrNetworkFS, store.ErrNewer, store.ErrUnreadable, ErrInvalid.
func Open(ctx context.Context, dir string, cfg Config) (*Home, error) {
	in := homes.Config{
		Store: cfg.Store, Environ: cfg.Environ, Provider: cfg.Provider, ShimPath: cfg.ShimPath, Protect: cfg.Protect,
		Limits: command.Limits(cfg.Limits), Secrets: cfg.Secrets, Prices: cfg.Prices, Windows: cfg.Windows, Memory: cfg.Memory, Instructions: cfg.Instructions, MinSession: cfg.MinSession, CommitKnowledge: cfg.CommitKnowledge, Log: cfg.Log, Now: cfg.Now,
	}
	if cfg.Tools != nil {
		in.Tools = tools.Of(cfg.Tools)
	}
	if cfg.Observe != nil {
		in.Observe = func(u engine.Update) { cfg.Observe(updateOf(u)) }
	}
	h, err := homes.Open(ctx, dir, in)
	if err != nil {
		return nil, err
	}
	return &Home{h}, nil
}

// Close releases the home. Commands run on.
func (h *Home) Close() error { return h.in.Close() }

// Backup writes a copy of the home into a directory, which it makes: all sessions in one state, and the outputs and
// directories of their commands as they are afterwards. Everything in it is durable and every log verified when it
// returns; what fails leaves nothing, and a crash a directory whose name ends in .partial. The copy is a home of its own.
// Commands that run are recorded in it, and run on here. Errors: fs.ErrExist.
func (h *Home) Backup(ctx context.Context, dir string) error { return h.in.Backup(ctx, dir) }
