// Package exporting is perdure export: a session as a bundle for another home, as a document for people who do not have
// Perdure, or as its events for programs. It reads the log, and writes one file or to stdout; what documents say passes a
// filter for secrets.
package exporting

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/newfile"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/export"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Options say what is written, and where.
type Options struct {
	Format      string // of export.Formats; empty: what the name of the file says, else Markdown
	File        string // absolute; empty: stdout
	Force       bool   // replace the file if it is there
	WithSecrets bool   // leave them
	Program     string // that documents say that they were written by
	Secrets     string // "keep" or "redact"; empty: what is usual for the format
	// Of bundles: public keys and the passphrase that it is encrypted to, and the command that it is handed to.
	Recipients     []string
	PassphraseFile string
	Passphrase     bool // is asked for
	MoveTo         string
	WithIgnored    bool // files that git ignores are in it, too
}

// Written is what became of it.
type Written struct {
	Size   int64 // of the file, in bytes
	Hidden int   // secrets that were replaced; in a bundle, none is unless that was asked for
}

// Command is perdure export. program is what documents say that they were written by.
func Command(a *app.App, program string) *cobra.Command {
	f := &Options{Program: program}
	c := &cobra.Command{
		Use: "export ID", Short: "Write a session down as a bundle for another machine, or as a document", Args: oneSession,
		Long: `Write a session down, for another machine or for people. Of a fork, what it began with comes first.

  bundle  for perdure import: the log as it is, the outputs that results quote, the last output of ended tasks
  md      Markdown: every turn with its words, its calls and what they gave, its cost; what others wrote stands in quotes
  html    one page that needs no network and no script; calls and thinking are folded, images are in it
  jsonl   the events as perdure log --json prints them, after a line that names the format

Without --format the name of the file chooses: .perdure, .html, .jsonl, else Markdown. On stdout it is Markdown for a
terminal, and a bundle for a pipe or a file:

  perdure export ID | ssh HOST perdure import - --dir DIR

What git ignores stays here unless --with-ignored is given. A bundle is the session, with every secret in its log: --recipient and --passphrase-file encrypt it, --secrets redact
replaces them, by which it becomes another log. In documents secrets are replaced unless --secrets keep is given: those of
the environment and of the configuration, and what looks like a well-known key. See docs/export.md and docs/format.md.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(a, cmd.Flags().Changed("format")); err != nil {
				return err
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error { return run(ctx, a, h, id, *f) })
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.Format, "format", "", "`FORMAT`: "+strings.Join(formats(), ", ")+"; without it, what the name of the file says")
	fs.StringVarP(&f.File, "output", "o", "", "write to this `FILE`, which only you can read then, instead of to stdout")
	fs.BoolVar(&f.Force, "force", false, "replace the file if it is there")
	fs.BoolVar(&f.WithSecrets, "with-secrets", false, "leave secrets as they are, as --secrets keep does")
	fs.BoolVar(&f.WithIgnored, "with-ignored", false, "have the captured files that git ignores in the bundle, too, such as .env")
	fs.StringVar(&f.Secrets, "secrets", "", "`WHAT` becomes of secrets: keep, as usual in bundles, or redact, as usual in documents")
	fs.StringArrayVar(&f.Recipients, "recipient", nil, "encrypt the bundle to this public `KEY` of age; may be repeated")
	fs.StringVar(&f.PassphraseFile, "passphrase-file", "", "encrypt the bundle with the passphrase in this `FILE`")
	fs.BoolVar(&f.Passphrase, "passphrase", false, "encrypt the bundle with a passphrase that is asked for")
	fs.StringVar(&f.MoveTo, "move-to", "", "hand the bundle to this `COMMAND`, such as 'ssh HOST perdure import -', and close the session here when that has it")
	return c
}

// check finds the format, and refuses what makes no sense.
func (o *Options) check(a *app.App, given bool) error {
	if o.File == "-" {
		o.File = ""
	}
	switch {
	case given:
	case o.MoveTo != "" || o.File == "" && !a.Screen:
		o.Format = Bundle
	default:
		o.Format = formatOf(o.File)
	}
	switch {
	case !slices.Contains(formats(), o.Format):
		return app.UsageError("format %q: use one of %s", o.Format, strings.Join(formats(), ", "))
	case o.Force && o.File == "":
		return app.UsageError("--force goes with -o FILE")
	case o.Secrets != "" && o.Secrets != Keep && o.Secrets != Redact:
		return app.UsageError("--secrets %q: use %s or %s", o.Secrets, Keep, Redact)
	case o.WithIgnored && o.Format != Bundle:
		return app.UsageError("--with-ignored is about the files of a bundle: a document has none")
	case o.Secrets == Redact && o.WithSecrets:
		return app.UsageError("--with-secrets and --secrets redact contradict each other")
	}
	if o.Format == Bundle {
		if err := o.checkBundle(a); err != nil {
			return err
		}
	} else if o.sealed() || o.MoveTo != "" {
		return app.UsageError("--recipient, a passphrase and --move-to go with a bundle, not with %s", o.Format)
	}
	o.WithSecrets = o.WithSecrets || o.Secrets == Keep
	if o.File != "" && !filepath.IsAbs(o.File) {
		o.File = filepath.Join(a.Dir, o.File)
	}
	return nil
}

// formatOf is the format that the name of a file says.
func formatOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".html", ".htm":
		return export.HTML
	case ".jsonl", ".ndjson":
		return export.Lines
	case ".perdure", ".age":
		return Bundle
	}
	return export.Markdown
}

// run is the command: it says on stderr what was written and hidden.
func run(ctx context.Context, a *app.App, h *homes.Home, id string, o Options) (err error) {
	if o.Format == Bundle {
		return pack(ctx, a, h, id, o)
	}
	if o.File == "" && a.Screen {
		defer a.Undisturbed()() // what is written is on the terminal
	}
	var w Written
	write := func() error {
		w, err = Export(ctx, a, h, id, o)
		return err
	}
	if o.File == "" && o.Format == export.Markdown {
		err = a.Paged(write)
	} else {
		err = write()
	}
	switch {
	case err != nil:
		return err
	case o.File != "":
		a.Note("wrote %s, %s", display.Line(a.Tilde(o.File), 500), display.Bytes(w.Size))
	}
	switch {
	case o.WithSecrets:
		a.Note("secrets were not looked for: keep it as you keep them")
	case w.Hidden > 0:
		a.Note("%s hidden; --with-secrets leaves what they stand for", display.Count(int64(w.Hidden), "secret"))
	case o.File != "":
		a.Note("no secret was found in it")
	}
	return nil
}

// Export writes a session down, and says nothing on stderr. A file that is there is left alone unless Force says that it
// may be replaced; what is no regular file always is.
func Export(ctx context.Context, a *app.App, h *homes.Home, id string, o Options) (Written, error) {
	if o.Format == "" {
		o.Format = formatOf(o.File)
	}
	j := &job{app: a, home: h, id: id, Options: o}
	if o.File == "" {
		err := j.write(ctx, a.Stdout)
		return j.written, err
	}
	err := newfile.Write(o.File, o.Force, func(to io.Writer) error {
		err := j.write(ctx, to)
		if f, ok := to.(*os.File); ok && err == nil {
			j.written.Size, err = f.Seek(0, io.SeekCurrent)
		}
		return err
	})
	return j.written, err
}

// job writes one session.
type job struct {
	Options
	app     *app.App
	home    *homes.Home
	id      string
	written Written
}

// hide is what texts pass; nil leaves them.
func (j *job) hide() export.Hide {
	if j.WithSecrets {
		return nil
	}
	return j.home.Redact
}

func (j *job) write(ctx context.Context, to io.Writer) error {
	switch j.Format {
	case Bundle:
		out, err := j.bundle(j.app, to, written(ctx, j.home, j.id))
		if out.Rewritten {
			j.written.Hidden = out.Secrets
		}
		return err
	case export.Lines:
		return j.lines(ctx, to)
	}
	v, err := j.home.View(ctx, j.id, homes.ViewOptions{All: true})
	if err != nil {
		return err
	}
	r := export.NewReader(j.hide())
	err = j.events(ctx, func(_ string, e store.Event) error {
		r.Add(e)
		return nil
	})
	if err != nil {
		return err
	}
	d := r.Document(v, j.app.Clock(j.app.Now().UnixMilli()))
	d.Program, j.written.Hidden = j.Program, d.Hidden
	return d.Write(to, j.Format)
}

func (j *job) lines(ctx context.Context, to io.Writer) error {
	info, err := j.home.Store().Get(ctx, j.id)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 64<<10)
	enc := display.Encoder(out)
	head := export.LinesHead{
		Format: export.LinesFormat, Version: export.Version, Session: j.id, Head: info.Head.Hash.String(), Events: info.Head.Seq,
		Written: j.app.Now().UTC().Format(time.RFC3339), Redacted: !j.WithSecrets, Program: j.Program,
	}
	if err := enc.Encode(head); err != nil {
		return err
	}
	err = j.events(ctx, func(log string, e store.Event) error {
		line, n := export.LineOf(log, e, j.hide())
		j.written.Hidden += n
		return enc.Encode(line)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// events gives the events of the session, after those that it began with as a fork.
func (j *job) events(ctx context.Context, do func(log string, e store.Event) error) error {
	ranges, err := sessions.Ancestors(ctx, j.home, j.id)
	if err != nil {
		return err
	}
	info, err := j.home.Store().Get(ctx, j.id)
	if err != nil {
		return err
	}
	ranges = append(ranges, session.Range{Session: j.id, From: 1, To: info.Head.Seq})
	total := int64(0)
	for _, r := range ranges {
		total += r.To
	}
	work := j.home.Progress().Begin("reading events", "")
	defer work.End()
	work.Set(0, total)
	for _, r := range ranges {
		if r.To == 0 {
			continue
		}
		for e, err := range j.home.Events(ctx, r.Session, 1, r.To) {
			if err != nil {
				return err
			}
			if err := do(r.Session, e); err != nil {
				return err
			}
			work.Add(1, int64(len(e.Body)))
		}
	}
	return nil
}
