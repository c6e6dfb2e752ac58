// Package tool is the contract of what a model can call, for tools of one's own. A [Tool] is made of a function by
// [Func], or is a type that implements one of the interfaces below, which say how it does its work:
//
//   - [Runner]: in one call (reads, and external effects);
//   - [Changer]: names a change of one file first, with all that the file will hold;
//   - [Commander]: names a command, which runs under a shim and outlives the agent;
//   - [Asker]: asks a human, whose answer is the result.
//
// A tool never decides whether it may run, and never writes to the log: it is asked what it is about to do, that is
// decided and logged, it happens, and the outcome is logged. [Spec] says what a crash in between means.
//
// Each call of a program's own tool asks a person, also of one that only reads, until a rule allows it: the rule
// "Weather" those of the tool of that name. See Rules in perdure.Options, or the Approve of perdure.HoldOptions.
//
// The package tooltest tests a tool against all this.
//
// Duties of a tool: accept every input schema it ever shipped; answer a bad input with an error result that says what
// is wrong and what would be right. A Go error, or a panic, is told to the model as a failure of the tool, in the
// error's words; of an effect that may have happened it is told that the outcome is unknown.
package tool

import (
	"context"

	"github.com/perdure/perdure/model"
)

// Tool is anything a model can call. What it implements besides says how.
type Tool interface {
	Spec() Spec
}

// Spec describes a tool to the model and to the permission rules.
type Spec struct {
	Name        string // letters, digits, _ and -, up to 128
	Description string // what the model reads
	Schema      string // JSON schema of the input; empty: any object
	// What a crash in the middle of a [Runner] means. Of neither, the outcome is unknown then: the model is told so, and
	// the call is not made again. The other forms need not say: what becomes of them is seen from the file, the command and
	// the log.
	ReadOnly   bool // it has no effect: the call is made again, and may be made beside others
	Idempotent bool // a second run repeats its effect harmlessly: the call is made again
}

// Call is one tool call.
type Call struct {
	Act   string // act id; it stays the same when a call is tried again, but for its last part
	Name  string
	Input []byte // JSON as the model wrote it
}

// Result is what the model is told.
type Result struct {
	Content []model.Part
	IsError bool
	Full    []byte // complete output when Content leaves some out; it is kept, and the model is told where
}

// Env is the world a tool sees.
type Env struct {
	Session string // its id
	Cwd     string // absolute
	Home    string // the user's home directory, for ~/
	// Target is the path of the call that was decided about, if it names one (see [Paths]), with symlinks followed: a
	// tool works on that.
	Target string
	// Hide replaces known secrets by their names, without changing what it is given. What a tool shortens goes through it
	// before; the rest of what it says is hidden by its caller. Never nil.
	Hide func([]byte) []byte
	// Hidden tells of a file or directory that the permission rules keep from being read: searches leave it out. Never
	// nil.
	Hidden func(abs string) bool
}

// Runner does its work in one call.
type Runner interface {
	Tool
	Run(ctx context.Context, c Call, env Env) (Result, error)
}

// Paths is implemented by tools that touch a path, for permission rules: the path as the model wrote it.
type Paths interface {
	Path(c Call) string
}

// Changer changes one file, whose path it names. The change is durable or did not happen, whenever the machine dies.
type Changer interface {
	Tool
	Paths
	// Change gives what env.Target is to hold instead of old, which is nil if there is no such file; at most 32 MiB. A
	// refusal is an error result for a bad input: a call that names no path has no Target. It is called again before the
	// change is made, and must give the same for the same.
	Change(ctx context.Context, c Call, env Env, old []byte) (ch *Change, refusal *Result, err error)
}

// Change is what a Changer makes of a file.
type Change struct {
	Content []byte // all of it
	Said    string // what the model is told when it is done
}

// Commander names a command. The model is told of its end and its output as of a command of its own.
type Commander interface {
	Tool
	// Command reads the input; a refusal is an error result for a bad input.
	Command(c Call) (cmd *Command, refusal *Result)
}

// Command is what a Commander wants to run.
type Command struct {
	Script      string // text of bash
	Description string // for people, in a few words
	TimeoutMS   int64  // 0: two minutes
	Background  bool   // as a task, without a timeout
}

// Asker asks a human.
type Asker interface {
	Tool
	Question(c Call) (q *Question, refusal *Result)
}

// Question is what a human is asked.
type Question struct {
	Question string
	Options  []string // that the answer may be one of
}
