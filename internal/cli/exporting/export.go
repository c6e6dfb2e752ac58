// Package exporting is perdure export: a session as a document for people who do not have Perdure, or as its events for
// programs. It reads the log, hides secrets on the way, and writes one file or to stdout.
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
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/export"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// flags say what is written, and where.
type flags struct {
	format, file string
	force, bare  bool // bare: secrets stay
}

// Command is perdure export. program is what documents say that they were written by.
func Command(a *app.App, program string) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "export ID", Short: "Write a session down as Markdown, one page of HTML, or lines of JSON", Args: app.ExactArgs(1, "a session"),
		Long: `Write a session down as one document: every turn with its words, its tool calls and what they gave, its cost, its tasks.
Of a fork, what it began with comes first.

  md     Markdown; what others wrote stands in quotes and fences
  html   one page that needs no network and no script; calls and thinking are folded, images are in it
  jsonl  the events as perdure log --json prints them, after a line that names the format

Secrets are replaced by their names, those of the environment and of the configuration, and what looks like a well-known
key or is a private key. How many there were is told on stderr; --with-secrets leaves them. See docs/export.md.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.settle(cmd); err != nil {
				return err
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return (&job{app: a, home: h, id: id, flags: f, program: program}).run(ctx)
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.format, "format", export.Markdown, "`FORMAT`: "+strings.Join(export.Formats(), ", ")+"; without it, what the name of the file says")
	fs.StringVarP(&f.file, "output", "o", "", "write to this `FILE`, which only you can read then, instead of to stdout")
	fs.BoolVar(&f.force, "force", false, "replace the file if it is there")
	fs.BoolVar(&f.bare, "with-secrets", false, "leave secrets as they are")
	return c
}

// settle finds the format, and refuses what makes no sense.
func (f *flags) settle(cmd *cobra.Command) error {
	if f.file == "-" {
		f.file = ""
	}
	if !cmd.Flags().Changed("format") {
		ends := map[string]string{".md": export.Markdown, ".markdown": export.Markdown, ".html": export.HTML, ".htm": export.HTML, ".jsonl": export.Lines, ".ndjson": export.Lines}
		if format, ok := ends[strings.ToLower(filepath.Ext(f.file))]; ok {
			f.format = format
		}
	}
	switch {
	case !slices.Contains(export.Formats(), f.format):
		return app.UsageError("format %q: use one of %s", f.format, strings.Join(export.Formats(), ", "))
	case f.force && f.file == "":
		return app.UsageError("--force goes with -o FILE")
	}
	return nil
}

// job writes one session.
type job struct {
	app     *app.App
	home    *homes.Home
	id      string
	flags   *flags
	program string

	hidden int
	size   int64
}

func (j *job) run(ctx context.Context) error {
	a := j.app
	if j.flags.file == "" {
		write := func() error { return j.write(ctx, a.Stdout) }
		if j.flags.format == export.Markdown {
			inner := write
			write = func() error { return a.Paged(inner) }
		}
		if err := write(); err != nil {
			return err
		}
	} else {
		path := j.flags.file
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Dir, path)
		}
		err := app.NewFile(path, j.flags.force, func(to io.Writer) error {
			err := j.write(ctx, to)
			if f, ok := to.(*os.File); ok && err == nil {
				j.size, err = f.Seek(0, io.SeekCurrent)
			}
			return err
		})
		if err != nil {
			return err
		}
		a.Note("wrote %s, %s", display.Line(a.Tilde(path), 500), display.Bytes(j.size))
	}
	switch {
	case j.flags.bare:
		a.Note("secrets were not looked for: keep it as you keep them")
	case j.hidden > 0:
		a.Note("%s hidden; --with-secrets leaves what they stand for", display.Count(int64(j.hidden), "secret"))
	case j.flags.file != "":
		a.Note("no secret was found in it")
	}
	return nil
}

// hide is what texts pass; nil leaves them.
func (j *job) hide() export.Hide {
	if j.flags.bare {
		return nil
	}
	return j.home.Redact
}

func (j *job) write(ctx context.Context, to io.Writer) error {
	if j.flags.format == export.Lines {
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
	d.Program, j.hidden = j.program, d.Hidden
	return d.Write(to, j.flags.format)
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
		Written: j.app.Now().UTC().Format(time.RFC3339), Redacted: !j.flags.bare, Program: j.program,
	}
	if err := enc.Encode(head); err != nil {
		return err
	}
	err = j.events(ctx, func(log string, e store.Event) error {
		line, n := export.LineOf(log, e, j.hide())
		j.hidden += n
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
	told := j.progress(total)
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
			told()
		}
	}
	return nil
}

// progress tells a person of a reading that takes more than a second.
func (j *job) progress(total int64) func() {
	next, done := time.Now().Add(time.Second), int64(0)
	return func() {
		done++
		if done%256 != 0 || !j.app.Asks || time.Now().Before(next) {
			return
		}
		next = time.Now().Add(time.Second)
		j.app.Note("read %s of %s", display.Grouped(done), display.Count(total, "event"))
	}
}
