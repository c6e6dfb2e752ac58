package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/spare"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Store is a durable log backend in one directory. It implements [store.Store], [store.Taker],
// [store.Checker], [store.Scrubber],
// [store.Witness] and [store.Archiver].
type Store struct {
	cfg      Config
	home     string
	path     string // of the database
	holders  *holders
	readers  *pool
	copied   copyOf
	notifier notifier

	// These two are there once the store has written for the first time; see begin.
	beginning sync.Mutex
	begun     atomic.Bool
	self      *holder
	writer    *writer

	mu   sync.Mutex
	held map[string]*lease // what this store may append to, by session id

	poison atomic.Pointer[error]
	closed atomic.Bool
	ending sync.Once
	end    error
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Taker    = (*Store)(nil)
	_ store.Notifier = (*Store)(nil)
	_ store.Checker  = (*Store)(nil)

	_ store.Scrubber = (*Store)(nil)
	_ store.Witness  = (*Store)(nil)
	_ store.Archiver = (*Store)(nil)
)

// Config changes what Open does; its zero value is what a program wants.
type Config struct {
	// Now is the clock, for times that are kept but never decide anything; nil is the system's.
	Now func() time.Time
	// NewID names the holder; nil gives random UUIDs. A name must never come twice.
	NewID func() string
	// Readers bounds the connections that read; 0 is 4, at most 64.
	Readers int
	// AllowNetworkFS opens a home on a network filesystem. Only tests may: a log on one can be lost.
	AllowNetworkFS bool

	engine   *engine            // the SQLite in use; nil is the real one
	identity *identity          // of this machine; nil asks the machine
	pragmas  map[string]string  // overrides, for negative controls
	sizes    *sizes             // bounds of the writer; nil is the default
	free     func(string) int64 // bytes free on the home's filesystem
	fsname   func(string) (string, bool)
	syncDir  func(string) error // makes the names in a directory durable
}

func (c Config) withDefaults() (Config, error) {
	if c.Now == nil {
		c.Now = systemClock
	}
	if c.NewID == nil {
		c.NewID = uuid.NewString
	}
	if c.Readers == 0 {
		c.Readers = 4
	}
	if c.Readers < 1 || c.Readers > 64 {
		return c, fmt.Errorf("%d readers: want 1 to 64", c.Readers)
	}
	if c.engine == nil {
		c.engine = native()
	}
	if c.identity == nil {
		c.identity = thisMachine()
	}
	if c.sizes == nil {
		c.sizes = &sizes{events: 512, bytes: 16 << 20, queue: 4096, look: 64, checkpoint: 1000, reuse: 4000, restart: 16 << 10, keep: keepPages}
	}
	if c.free == nil {
		c.free = spare.Free
	}
	if c.syncDir == nil {
		c.syncDir = sys.SyncDir
	}
	if c.fsname == nil {
		c.fsname = networkFS
	}
	return c, nil
}

// Open opens the home to read. That creates and changes nothing, so that a full disk, a read-only one and a copy can be
// read; a home that is not there is empty. The first write makes the home if needed, and this store a holder in it.
// Errors: [store.ErrNetworkFS], [store.ErrNewer].
func Open(ctx context.Context, home string, cfg Config) (*Store, error) {
	s, err := open(ctx, home, cfg)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", home, err)
	}
	return s, nil
}

