package tools

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

//go:embed write_file.md
var writeDescription string

// maxEdit bounds a file that is written or edited, in bytes.
const maxEdit = 32 << 20

// defaultMode is a new file's where Files does not know better.
const defaultMode = 0o644

// writeFile creates a file or replaces its whole content.
type writeFile struct{}

func (writeFile) Spec() Spec {
	return Spec{
		Name: "Write", Description: strings.TrimSpace(writeDescription), Effect: session.EffectEdit,
		Schema: `{"type":"object","properties":{` +
			`"file_path":{"type":"string","description":"The file; absolute, or relative to the working directory"},` +
			`"content":{"type":"string","description":"The whole new content"}},` +
			`"required":["file_path","content"]}`,
	}
}

// Path is what permission rules look at.
func (writeFile) Path(c Call) string { return parse(c).text("file_path") }

// Prepare names the change.
func (writeFile) Prepare(_ context.Context, c Call, env Env) (*session.Edit, []byte, *Result, error) {
	in := parse(c)
	name, content := in.nonEmpty("file_path"), []byte(in.required("content"))
	if len(content) > maxEdit {
		in.problem("\"content\" has %d bytes, at most %d are allowed", len(content), maxEdit)
	}
	path := in.target(env, "file_path", name)
	if r := in.refusal(); r != nil {
		return nil, nil, r, nil
	}
	old, info, refusal := before(env, path)
	if refusal != nil {
		return nil, nil, refusal, nil
	}
	if info.Exists && bytes.Equal(old, content) {
		r := success("%s already has exactly this content; nothing was written", path)
		return nil, nil, &r, nil
	}
	verb := "created"
	if info.Exists {
		verb = "replaced"
	}
	edit := change(path, info, old, content)
	edit.Result = fmt.Sprintf("%s %s: %s", verb, path, extent(content))
	return edit, content, nil, nil
}

// before reads a file that is to be changed. A file that the session does not know as it is now is refused.
func before(env Env, path string) ([]byte, FileInfo, *Result) {
	old, info, err := env.Files.Read(path, maxEdit+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, info, nil
	}
	var r Result
	known, seen := knownFile(env, path)
	switch {
	case err != nil:
		r = fileFailure(path, err)
	case info.Dir:
		r = failure("%s is a directory", path)
	case len(old) > maxEdit:
		r = failure("%s is over %d bytes, too large to be edited; change it with a command", path, maxEdit)
	case !seen:
		r = failure("%s exists, but was not read in this session; read it first", path)
	case known.Digest != store.Sum(old):
		r = failure("%s changed since it was last read or written in this session; read it again%s", path, changedLines(env, path, known.Digest, old))
	default:
		return old, info, nil
	}
	return nil, info, &r
}

// changedLines says how a file has become what it is, if that is known. It begins with a separator.
func changedLines(env Env, path string, known store.Digest, now []byte) string {
	if env.Changed == nil {
		return ""
	}
	if lines := env.Changed(path, known, now); lines != "" {
		return ". What changed:\n" + lines
	}
	return ""
}

// change is the edit from the old content to the new one. What the model is told comes later.
func change(path string, info FileInfo, old, content []byte) *session.Edit {
	e := &session.Edit{
		Path: path, Post: store.Sum(content), Size: int64(len(content)), Mode: info.Mode,
		InPlace: info.Links > 1 || info.Foreign,
	}
	if info.Exists {
		e.Pre = store.Sum(old)
	} else if e.Mode == 0 {
		e.Mode = defaultMode
	}
	return e
}

// countLines counts lines as editors do: an unfinished last line is one.
func countLines(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// extent words how long a content is.
func extent(b []byte) string {
	n := countLines(b)
	return fmt.Sprintf("%d line%s, %d byte%s", n, plural(n), len(b), plural(len(b)))
}

// EditFailed words for the model why a prepared edit was not made.
func EditFailed(e session.Edit, err error) Result {
	switch {
	case errors.Is(err, ErrUnsettled):
		return failure("%s may have been written or not: %v. Read it before going on", e.Path, err)
	case errors.Is(err, ErrChanged):
		return failure("%s changed while the edit was made; nothing was written. Read it again", e.Path)
	case errors.Is(err, ErrNoSpace):
		return failure("no space left: %s was not written (%d bytes); the file is as it was. Free space on its disk or raise the quota",
			e.Path, e.Size)
	case errors.Is(err, syscall.EBUSY):
		return failure("%s was not written: it is a mount of its own, as files given to a container are; change it with a command", e.Path)
	}
	return failure("%s was not written: %v", e.Path, err)
}
