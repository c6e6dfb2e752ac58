// Package store is the contract of a durable log backend: sessions, their logs, who may write them, and the inbox
// through which everybody else speaks to them.
//
// What an implementation promises. An acknowledged Append is durable. A log has one writer: the holder of the newest
// epoch; an older epoch can append nothing. Events of one Append are there all or none. Reads see what was
// acknowledged before they began, and may see what is about to be. Errors are the sentinels below, wrapped with the
// operation and the session id.
//
// What the caller owes. It appends events that continue the chain it was given, and changes its own memory only
// after the append was acknowledged. After ErrUncertain it stops: what the log holds is learned by opening it again
// in a new process.
//
// An [Event] is an envelope around bytes that a store carries and never reads. Its [Hash] follows from the event before it,
// so that [Verify] finds whatever was changed; a log's [Head] commits to all of it.
//
// The suite in store/storetest is the contract as code; anyone may run it on a store of their own.
package store

import (
	"context"
	"iter"
)

// Store is a durable log backend. All methods are safe for concurrent use. Slices handed in are not kept; slices
// handed out belong to the caller.
type Store interface {
	Directory
	Log
	Inbox
	// Close ends the store: waits for writes under way, releases the holder identity of this process. Sessions that
	// are still held become free to take. A second Close does nothing.
	Close() error
}

// Directory creates, finds and removes sessions.
type Directory interface {
	// Create adds a session with its first events, in one transaction, and returns when that is durable: it is there
	// with all of them or not at all. Nobody holds it then. With a parent it checks, in the same transaction, that
	// the parent exists and is not deleted, and that its log reaches the fork seq with that hash. Errors: ErrExists,
	// ErrNotFound (the parent), ErrConflict (the parent's hash differs), ErrFull, ErrUncertain.
	Create(ctx context.Context, s NewSession) error
	// Get returns one session's row. Errors: ErrNotFound.
	Get(ctx context.Context, id string) (Info, error)
	// List returns rows in order of Updated, newest first, one page at a time.
	List(ctx context.Context, q Query) (Page, error)
	// Delete removes a session with its log, inbox and snapshots. It must not be held by a live holder (ErrHeld) and
	// must have no children (*ChildrenError). It needs no free space to speak of. See Scrubber for what remains of the
	// bytes. Errors: ErrNotFound.
	Delete(ctx context.Context, id string) error
	// Shared returns the values of a scope by key, as of the newest commit; see [Batch]. An unknown scope has none.
	Shared(ctx context.Context, scope string) (map[string][]byte, error)
}

// Taker is an optional ability of a Store.
type Taker interface {
	// Takeover makes this process the holder whatever became of the other one: a human declared it dead, or killed
	// it. The epoch rises, so that a holder that lives after all is fenced at its next append. Errors: ErrNotFound,
	// ErrUncertain.
	Takeover(ctx context.Context, id string) (Lease, error)
}

// Scrubber is an optional ability of a Store.
type Scrubber interface {
	// Scrub makes what was deleted unreadable in the files beneath, and gives its space back as far as there is room to
	// do so. Errors: ErrFull, ErrUncertain, or what kept it from being done now; it may be tried again.
	Scrub(ctx context.Context) error
}

// Witness is an optional ability of a Store.
type Witness interface {
	// Lost says, one sentence each, what was acknowledged and is not there any more, although nobody deleted it: files of
	// the store were removed, cut, damaged or put back. None is no proof that nothing is lost. It changes nothing.
	Lost(ctx context.Context) ([]string, error)
}

// Notifier is an optional ability of a Store.
type Notifier interface {
	// Changes gives a channel that holds a value soon after a session has changed, whichever process changed it: its log
	// grew, an item came into its inbox or was taken from it. It holds one at first. It is a hint: several changes may
	// give one value, one may come for nothing, and where the system fails to tell, none comes; so who waits also looks
	// by himself, every few seconds. Stop ends it. Not ok: this store cannot tell now.
	Changes(id string) (changed <-chan struct{}, stop func(), ok bool)
}

// Archiver is an optional ability of a Store.
type Archiver interface {
	// Backup writes one state of all sessions, durably, into a directory that is there: a store can be opened on it. It
	// only reads, and others write meanwhile.
	Backup(ctx context.Context, dir string) error
}

// Checker is an optional ability of a Store.
type Checker interface {
	// Check looks whether what the sessions lie in is sound, changing nothing, and may read all of it. It returns
	// the backend's name with its version, and at most limit faults in words; whether the logs are sound is found by
	// reading them. It ends with ctx.
	Check(ctx context.Context, limit int) (backend string, faults []string, err error)
}

