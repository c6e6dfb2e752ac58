// Package tools is the contract of what a model can call, and the built-in tools.
//
// A tool never decides whether it may run, and never writes to the log: the engine asks it what it is about to do,
// logs that, lets it happen, and logs the outcome. What a tool implements beside [Tool] says how:
//
//   - [Runner]: does its work in one call (reads, and external effects);
//   - [Editor]: names the whole file change first, with digests before and after;
//   - [Commander]: names a command, which runs under a shim and outlives the agent;
//   - [Asker]: asks a human, whose answer is the result.
//
// [Builtin] gives the tools that every agent has, [Describe] their form for model APIs, [OSFiles] the real filesystem.
// Programs write theirs against package tool, which is smaller; [Of] gives those the form that the engine knows.
// Who decides about a path reads it as tools do: [Paths], then [Absolute], then Files.Resolve.
//
// Duties of a tool: accept every input schema it ever shipped; answer a bad input with an error result that says what
// is wrong and what would be right. A Go error of [Runner].Run, or a panic, is told to the model as a failure of the
// tool, in the error's words; of an external effect that may have happened it is told that the outcome is unknown.
package tools

import (
	"context"
	"io"
	"io/fs"
	"iter"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/lineage"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Tool is anything a model can call.
type Tool interface {
	Spec() Spec
}

// Spec describes a tool to the model and to the engine.
type Spec struct {
	Name        string
	Description string // what the model reads
	Schema      string // JSON schema of the input
	Effect      session.Effect
	Idempotent  bool // an external effect that a second run repeats harmlessly: after a crash it is run again
}

// Call is one tool call.
type Call struct {
	Act   string // act id
	Name  string
	Input []byte // JSON as the model wrote it
}

// Result is what the model is told.
type Result struct {
	Content []model.Part
	IsError bool
	Full    []byte         // complete output when Content leaves some out; kept, and named to the model by the engine
	Events  []session.Body // appended together with the outcome: plan.set, file.seen, task.read
	Release func()         // called once that is in the log, or is not wanted; see Keep. May be nil
}

// Runner does its work in one call.
type Runner interface {
	Tool
	Run(ctx context.Context, c Call, env Env) (Result, error)
}

// Editor names a file change before it happens. Content is what the file will hold. When there is nothing to do
// because the input is wrong, it returns a refusal instead of an edit. Prepare is called again before the act starts
// and must then give the same edit if the file is the same.
type Editor interface {
	Tool
	Prepare(ctx context.Context, c Call, env Env) (edit *session.Edit, content []byte, refusal *Result, err error)
}

// Commander names a command.
type Commander interface {
	Tool
	// Command reads the input; a refusal is an error result for a bad input.
	Command(c Call) (cmd *Command, refusal *Result)
	// Result words the outcome. It depends on nothing else, so that a command collected after a crash reads the same.
	Result(cmd Command, st command.State, out Output) Result
}

// Command is what a Commander wants to run.
type Command struct {
	Script      string
	Description string
	TimeoutMS   int64 // 0 means none (background)
	Background  bool
	Settings    session.TaskSettings // of a background command
	Task        string               // the id it was given if it became a task, for the words of its result; not a tool's to set
}

// Output is a command's output as collected: the kept bytes, with gaps named.
type Output struct {
	Head    []byte // from offset 0
	Tail    []byte // the end, when the middle was left out; else nil
	Omitted int64  // bytes between Head and Tail
	Total   int64  // bytes printed
	Path    string // where the whole kept output can be read; empty if Head is all
}

// Asker asks a human.
type Asker interface {
	Tool
	Question(c Call) (q *session.Question, refusal *Result)
}

// Paths is implemented by tools that touch a path, for permission rules: the path as the model wrote it.
type Paths interface {
	Path(c Call) string
}

// MayBePathless is implemented by a tool with Paths whose calls may name none; without it such a call is about the working
// directory.
type MayBePathless interface {
	Pathless(c Call) bool
}

// Env is the world a tool sees. Its fields are read-only.
type Env struct {
	Cwd   string         // absolute
	Home  string         // the user's home directory, for ~/
	State *session.State // as of the call
	Files Files
	Tasks Tasks
	// Target is the resolved path of the call that was decided about, if it names one (see Paths): a tool works on
	// that and does not follow links again. Empty: nothing was decided yet.
	Target string
	// Replace hides known secrets, without changing what it is given; Partial is how many bytes at the end of a cut
	// text may be the beginning of one. What a tool shortens goes through both before, since the engine sees only what
	// is left. Nil: there are none.
	Replace func([]byte) []byte
	Partial func([]byte) int
	// AwaitID gives the id of a new await; nil: the one after the state's newest.
	AwaitID func() string
	// Hidden tells of a file or directory that the permission rules keep from being read: searches leave it out. Nil
	// hides nothing.
	Hidden func(abs string) bool
	// Log reads the session's log, an ancestor's part first. Nil: it cannot be read.
	Log func(ctx context.Context) iter.Seq2[LogEntry, error]
	// Past gives what of it may repeat a claim that is open; see [Past.Said]. Nil: all of it is read each time.
	Past func(ctx context.Context, claims []string, open func(claim int, from lineage.From) bool) iter.Seq2[lineage.Said, error]
	// Changed says in a few lines, secrets replaced, how a file that the session knows by its digest has become what it
	// is; empty: that is not known. Nil: it never is.
	Changed func(path string, known store.Digest, now []byte) string
	// Memory is what the session remembers beyond its conversation; nil: nothing.
	Memory Memory
	// Keep keeps bytes with the session; nil: nothing is kept here.
	Keep Keep
	// Agreed: a person approved this very call.
	Agreed bool
}

// Files is the filesystem as tools use it. Paths are absolute. What is neither a regular file nor a directory (a
// device, a pipe, a socket) is never opened: ErrNotRegular. Files over a bound of the implementation: ErrTooLarge.
type Files interface {
	// Resolve follows symlinks as far as the path exists.
	Resolve(path string) (string, error)
	// Read returns a file's bytes (at most limit, 0: all) and what is known of it. A missing file is fs.ErrNotExist;
	// a directory has no bytes.
	Read(path string, limit int64) ([]byte, FileInfo, error)
	// Digest returns the digest of a file's whole content; a missing file and a directory have the zero digest.
	Digest(path string) (store.Digest, FileInfo, error)
	// Replace makes the edit durable: temp file, fsync, re-check of e.Pre, rename, fsync of the directory; in place
	// for a hard-linked file. Missing directories are created. A file that already is what the edit makes of it is
	// only synced. Errors: ErrChanged, ErrNoSpace; after ErrUnsettled the file's digest tells, after any other error
	// the file is as it was.
	Replace(e session.Edit, content []byte) error
}

// Tree is what Files may also do: read as a stream, and list. Read uses it for files of any size; Glob and Grep
// answer that they can't search where it is missing.
type Tree interface {
	// Open opens a regular file for reading. The caller closes it. Errors as those of Files.Read; a directory is
	// ErrNotRegular.
	Open(path string) (io.ReadCloser, FileInfo, error)
	// List gives the entries of a directory, at most limit, in no order. Symlinks are entries, not followed.
	List(dir string, limit int) ([]fs.DirEntry, error)
}

// FileInfo is what is known of a file.
type FileInfo struct {
	Exists  bool
	Dir     bool
	Size    int64
	Mode    uint32 // permission bits; of a missing file those that a new one gets, 0 if unknown
	Links   uint64
	Foreign bool  // its owner would be lost by a rename, so it must be written in place
	Mtime   int64 // ns
}

// Tasks is how tools see background commands.
type Tasks interface {
	// Output returns what a task printed from its offset on, at most limit bytes, with the gap before it (bytes that
	// are no longer kept) and the task's state.
	Output(ctx context.Context, id string, from int64, limit int) (b []byte, next, gap int64, st command.State, err error)
	// Kill ends a task's whole tree and returns when it is gone.
	Kill(ctx context.Context, id string) (command.State, error)
	// Write gives a task input, and ends it after that if eof is set. It returns how many bytes were taken, what came
	// of it, and the task's state.
	Write(ctx context.Context, id string, text []byte, eof bool) (n int, outcome session.InputOutcome, st command.State, err error)
}
