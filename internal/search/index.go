package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/perdure/perdure/internal/realdir"
)

// Config says where an index lies and what is told while it is brought up to date.
type Config struct {
	Home    string // absolute; empty: the index is only in memory
	Rebuild bool   // the index is made anew
	// Progress is called now and then while texts are read.
	Progress func(Progress)
	// Fault is called at steps of a change, for tests that end the process there.
	Fault func(step string)
	// Batch is how many texts one transaction takes; 0: 2,000.
	Batch int
	// Room is how many bytes of text an index in memory takes; 0: 128 MiB.
	Room int64
}

// Progress is how far the reading of new texts has come.
type Progress struct {
	Done, Total int64 // events, and files
	Waiting     bool  // another process uses the index
}

// Bounds of one transaction, and of an index in memory.
const (
	batchTexts = 2000
	batchBytes = 8 << 20
	memoryRoom = 128 << 20
)

// index is an index that is up to date and held by this process, until it is closed.
type index struct {
	// why says why the index is in memory and had to be read anew; nil: it is kept in the home.
	why error
	// left is how many sources an index in memory has no room for: those that changed least recently.
	left int
	// unread names what could not be read, with the reason.
	unread []error

	cfg   Config
	lib   Library
	place *place // nil: in memory
	db    *db

	open  bool // a transaction
	texts int  // in it
	bytes int64
	all   int64 // bytes of text that were put in
	done  int64
	total int64
}

// open brings the index up to date and holds it: another process waits meanwhile. What was indexed stays indexed if ctx
// ends. Where the home cannot be written, the index is made in memory, of what there is room for, and why says so. A home
// without anything to search is not touched. Errors: those of the library, and ctx's.
func open(ctx context.Context, lib Library, cfg Config) (*index, error) {
	if cfg.Batch == 0 {
		cfg.Batch = batchTexts
	}
	if cfg.Room == 0 {
		cfg.Room = memoryRoom
	}
	x := &index{cfg: cfg, lib: lib}
	err := errNoHome
	if cfg.Home != "" {
		err = x.onDisk(ctx)
	}
	if unkept(err) {
		why := err
		if errors.Is(why, errNoHome) {
			why = nil
		}
		*x = index{cfg: cfg, lib: lib, why: why}
		err = x.inMemory(ctx)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

var errNoHome = errors.New("there is no home to keep an index in")

// unkept tells of an index that cannot be kept where it should be.
func unkept(err error) bool {
	if err == nil || ofLibrary(err) {
		return false
	}
	switch codeOf(err) {
	case codePerm, codeReadOnly, codeIOErr, codeFull, codeCantOpen:
		return true
	}
	for _, is := range []error{errNoHome, fs.ErrPermission, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ENOTDIR, syscall.ELOOP, realdir.ErrLink} {
		if errors.Is(err, is) {
			return true
		}
	}
	return damaged(err) // it was made anew, and is damaged again
}

// close gives the index back.
func (x *index) close() error {
	var errs []error
	if x.db != nil {
		errs = append(errs, x.db.close())
		x.db = nil
	}
	if x.place != nil {
		errs = append(errs, x.place.close())
		x.place = nil
	}
	return errors.Join(errs...)
}

func (x *index) step(name string) {
	if x.cfg.Fault != nil {
		x.cfg.Fault(name)
	}
}

// onDisk opens the home's index, makes it anew if it is damaged or of another version, and brings it up to date.
func (x *index) onDisk(ctx context.Context) (err error) {
	if _, err := os.Lstat(filepath.Join(x.cfg.Home, Dir)); errors.Is(err, fs.ErrNotExist) {
		sources, err := x.sources(ctx)
		if err == nil && len(sources) == 0 {
			err = errNoHome
		}
		if err != nil {
			return err
		}
	}
	if x.place, err = openPlace(x.cfg.Home, true); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.close())
		}
	}()
	if err := x.place.hold(ctx, true, true, func() { x.progress(true) }); err != nil {
		return err
	}
	sources, err := x.sources(ctx) // now that nobody else reads them into the index
	if err != nil {
		return err
	}
	anew := x.cfg.Rebuild
	for try := 0; ; try++ {
		if anew {
			if err := x.place.clear(); err != nil {
				return err
			}
			x.step("cleared")
		}
		err := x.use()
		if err == nil {
			err = x.update(ctx, sources)
		}
		if err == nil || try > 0 || !damaged(err) {
			return err
		}
		if x.db != nil {
			_ = x.db.close() // it is thrown away
			x.db = nil
		}
		anew, x.open = true, false
	}
}

// use opens the file of the index, and makes its tables in an empty one.
func (x *index) use() error {
	if err := x.place.touch(); err != nil {
		return err
	}
	var err error
	if x.db, err = openDB(fileURI(filepath.Join(x.cfg.Home, Dir, indexName), "")); err != nil {
		return err
	}
	tables, err := x.db.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	if tables == 0 {
		if err := x.db.create(); err != nil {
			return err
		}
		x.step("made")
	}
	if err := x.db.check(); err != nil {
		return err
	}
	for _, q := range []string{findQueryOfAll, sqlRows} { // the tables are there
		if _, err := x.db.prepare(q); err != nil {
			return err
		}
	}
	return nil
}

// inMemory makes an index of what there is room for, what changed last first.
func (x *index) inMemory(ctx context.Context) (err error) {
	sources, err := x.sources(ctx)
	if err != nil {
		return err
	}
	if x.db, err = openDB(inMemory); err == nil {
		err = x.db.create()
	}
	if err == nil {
		err = x.update(ctx, sources)
	}
	if err != nil && x.db != nil {
		err = errors.Join(err, x.close())
	}
	return err
}

// sources reads what there is to search.
func (x *index) sources(ctx context.Context) ([]Source, error) {
	var out []Source
	for s, err := range x.lib.Sources(ctx) {
		if err != nil {
			return nil, &libraryError{err}
		}
		out = append(out, s)
	}
	return out, nil
}

func (x *index) progress(waiting bool) {
	if x.cfg.Progress != nil {
		x.cfg.Progress(Progress{Done: x.done, Total: x.total, Waiting: waiting})
	}
}
