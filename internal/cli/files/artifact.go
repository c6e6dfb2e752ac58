package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/newfile"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// ArtifactCommand is perdure artifact.
func ArtifactCommand(a *app.App) *cobra.Command {
	return app.Group("artifact", "Files that are kept with a session, whatever becomes of its directory", artifactAdd(a), artifactList(a), artifactGet(a))
}

// artifact is one as --json prints it.
type artifact struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Media  string `json:"media,omitempty"`
	Note   string `json:"note,omitempty"`
	Act    string `json:"act,omitempty"`
	Digest string `json:"digest"`
	Time   string `json:"time,omitempty"`
}

func viewArtifact(k session.Artifact) artifact {
	out := artifact{Name: k.Name, Size: k.Size, Media: k.Media, Note: k.Note, Act: k.Act, Digest: k.Digest.String()}
	if k.Time != 0 {
		out.Time = time.UnixMilli(k.Time).UTC().Format(time.RFC3339)
	}
	return out
}

func artifactAdd(a *app.App) *cobra.Command {
	var name, note string
	var asJSON bool
	c := &cobra.Command{
		Use: "add ID FILE", Short: "Keep a copy of a file with a session",
		Long: `Keep a copy of a file with a session: it stays as it is now until the session is deleted. FILE may be "-" for what stdin
gives; it then needs --name. A name that is given again stands for the newer copy.`,
		Args: app.ExactArgs(2, "a session and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				r, done, err := source(a, args[1], &name)
				if err != nil {
					return err
				}
				defer done()
				k, err := h.KeepArtifact(ctx, id, session.Artifact{Name: name, Note: note}, r)
				if err != nil {
					return err
				}
				if asJSON {
					return a.JSON(viewArtifact(k))
				}
				a.Linef("%s: kept %s, %s", id, display.Line(k.Name, display.MaxCell), display.Bytes(k.Size))
				return nil
			})
		},
	}
	c.Flags().StringVar(&name, "name", "", "keep it under this `NAME`; without it, the file's")
	c.Flags().StringVar(&note, "note", "", "what it is, as a `TEXT`")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// source opens what is to be kept: a regular file, or stdin.
func source(a *app.App, file string, name *string) (io.Reader, func(), error) {
	if file == "-" {
		if *name == "" {
			return nil, nil, app.UsageError("what stdin gives has no name: say --name")
		}
		return a.Stdin, func() {}, nil
	}
	if *name == "" {
		*name = filepath.Base(file)
	}
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not keep it waiting
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &app.ExitError{Code: app.ExitUsage, Text: file + " is no regular file", Hint: "pack a directory first; - keeps what stdin gives"}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, func() { _ = f.Close() }, nil
}

func artifactList(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list ID", Short: "List what is kept with a session", Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				kept, err := h.Artifacts(ctx, id)
				if err != nil {
					return err
				}
				all := []artifact{}
				rows := [][]string{{"NAME", "SIZE", "TIME", "NOTE"}}
				for _, k := range kept {
					all = append(all, viewArtifact(k))
					rows = append(rows, []string{display.Line(k.Name, display.MaxCell), display.Bytes(k.Size), a.When(k.Time), display.Line(k.Note, display.MaxCell)})
				}
				switch {
				case asJSON:
					return a.JSON(all)
				case len(all) == 0:
					a.Note("session %s has no artifacts", id)
					a.Hint("perdure artifact add %s FILE keeps one", id)
					return nil
				}
				return a.Table(rows)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func artifactGet(a *app.App) *cobra.Command {
	var out string
	var force, asJSON bool
	c := &cobra.Command{
		Use: "get ID NAME", Short: "Write a file that is kept with a session",
		Long: `Write a file that is kept with a session: to stdout if that is no terminal, else to a file of its name here, or where -o
says. A file that is there is left alone without --force.`,
		Args: app.ExactArgs(2, "a session and a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return getArtifact(ctx, a, h, id, args[1], getOptions{out, force, asJSON})
			})
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write this `FILE`; - for stdout")
	c.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object about it; it needs -o")
	return c
}

type getOptions struct {
	out         string
	force, json bool
}

func getArtifact(ctx context.Context, a *app.App, h *homes.Home, id, name string, o getOptions) error {
	switch {
	case o.json && (o.out == "" || o.out == "-"):
		return app.UsageError("--json prints about the file: say where that is to be written, with -o FILE")
	case o.out == "" && a.Screen:
		if o.out = ownName(name); o.out == "" {
			return app.UsageError("%s is no name for a file here: say -o FILE", display.Quote(name))
		}
	}
	if o.out == "" || o.out == "-" {
		_, err := h.WriteArtifact(ctx, id, name, a.Stdout)
		return artifactError(err, id)
	}
	var k session.Artifact
	err := newfile.Write(o.out, o.force, func(w io.Writer) (err error) {
		k, err = h.WriteArtifact(ctx, id, name, w)
		return err
	})
	if err != nil {
		return artifactError(err, id)
	}
	if o.json {
		return a.JSON(viewArtifact(k))
	}
	a.Note("wrote %s, %s", o.out, display.Bytes(k.Size))
	return nil
}

// ownName is the file that an artifact is written to without more: in this directory, and not hidden. The name comes from
// a session.
func ownName(name string) string {
	if name != filepath.Base(name) || name == "/" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
		return ""
	}
	return name
}

func artifactError(err error, id string) error {
	if errors.Is(err, homes.ErrNoArtifact) {
		return &app.ExitError{Code: app.ExitMissing, Text: err.Error(), Hint: fmt.Sprintf("perdure artifact list %s shows what it has", id)}
	}
	return err
}
