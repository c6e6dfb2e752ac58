//go:build unix

package restore

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/store"
)

// A build is a directory that is being made, known by a record of its own in [Config.Builds]: whoever makes it has the
// record locked from before the first directory is there until it is in its place or taken away again. So a record that
// nobody has locked is of a builder that is gone, and what the record names may go.
type build struct {
	To  string `json:"to"`            // that is to be there in the end
	Dev uint64 `json:"dev,omitempty"` // of the directory that it is built in, once that is made
	Ino uint64 `json:"ino,omitempty"`

	file *os.File
	path string
}

const (
	maxBuild  = 64 << 10 // bytes of a record
	maxBuilds = 1000     // records that are looked at in one go
)

// beginBuild makes the record of a build and locks it; nil: none is kept, as where the home's disk is full and the
// other one has room. ErrBuilding says that another process has it.
func beginBuild(dir, to string) (*build, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // none is kept
	}
	to, err := filepath.Abs(to)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // what a kill leaves then stays until it is built again
	}
	sum := store.Sum([]byte(to))
	path := filepath.Join(dir, hex.EncodeToString(sum[:12]))
	for range tries {
		b, err := takeBuild(path)
		if err == nil && b == nil {
			continue // it went in this moment
		}
		if errors.Is(err, ErrBuilding) {
			return nil, err
		}
		if err != nil {
			return nil, nil //nolint:nilerr,nilnil // as above
		}
		was := build{}
		if ok, err := was.read(b.file); err != nil || !ok || was.To != to {
			was = build{}
		}
		// What a killed builder left is taken away only now, and until then it is known by this record.
		*b = build{To: to, Dev: was.Dev, Ino: was.Ino, file: b.file, path: path}
		if errors.Join(b.write(), sys.SyncDir(dir)) != nil {
			return nil, b.over()
		}
		return b, nil
	}
	return nil, ErrBuilding
}

// takeBuild opens a record, and makes it if it is not there, for this process alone. Nil: somebody has just removed it.
func takeBuild(path string) (*build, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|sys.NoFollow|sys.NonBlock, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrBuilding
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mine, err := f.Stat()
	if err == nil && !mine.Mode().IsRegular() {
		err = fmt.Errorf("%s is no record of a build", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) {
		return nil, f.Close()
	}
	return &build{file: f, path: path}, nil
}

func (b *build) write() error {
	text, err := json.Marshal(b)
	if err == nil {
		_, err = b.file.WriteAt(text, 0) // at no moment it says nothing
	}
	if err == nil {
		err = b.file.Truncate(int64(len(text)))
	}
	if err != nil {
		return err
	}
	return b.file.Sync()
}

// read reads a record; what follows it is left of a longer one. Not ok: it says nothing.
func (b *build) read(f *os.File) (ok bool, err error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxBuild))
	if err != nil {
		return false, err
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(b) == nil && filepath.IsAbs(b.To), nil
}

// at notes which directory is built in.
func (b *build) at(d *dir) error {
	if b == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return d.fail("stat", "", err)
	}
	b.Dev, b.Ino = uint64(st.Dev), st.Ino //nolint:unconvert,gosec // its type differs by system
	return b.write()
}

// over takes the record away: nothing is left of the build but what is in its place.
func (b *build) over() error {
	if b == nil {
		return nil
	}
	err := os.Remove(b.path)
	return errors.Join(err, b.file.Close())
}

// leave gives the record up as it is: there is something left that it is about.
func (b *build) leave() {
	if b != nil {
		_ = b.file.Close()
	}
}

// ClearBuilds takes away what killed builders have left: the directories that their records name, if they are those
// that were made, and the records. What a live builder has is left alone, and so is what may not be removed. It returns
// how many directories went.
func ClearBuilds(ctx context.Context, dir string) (cleared int, err error) {
	records, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, r := range records[:min(len(records), maxBuilds)] {
		if err := ctx.Err(); err != nil {
			return cleared, err
		}
		b, err := takeBuild(filepath.Join(dir, r.Name()))
		if err != nil || b == nil {
			if err != nil && !errors.Is(err, ErrBuilding) {
				errs = append(errs, err)
			}
			continue
		}
		gone, err := b.clear()
		if err != nil {
			b.leave()
			errs = append(errs, fmt.Errorf("what was left of making %.500q: %w", b.To, err))
			continue
		}
		if gone {
			cleared++
		}
		errs = append(errs, b.over())
	}
	return cleared, errors.Join(errs...)
}

// clear takes away what a record names, and reports whether there was something.
func (b *build) clear() (bool, error) {
	if ok, err := b.read(b.file); err != nil || !ok {
		return false, err // not ok: it was killed before it had made anything
	}
	up, err := openRoot(filepath.Dir(b.To))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer up.close()
	name := building + filepath.Base(b.To)
	at, err := up.sub(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	defer at.close()
	if err := lockDir(at); err != nil {
		return false, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(at.fd, &st); err != nil {
		return false, at.fail("stat", "", err)
	}
	if b.Dev != uint64(st.Dev) || b.Ino != st.Ino { //nolint:unconvert,gosec // its type differs by system
		err = up.rmdir(name) // it was killed before it had written down what it made, which is empty; what is not is somebody else's
		if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			return false, nil
		}
		return err == nil, err
	}
	err = clear(up, name)
	return err == nil, err
}
