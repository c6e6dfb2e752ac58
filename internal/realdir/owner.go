package realdir

import (
	"errors"
	"io/fs"
	"os"

	"github.com/perdure/perdure/internal/sys"
)

// ErrStranger says that a file is another user's, who could put it there since everybody may write to its directory.
var ErrStranger = errors.New("it belongs to another user, and everybody may write to its directory")

// Mine reports a file, or a directory, of a user whose word counts in a directory: of this process's, of root, or of the
// directory's owner, whom its user trusts who works there.
func Mine(info, dir fs.FileInfo) bool {
	owner, ok := sys.Owner(info)
	if !ok || owner == 0 || owner == uint32(os.Geteuid()) { //nolint:gosec // an id of a user
		return true
	}
	of, ok := dirOwner(dir)
	return ok && owner == of
}

// Stranger gives [ErrStranger] for what somebody put into a directory that is open to everybody: it is not [Mine].
func Stranger(info, dir fs.FileInfo) error {
	if dir.Mode().Perm()&0o002 == 0 || Mine(info, dir) {
		return nil
	}
	return ErrStranger
}

func dirOwner(dir fs.FileInfo) (uint32, bool) {
	if dir == nil {
		return 0, false
	}
	return sys.Owner(dir)
}
