// Package importing is perdure import: a session that another home has written as a bundle becomes one of this home. All of
// the bundle is verified first, nothing in it starts anything, and nothing that it was allowed there holds here.
package importing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/exporting"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/seal"
)

// flags are those of the command.
type flags struct {
	dir            string
	yes            bool
	identities     []string
	passphraseFile string
	maxSize        string
}

// Command is perdure import.
func Command(a *app.App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "import FILE", Short: "Take in a session that another home has written with perdure export",
		Args: app.ExactArgs(1, "a bundle; - is stdin"),
		Long: `Take in a session from a bundle, under the id and with the events that it has there. - reads stdin:

  perdure export ID | ssh HOST perdure import - --dir DIR

All of it is verified before anything is visible: one that was cut or changed leaves no session and no file. A session that
is here already, as it is in the bundle or further, is left as it is. One that went on elsewhere comes back: the bundle goes on
where its log ends here. One with another history is refused. It belongs to DIR from then on, which is made if it is missing,
else to this directory; one that comes back to the one that it belonged to here.

A bundle is the word of whoever wrote it. Nothing in it starts anything, and nothing that was allowed there holds here:
grants and allow rules are dropped, the mode is default or plan, exported variables are unset, tasks are records of another
machine. What its model read and was told it has read all the same: look at a session of a stranger before you run it.

One line on stdout says what is here: imported ID EVENT HASH. Of a session that moves (perdure export --move-to) a second one
says that this is not the home that it comes from: elsewhere WORD. That home itself refuses it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return run(ctx, a, h, args[0], *f) })
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.dir, "dir", "", "the `DIRECTORY` that the session belongs to from now on (default: this one)")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	fs.StringArrayVar(&f.identities, "identity", nil, "decrypt with the secret keys of age in this `FILE`; may be repeated")
	fs.StringVar(&f.passphraseFile, "passphrase-file", "", "decrypt with the passphrase in this `FILE`")
	fs.StringVar(&f.maxSize, "max-size", "", "take at most so much, as it unpacks: 500M, 64G (default 64G)")
	return c
}

func run(ctx context.Context, a *app.App, h *homes.Home, name string, f flags) error {
	limit, err := size(f.maxSize)
	if err != nil {
		return err
	}
	dir, err := workdir(a, f.dir)
	if err != nil {
		return err
	}
	src, done, err := open(ctx, a, h, name, f, limit)
	if err != nil {
		return err
	}
	defer done()
	arrived, err := h.Receive(ctx, src, bundle.Limits{Bytes: limit})
	if err != nil {
		return refused(err)
	}
	if arrived.Known {
		if err := writeFiles(ctx, a, arrived, dir); err != nil {
			return err
		}
		receipt(a, arrived)
		a.Note("session %s is here already, up to event %d or further: nothing in it was changed", arrived.Session, arrived.Head.Seq)
		return nil
	}
	if back := arrived.Back; back != nil && f.dir == "" {
		dir = formerDir(h, back.Dir, dir)
	}
	tell(a, arrived, dir)
	if a.Asks && !f.yes && name != "-" {
		if ok, err := a.Confirm(ctx, "Take it in? [y/N] ", false); err != nil || !ok {
			return errors.Join(err, &app.ExitError{Code: app.ExitFailed, Text: "nothing was changed"})
		}
	}
	if err := arrived.Import(ctx, dir); err != nil {
		return refused(err)
	}
	if err := writeFiles(ctx, a, arrived, dir); err != nil {
		return err
	}
	receipt(a, arrived)
	a.Hint("%s shows it, and %s goes on with it", a.Command("show", arrived.Session), a.Command("-r", arrived.Session))
	return nil
}

// receipt says what is here now and, of a session that moves, that here is elsewhere.
func receipt(a *app.App, in *homes.Arrival) {
	a.Linef("%s", exporting.Receipt(in.Session, in.Head))
	if in.Move != "" {
		a.Linef("%s", exporting.Elsewhere(in.Move))
	}
}

// writeFiles writes the session's files. When that fails the session is here all the same, and the next import of the same
// bundle tries again.
func writeFiles(ctx context.Context, a *app.App, in *homes.Arrival, dir string) error {
	made, ok, err := in.Files(ctx, dir)
	switch {
	case err != nil:
		return &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("session %s is here, and its files are not: %v", in.Session, err), Hint: "import it again, when that is put right"}
	case ok:
		ignored := "; what git ignores stayed where it was"
		if in.Ignored {
			ignored = ", those that git ignores among them"
		}
		a.Hint("%s written to %s%s", display.Count(int64(made.Files), "file"), display.Line(a.Tilde(dir), 500), ignored)
		tellMissing(a, made.Kept)
	case in.Trees > 0 && !in.Known:
		a.Hint("its files were not written: %s is not empty", display.Line(a.Tilde(dir), 500))
		if in.Back != nil {
			a.Hint("%s brings them there: it shows what would change, and leaves what changed here", a.Command("restore", in.Session, strconv.FormatInt(in.Head.Seq, 10), "--files"))
		}
	}
	return nil
}

// formerDir is the directory that a session comes back to: the one that it belonged to here, but for one of the home's
// that is gone; else the one that it is told to.
func formerDir(h *homes.Home, former, dir string) string {
	_, err := os.Stat(former)
	if rel, out := filepath.Rel(h.Dir(), former); former == "" || err != nil && out == nil && filepath.IsLocal(rel) {
		return dir
	}
	return former
}

// workdir is the directory that the session is to belong to.
func workdir(a *app.App, dir string) (string, error) {
	if dir == "" {
		return a.Workdir()
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	dir = filepath.Clean(dir)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return dir, nil
	case err != nil:
		return "", &app.ExitError{Code: app.ExitUsage, Text: "--dir: " + err.Error()}
	case !info.IsDir():
		return "", app.UsageError("--dir: %s is no directory", dir)
	}
	return filepath.EvalSymlinks(dir)
}

// open gives the bundle as something that can be read several times: a file as it is, anything else, and what was
// encrypted, as a file of the home that has no name, so that whoever dies leaves nothing.
func open(ctx context.Context, a *app.App, h *homes.Home, name string, f flags, limit int64) (io.ReadSeeker, func(), error) {
	from, closeIt := a.Stdin, func() {}
	var file *os.File
	if name != "-" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(a.Dir, name)
		}
		var err error
		if file, err = os.Open(name); err != nil {
			return nil, nil, &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("%s cannot be read: %v", display.Line(name, 500), app.CauseOf(err))}
		}
		from, closeIt = file, func() { _ = file.Close() } // It was only read.
	}
	in := bufio.NewReaderSize(from, 64<<10)
	begin, err := in.Peek(seal.Peek)
	sealed := err == nil && seal.Sealed(begin)
	if info, err := stat(file); err == nil && info.Mode().IsRegular() && !sealed {
		return file, closeIt, nil
	}
	var content io.Reader = in
	if sealed {
		if content, err = unseal(a, in, f); err != nil {
			closeIt()
			return nil, nil, err
		}
	}
	spool, err := h.Spool(ctx, content, limit)
	closeIt()
	if err != nil {
		return nil, nil, refused(err)
	}
	return spool, func() { _ = spool.Close() }, nil // It has no name: it goes with its last descriptor.
}

func stat(f *os.File) (fs.FileInfo, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return f.Stat()
}

func unseal(a *app.App, in io.Reader, f flags) (io.Reader, error) {
	var keys []string
	for _, name := range f.identities {
		if !filepath.IsAbs(name) {
			name = filepath.Join(a.Dir, name)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("the key in %s cannot be read: %v", display.Line(name, 500), app.CauseOf(err))}
		}
		keys = append(keys, string(b))
	}
	word := ""
	if f.passphraseFile != "" {
		var err error
		if word, err = exporting.Passphrase(a, f.passphraseFile); err != nil {
			return nil, err
		}
	}
	if len(keys) == 0 && word == "" {
		var err error
		if word, _, err = a.AskHidden("It is encrypted. Passphrase: "); err != nil {
			return nil, err
		}
	}
	out, err := seal.Open(in, keys, word)
	switch {
	case errors.Is(err, seal.ErrKey) && len(keys) == 0 && word == "":
		return nil, &app.ExitError{Code: app.ExitUsage, Text: "the bundle is encrypted", Hint: "--identity FILE has the secret key, or --passphrase-file FILE the passphrase"}
	case err != nil:
		return nil, &app.ExitError{Code: app.ExitFailed, Text: "the bundle cannot be decrypted: " + err.Error()}
	}
	return out, nil
}

// refused adds to an error what can be done about it.
func refused(err error) error {
	var hint string
	switch {
	case errors.Is(err, bundle.ErrFormat):
		hint = "nothing was changed; export it again"
	case errors.Is(err, bundle.ErrNewer):
		hint = "nothing was changed; use the newer version of perdure that wrote it"
	case errors.Is(err, bundle.ErrTooLarge):
		hint = "nothing was changed; --max-size takes more"
	case errors.Is(err, homes.ErrSameHome):
		hint = "nothing was changed; PERDURE_HOME, or the other machine's user, says which home it is to be"
	case errors.Is(err, homes.ErrParentBehind):
		hint = "nothing was changed; bring that session first, with perdure export and import: then its fork follows"
	case errors.Is(err, homes.ErrRunsHere):
		hint = "nothing was changed; perdure task list shows them, and perdure task kill ends them"
	case errors.Is(err, homes.ErrOtherHistory):
		hint = "nothing was changed; the one here and the one in the bundle went on separately. perdure delete removes the one here for good,\n  " +
			"its forks must go with it; PERDURE_HOME=DIR perdure import takes the bundle into a home of its own, and nothing goes"
	default:
		return err
	}
	return &app.ExitError{Code: app.ExitFailed, Text: err.Error(), Hint: hint}
}
