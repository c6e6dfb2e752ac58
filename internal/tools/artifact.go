package tools

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

//go:embed artifact.md
var artifactDescription string

// maxArtifact bounds a file that a model keeps, in bytes.
const maxArtifact = 100 << 20

// Keep makes the bytes that open gives durable, under their digest. open may be called again, for the same bytes from the
// beginning. The bytes stay until release, which is called once the log names them or they are not wanted; with an error
// there is nothing to release. Errors: open's and its reader's, the disk's, a quota's, ctx's.
type Keep func(ctx context.Context, open func() (io.ReadCloser, error)) (d store.Digest, size int64, release func(), err error)

// ArtifactTool is the tool by which a model keeps a file with its session. It is no part of [Builtin]: only a session whose
// files are kept is offered it, see [Offered].
func ArtifactTool() Tool { return artifact{} }

// artifact only looks at the file. That it is kept is in its outcome, so that a second run after a crash keeps it once.
type artifact struct{}

func (artifact) Spec() Spec {
	return Spec{
		Name: "Artifact", Description: strings.TrimSpace(artifactDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{` +
			`"file_path":{"type":"string","description":"The file; absolute, or relative to the working directory"},` +
			`"text":{"type":"string","description":"What is to be kept, in place of a file"},` +
			`"name":{"type":"string","description":"What it is kept under, such as report.md; needed with text"},` +
			`"description":{"type":"string","description":"What it is, in one line"}}}`,
	}
}

// Path is what permission rules look at; a text has none.
func (artifact) Path(c Call) string { return parse(c).text("file_path") }

// Pathless reports that a call names no file.
func (artifact) Pathless(c Call) bool { return parse(c).text("file_path") == "" }

// Run keeps what the call names.
func (artifact) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	file, name, note := in.text("file_path"), strings.TrimSpace(in.text("name")), in.text("description")
	_, inline := in.raw("text")
	text := in.text("text")
	path := ""
	switch {
	case inline == (file != ""):
		in.problem(`give one of "file_path" and "text"`)
	case inline && name == "":
		in.problem(`a text needs a "name"`)
	case !inline:
		path = in.target(env, "file_path", file)
	}
	if name == "" && path != "" {
		name = filepath.Base(path)
	}
	if len(in.problems) == 0 {
		err := session.ArtifactName(name)
		if err == nil {
			err = env.State.Workspace.TakesArtifact(name)
		}
		if err != nil {
			in.problem("%q: %v", "name", err)
		}
	}
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	if env.Keep == nil {
		return failure("Nothing is kept here: the files of this session are not captured."), nil
	}
	keeps := session.Artifact{Name: name, Act: c.Act, Note: session.CutEnd(strings.ToValidUTF8(note, "?"), session.MaxArtifactNote)}
	if inline {
		return keepText(ctx, env, keeps, text)
	}
	return keepFile(ctx, env, keeps, path)
}

func keepText(ctx context.Context, env Env, a session.Artifact, text string) (Result, error) {
	d, size, release, err := env.Keep(ctx, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	if err != nil {
		return notKept(ctx, a.Name, err)
	}
	return kept(a, d, size, release), nil
}

// keepFile keeps a file as it is: one that changes while it is read is refused.
func keepFile(ctx context.Context, env Env, a session.Artifact, path string) (Result, error) {
	f, before, err := openFile(env.Files, path)
	if err != nil {
		return fileFailure(path, err), nil
	}
	_ = f.Close()
	if before.Dir {
		return failure("%s is a directory: pack it first, and keep the archive", path), nil
	}
	d, size, release, err := env.Keep(ctx, func() (io.ReadCloser, error) {
		f, _, err := openFile(env.Files, path)
		if err != nil {
			return nil, err
		}
		return boundedFile{&bounded{ctx: ctx, r: f, left: maxArtifact}, f}, nil
	})
	switch {
	case errors.Is(err, ErrTooLarge):
		return failure("%s is over %d bytes, too large to be kept", path, maxArtifact), nil
	case err != nil:
		return notKept(ctx, path, err)
	}
	_, now, err := env.Files.Read(path, 1)
	if changed := err != nil || now.Mtime != before.Mtime || now.Size != size || now.Size != before.Size; changed {
		release()
		return failure("%s changed while it was read: keep it again when nothing writes to it", path), nil
	}
	return kept(a, d, size, release), nil
}

type boundedFile struct {
	io.Reader
	io.Closer
}

// kept is the outcome: what the session keeps from now on.
func kept(a session.Artifact, d store.Digest, size int64, release func()) Result {
	a.Digest, a.Size = d, size
	r := success("kept %q with the session: %d bytes, digest %.12s", a.Name, size, d.String())
	r.Events, r.Release = []session.Body{&session.ArtifactAdded{Artifact: a}}, release
	return r
}

// notKept words a failure; that of an ended context is the engine's.
func notKept(ctx context.Context, what string, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return failure("%s was not kept: %v", what, err), nil
}