// Importer is an optional ability of a Store.
type Importer interface {
	// Import adds sessions whose logs were written elsewhere, all of them in one transaction: when it returns they are
	// there, durably, or none of them is. Parents come before their forks. Every event is checked against the one
	// before it, and kept as it is. Nobody holds them then. Errors: ErrExists for one that is there, ErrNotFound for a
	// parent that is not, ErrConflict for a log that does not hold together or a parent with another history, ErrBadID,
	// ErrFull, ErrUncertain, and what reading the logs gives. One that is there and goes on (Here): ErrNotFound,
	// ErrConflict if its log ends elsewhere, *HeldError for one that a living process holds; what a dead one held is
	// free then.
	Import(ctx context.Context, sessions ...Imported) error
}

// Imported is a session whose log was written elsewhere.
type Imported struct {
	NewSession                         // its Events follow those of Past
	Past       iter.Seq2[Event, error] // the log, from seq 1; it may be read more than once; nil: it begins with Events
	Bytes      int64                   // of the bodies in it
	Epoch      int64                   // of its newest holder: the next one's is greater
	// Here is where the log ends that the session has in this store: Past begins behind it, and of NewSession only its
	// ID, its Heads and its Events count. nil: the session is not there.
	Here *Head
}

// Log appends to and reads from sessions' logs.
type Log interface {
	// Acquire makes this process the holder of a session and raises its epoch. A live other holder gives *HeldError;
	// a dead one is replaced at once. Acquiring what this process holds already gives *HeldError too: one writer
	// means one in each process. Errors: ErrNotFound, ErrHeld, ErrUncertain.
	Acquire(ctx context.Context, id string) (Lease, error)
	// Release gives a lease back; it can append nothing from then on (ErrFenced). A lease that is no longer the
	// newest, or whose session was deleted, is released without effect.
	Release(ctx context.Context, l Lease) error
	// Append adds events to the log, sets the listing heads and moves the inbox mark, in one transaction, and
	// returns when that is durable. The first event's seq must be the head's plus one, and those after it follow without
	// a gap. That the hashes follow is the caller's affair; Read finds it. Errors: ErrConflict (the head
	// is elsewhere), ErrFenced (a newer epoch exists, or the lease was released), ErrNotFound, ErrFull,
	// ErrUncertain. A batch without events only moves mark, heads and owner. After any error the lease is as it was,
	// also that of a batch that gives it back.
	Append(ctx context.Context, l Lease, b Batch) error
	// AppendFree is Append to a session that nobody holds; it takes no lease and stays without one, the epoch is as it
	// was. The batch has events and no Mark. Its item is drained at once, and those that were sent before still wait:
	// it has a place apart from theirs. With an item, what was appended before under its key is not appended again:
	// ErrKnown, or ErrKeyReused if the digest is another. Errors: *HeldError, also for a holder that is dead,
	// ErrConflict, ErrNotFound, ErrFull, ErrUncertain.
	AppendFree(ctx context.Context, id string, b Batch) error
	// Read yields a session's own events (not its ancestors') with from ≤ seq ≤ to in order; to 0 means the head.
	// Each is checked by [Verify] against the one before it, the first of a fork against the hash that it was forked at.
	// It pages inside; the sequence ends after its first error. Errors: ErrNotFound, *CorruptError (which names the
	// first bad seq), of ctx, also in the middle.
	Read(ctx context.Context, id string, from, to int64) iter.Seq2[Event, error]
	// SaveSnapshot stores a cached state, in place of one with the same seq and fold version; the two saved last are
	// kept, of whichever fold version. Losing one is harmless, so it need not be durable on return.
	SaveSnapshot(ctx context.Context, id string, s Snapshot) error
	// LoadSnapshot returns the newest snapshot of this fold version with Seq ≤ atMost (0: any), or nil. One whose
	// bytes are damaged is passed over.
	LoadSnapshot(ctx context.Context, id string, foldVersion int, atMost int64) (*Snapshot, error)
	// SetReader stores the output position of a reader other than the model; Reader returns it, 0 if never set.
	SetReader(ctx context.Context, id, task, reader string, position int64) error
	Reader(ctx context.Context, id, task, reader string) (int64, error)
}

// Inbox is how everybody but the holder speaks to a session.
type Inbox interface {
	// Send adds an item, durably, and returns its receipt; the store gives N. An item needs a key. The same key with
	// the same digest returns the first receipt; with another digest ErrKeyReused. N is greater than every one before
	// it, and than the mark. Errors: ErrNotFound, ErrUncertain.
	Send(ctx context.Context, id string, item Item) (Receipt, error)
	// Pending returns items with N > after, in order, at most limit (1,000 if 0). Errors: ErrNotFound.
	Pending(ctx context.Context, id string, after int64, limit int) ([]Item, error)
	// Prune removes items that were drained, by an append that moved the mark or brought them, before the given time
	// (ms UTC) and returns how many went. Their keys are free again.
	Prune(ctx context.Context, before int64) (int, error)
}

