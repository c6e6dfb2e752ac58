package exporting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/newfile"
	"github.com/perdure/perdure/internal/export"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/seal"
)

// Bundle is the format for other homes.
const Bundle = "bundle"

// What becomes of secrets.
const (
	Keep   = "keep"
	Redact = "redact"
)

func formats() []string { return append([]string{Bundle}, export.Formats()...) }

// checkBundle refuses what makes no sense for a bundle.
func (o *Options) checkBundle(a *app.App) error {
	switch {
	case o.MoveTo != "" && o.File != "":
		return app.UsageError("--move-to hands the bundle to a command, -o FILE to a file: use one of them")
	case o.MoveTo != "" && o.Secrets == Redact:
		return app.UsageError("with its secrets replaced it would be another log: --move-to takes the session as it is")
	case o.WithIgnored && o.Secrets == Redact:
		return app.UsageError("files are in a bundle as they are, and --with-ignored has .env and its like in it: --secrets redact replaces nothing in them")
	case o.MoveTo == "" && o.File == "" && a.Screen:
		return &app.ExitError{Code: app.ExitUsage, Text: "a bundle is no text for a terminal", Hint: "name a file with -o FILE.perdure, or pipe it into perdure import -"}
	case len(o.Recipients) > 0 && (o.PassphraseFile != "" || o.Passphrase), o.Passphrase && o.PassphraseFile != "":
		return app.UsageError("a bundle is encrypted to --recipient, with --passphrase or with --passphrase-file: use one of them")
	}
	if err := seal.Check(o.Recipients); err != nil {
		return &app.ExitError{Code: app.ExitUsage, Text: "--recipient: " + err.Error(), Hint: "it takes public keys of age, which begin with age1"}
	}
	return nil
}

// pack writes the bundle, and says on stderr what is in it and what is not.
func pack(ctx context.Context, a *app.App, h *homes.Home, id string, o Options) error {
	if o.MoveTo != "" {
		return move(ctx, a, h, id, o)
	}
	write := written(ctx, h, id)
	var out homes.Bundled
	var err error
	if o.File == "" {
		out, err = o.bundle(a, a.Stdout, write)
	} else {
		err = newfile.Write(o.File, o.Force, func(to io.Writer) error {
			out, err = o.bundle(a, to, write)
			return err
		})
	}
	if err != nil {
		return err
	}
	if o.File != "" {
		info, err := os.Stat(o.File)
		if err != nil {
			return err
		}
		a.Note("wrote %s, %s: session %s up to event %d", display.Line(a.Tilde(o.File), 500), display.Bytes(info.Size()), id, out.Head.Seq)
	}
	tell(a, out, o)
	return nil
}

// writer writes a session as a bundle.
type writer func(to io.Writer, o homes.BundleOptions) (homes.Bundled, error)

// written writes a copy of a session.
func written(ctx context.Context, h *homes.Home, id string) writer {
	return func(to io.Writer, o homes.BundleOptions) (homes.Bundled, error) { return h.Bundle(ctx, id, to, o) }
}

// bundle has it written, encrypted if that is asked for.
func (o *Options) bundle(a *app.App, to io.Writer, write writer) (homes.Bundled, error) {
	bo := homes.BundleOptions{Program: o.Program, Redact: o.Secrets == Redact, Ignored: o.WithIgnored}
	if !o.sealed() {
		return write(to, bo)
	}
	word, err := o.passphrase(a)
	if err != nil {
		return homes.Bundled{}, err
	}
	sealed, err := seal.To(to, o.Recipients, word)
	if err != nil {
		return homes.Bundled{}, err
	}
	out, err := write(sealed, bo)
	if err != nil {
		return out, err // what was written does not end like a sealed stream
	}
	return out, sealed.Close()
}

// sealed reports whether the bundle is to be encrypted.
func (o *Options) sealed() bool {
	return len(o.Recipients) > 0 || o.PassphraseFile != "" || o.Passphrase
}

// passphrase is the one to encrypt with; empty: it goes to keys.
func (o *Options) passphrase(a *app.App) (string, error) {
	switch {
	case o.PassphraseFile != "":
		return Passphrase(a, o.PassphraseFile)
	case !o.Passphrase:
		return "", nil
	}
	word, ok, err := a.AskHidden("Passphrase: ")
	if err != nil || !ok {
		return "", errors.Join(err, app.UsageError("--passphrase asks at a terminal, and there is none: --passphrase-file FILE has it"))
	}
	again, _, err := a.AskHidden("The same again: ")
	switch {
	case err != nil:
		return "", err
	case word == "" || word != again:
		return "", app.UsageError("these are not the same words twice")
	}
	return word, nil
}

// maxPassphrase bounds a passphrase, in bytes.
const maxPassphrase = 4096

// Passphrase reads the first line of a file.
func Passphrase(a *app.App, file string) (string, error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Dir, file)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("the passphrase in %s cannot be read: %v", file, app.CauseOf(err))}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPassphrase+1))
	line, _, _ := strings.Cut(string(b), "\n")
	line = strings.TrimSuffix(line, "\r")
	switch err = errors.Join(err, f.Close()); {
	case err != nil:
		return "", err
	case line == "" || len(b) > maxPassphrase:
		return "", app.UsageError("the first line of %s is no passphrase", file)
	}
	return line, nil
}

// tell says what whoever gets the bundle, or believes to have all in it, has to know.
func tell(a *app.App, out homes.Bundled, o Options) {
	secrets := display.Count(int64(out.Secrets), "secret")
	switch {
	case out.Rewritten && out.Secrets > 0:
		a.Note("%s replaced: it is another log than the one here, with other hashes", secrets)
	case out.Rewritten:
		a.Note("no secret was found in what was said and printed")
	case out.Secrets > 0 && !o.WithSecrets && !o.sealed():
		a.Note("%s in it, in plain: keep it as you keep them; --recipient encrypts it, --secrets redact replaces them", secrets)
	}
	if out.Blobs > 0 && (out.Rewritten || !o.WithSecrets && !o.sealed()) {
		a.Note("its files are in it as they are, %s: secrets in them are neither looked for nor replaced", display.Count(out.Blobs, "content"))
	}
	if out.Private > 0 && !o.sealed() {
		a.Note("what git ignores is in it, in plain, %s: keep it as you keep them; --recipient encrypts it", display.Count(int64(out.Private), "content"))
	}
	if out.Running > 0 {
		a.Note("%s on here, and %s not in it", display.Count(int64(out.Running), "task")+" run"+s(out.Running), isAre(out.Running))
	}
	if out.Pending > 0 {
		a.Note("%s in the inbox, and %s not in it", display.Count(out.Pending, "message")+" wait"+s(int(out.Pending)), isAre(int(out.Pending)))
	}
}

func s(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