func open(ctx context.Context, home string, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if home, err = filepath.Abs(home); err != nil {
		return nil, err
	}
	if err := cfg.checkPlace(home); err != nil {
		return nil, err
	}
	if err := noPipes(home); err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, home: home, path: filepath.Join(home, databaseName), held: map[string]*lease{}}
	s.notifier.store = s
	s.holders = &holders{dir: filepath.Join(home, "holders"), identity: cfg.identity}
	s.readers = newPool(cfg.Readers, s.openReading)
	s.readers.stale = func(c *conn) bool { return c.empty && cfg.engine.exists(s.path) }
	version := schemaVersion
	err = s.read(ctx, func(c *conn) error {
		version, err = currentVersion(c)
		return err
	})
	if code, _ := cfg.engine.code(err); err == nil && version < schemaVersion || code == codeHotJournal {
		_, err = s.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// write runs a job on the writer; see [writer.do].
func (s *Store) write(ctx context.Context, events, bytes int, run func(*conn) error) error {
	w, err := s.begin(ctx)
	if err != nil {
		return err
	}
	return w.do(ctx, events, bytes, run)
}

// begin makes this store one that writes: it makes the home if needed, brings the schema up to date, becomes a holder
// and starts the writer. What fails may be tried again.
func (s *Store) begin(ctx context.Context) (*writer, error) {
	if s.begun.Load() {
		return s.writer, nil
	}
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if s.begun.Load() {
		return s.writer, nil
	}
	err := s.beginLocked(ctx)
	if sys.NoSpace(err) {
		err = fullDisk(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s to write: %w", s.home, err)
	}
	s.begun.Store(true)
	return s.writer, nil
}

func (s *Store) beginLocked(ctx context.Context) error {
	cfg := s.cfg
	if err := prepareHome(s.home, cfg); err != nil {
		return err
	}
	_ = spare.Keep(s.home, cfg.free) // Without it all works, but for deleting on a full disk.
	lock, err := openWriteLock(s.home)
	if err != nil {
		return err
	}
	c, err := openDatabase(cfg, s.path, lock)
	if err != nil {
		return errors.Join(cfg.engine.explain(err), lock.close())
	}
	log, err := cfg.engine.openLog(s.path + "-wal")
	if err != nil {
		return errors.Join(err, c.close(), lock.close())
	}
	if s.self, err = s.holders.enter(cfg.NewID(), cfg.Now().UnixMilli()); err != nil {
		return errors.Join(err, log.Close(), c.close(), lock.close())
	}
	s.holders.sweep(s.self.id, func(id string) bool { return s.named(ctx, id) })
	if lost, err := s.lostNow(ctx); err == nil && lost != "" {
		_ = s.recordLoss(lost) // Before the first write hides it. Whoever opened the home has been told already.
	}
	s.writer = startWriter(s, c, log, lock)
	return nil
}

// named reports whether a session's row names the holder; in doubt it does.
func (s *Store) named(ctx context.Context, holder string) bool {
	found := true
	err := s.read(ctx, func(c *conn) error {
		var err error
		found, err = c.one("SELECT 1 FROM session WHERE holder = ?1 LIMIT 1", []any{holder}, nil)
		return err
	})
	return err != nil || found
}

// Close waits for the writes under way, frees the sessions that are still held and ends being a holder. After
// ErrUncertain it touches nothing that could sync a file: descriptors and locks stay until the process ends.
func (s *Store) Close() error {
	s.ending.Do(func() {
		if err := s.releaseAll(); err != nil && !errors.Is(err, store.ErrUncertain) {
			s.end = err
		}
		s.beginning.Lock()
		s.closed.Store(true)
		s.notifier.close()
		s.beginning.Unlock()
		if !s.begun.Load() {
			s.end = errors.Join(s.end, closeAll(s.readers.drain()), s.copied.remove())
			return
		}
		s.writer.stop()
		if err := s.usable(); errors.Is(err, store.ErrUncertain) {
			s.end = err
			return
		}
		s.end = errors.Join(s.end, s.writer.close(s.readers), s.holders.leave(s.self), s.copied.remove())
		if s.end != nil {
			s.end = fmt.Errorf("close store %s: %w", s.home, s.end)
		}
	})
	return s.end
}

// usable gives ErrUncertain or ErrClosed when no call may touch the files any more.
func (s *Store) usable() error {
	if p := s.poison.Load(); p != nil {
		return *p
	}
	if s.closed.Load() {
		return store.ErrClosed
	}
	return nil
}

// poisonWith makes every later call fail; the first cause stays.
func (s *Store) poisonWith(cause error) error {
	err := fmt.Errorf("%w: %w", store.ErrUncertain, cause)
	s.poison.CompareAndSwap(nil, &err)
	return *s.poison.Load()
}

// read runs f on a reading connection.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.readers.get(ctx)
	if err != nil {
		return err
	}
	defer s.readers.put(c)
	return s.cfg.engine.told(f(c))
}

// checkPlace refuses a place whose locks cannot be trusted.
func (c Config) checkPlace(home string) error {
	if name, remote := c.fsname(home); remote && !c.AllowNetworkFS {
		return fmt.Errorf("%w: %s; use a home on a local disk", store.ErrNetworkFS, name)
	}
	return nil
}

// noPipes refuses what would keep whoever opens it waiting for ever in the place of the database or of what is beside it.
func noPipes(home string) error {
	for _, name := range []string{databaseName, databaseName + "-wal", databaseName + "-shm"} {
		info, err := os.Stat(filepath.Join(home, name))
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return fmt.Errorf("%w: %s is a pipe or a device, not a file", store.ErrUnreadable, name)
		}
	}
	return nil
}

// prepareHome makes the directories.
func prepareHome(home string, cfg Config) error {
	_, err := os.Stat(home)
	fresh := errors.Is(err, os.ErrNotExist)
	if err := realdir.Check(home, "holders"); err != nil {
		return err
	}
	for _, dir := range []string{home, filepath.Join(home, "holders")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
	}
	if err := cfg.checkPlace(home); err != nil {
		return err
	}
	if fresh {
		return cfg.syncDir(filepath.Dir(home))
	}
	return nil
}