// NewSession describes a session to create.
type NewSession struct {
	ID      string
	Owner   string
	Labels  map[string]string // used if Heads.Labels is nil
	Created int64             // ms UTC; Updated until the first event
	// Parent, if set, makes the new session a fork: its chain begins at the parent's hash.
	Parent *Position
	Heads  Heads
	// Events begin the log, from seq 1. A log may be empty, but the engine's begin with one that says what they are.
	Events []Event
	Shared []Shared // values to set with it; see [Batch]
}

// Info is a session's row.
type Info struct {
	ID      string
	Owner   string
	Parent  *Position
	Created int64 // ms UTC
	Updated int64 // ms UTC, time of the newest event
	Head    Head  // of a fork without events of its own: seq 0, and the hash that it was forked at
	Epoch   int64
	Mark    int64 // inbox items up to this N are drained
	Pending int64 // inbox items after the mark
	Holder  *Holder
	Heads   Heads
	Bytes   int64 // event bytes appended so far

	// Damaged says what is wrong with the listing's part of this row, of which Heads, Owner and Created have what could be
	// read; "" is what it should be. The log is not concerned.
	Damaged string
}

// Heads are what a listing shows and filters by. The holder sets them with each append; they are derived from the
// state and never truth.
type Heads struct {
	Title     string
	Labels    map[string]string
	Lifecycle string
	Activity  string // as of the append; a dead holder's "running" is reported as it stands
	Cwd       string
	Model     string
	Turns     int64
	CostNano  *int64 // billionths of a US dollar; nil is unknown
	Extra     []byte // JSON of the caller, carried untouched
}

// Query selects sessions. Zero fields select everything.
type Query struct {
	Lifecycle string
	Activity  string
	Cwd       string            // exact
	Labels    map[string]string // all must be equal
	IDPrefix  string
	IDSuffix  string
	Title     string // exact
	Parent    string
	// OrHeld makes Lifecycle and Activity select what has a holder too, alive or dead, whatever its heads are: while
	// somebody holds a session they may be a step behind.
	OrHeld bool
	Limit  int    // at most 1,000; 0 means 100; another is an error
	After  string // cursor of the page before; a text that is none is an error
}

// Page is one page of a listing.
type Page struct {
	Sessions []Info
	Next     string // cursor; empty at the end
}

// Lease is the right to append to one session.
type Lease struct {
	Session string
	Epoch   int64
	Holder  string // uuid of the holder that has it
	Info    Info   // the row as of the acquire
}

// Batch is one atomic append.
type Batch struct {
	Events []Event
	Mark   int64  // new inbox mark; 0 leaves it
	Heads  *Heads // nil leaves them
	Owner  string // new owner; empty leaves it
	// Release gives the lease back with it, as the method of that name does. AppendFree, which has none, ignores it.
	Release bool
	Item    *Item // of AppendFree: an item of the inbox that is accepted and drained with it; nil: none
	// Shared are values to set that all sessions of the store share: of an application, of a user. They are no part of
	// a log, and stay when sessions are deleted. A scope over MaxShared gives ErrSharedFull, and nothing of the batch
	// is done.
	Shared []Shared
}

// Shared is a value that all sessions of a store share, in a scope: an application's, a user's. It is no part of a log.
type Shared struct {
	Scope string
	Key   string
	Value []byte // nil removes it
}

// MaxShared bounds a scope's keys and values, in bytes.
const MaxShared = 1 << 20

// Snapshot is a cached state.
type Snapshot struct {
	Seq         int64
	Hash        Digest
	FoldVersion int
	State       []byte
}

// Item is one entry of an inbox.
type Item struct {
	N      int64  // position, given by the store
	Key    string // idempotency key, unique in the session while it is kept
	Kind   Kind
	Actor  Actor
	Time   int64 // ms UTC
	Body   []byte
	Digest Digest // of kind and body; the store compares, the sender computes
}

// Receipt says that an item was accepted.
type Receipt struct {
	Session string
	N       int64
	Key     string
	Known   bool // the key had been accepted before
}

// Holder describes who may append to a session.
type Holder struct {
	ID        string `json:"id"`
	Host      string `json:"host"`
	PID       int    `json:"pid"`
	Since     int64  `json:"since"` // ms UTC
	Alive     Life   `json:"alive"`
	Machine   string `json:"machine,omitempty"`
	BootID    string `json:"boot_id,omitempty"`
	Ticks     uint64 `json:"start_ticks,omitempty"`
	Namespace string `json:"pid_namespace,omitempty"`
}

// Life says whether a holder still runs.
type Life string

// What can be known of a holder.
const (
	Alive   Life = "alive"
	Dead    Life = "dead"
	Unknown Life = "unknown" // on another machine: only a human can say
)
