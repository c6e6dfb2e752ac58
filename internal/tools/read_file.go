package tools

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/picture"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

//go:embed read_file.md
var readDescription string

// Bounds of a read.
const (
	readLines   = 2000
	maxReadText = 100_000     // bytes of text shown
	maxScan     = 4 << 30     // bytes of a file looked at; a longer one is not digested, so it can't be edited
	maxImage    = 5 << 20     // bytes of an image, as the APIs allow
	maxDocument = 20 << 20    // bytes of a PDF, so that its base64 form fits a request
	sniffBytes  = 8000        // looked at to tell text from binary
	maxOffset   = 1 << 40     // line number
	fallback    = maxDocument // bytes read where files can't be streamed
)

// readFile shows a file.
type readFile struct{}

func (readFile) Spec() Spec {
	return Spec{
		Name: "Read", Description: strings.TrimSpace(readDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{` +
			`"file_path":{"type":"string","description":"The file; absolute, or relative to the working directory"},` +
			`"offset":{"type":"integer","description":"The first line to show, from 1"},` +
			`"limit":{"type":"integer","description":"How many lines to show: 2000 if left out"}},` +
			`"required":["file_path"]}`,
	}
}

// Path is what permission rules look at.
func (readFile) Path(c Call) string { return parse(c).text("file_path") }

// Run shows the file and tells the session that it was seen.
func (readFile) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	name := in.nonEmpty("file_path")
	view := &view{env: env, first: max(1, in.number("offset", 1, 0, maxOffset)), limit: in.number("limit", readLines, 1, maxOffset)}
	path := in.target(env, "file_path", name)
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	file, info, err := openFile(env.Files, path)
	if err != nil {
		r := fileFailure(path, err)
		return r, nil
	}
	defer file.Close()
	if info.Dir {
		return failure("%s is a directory; list it with Glob, pattern %q", path, path+"/*"), nil
	}
	sum := blake3.New()
	src := bufio.NewReaderSize(io.TeeReader(&bounded{ctx: ctx, r: file, left: maxScan}, sum), 64<<10)
	start, err := src.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return readFailure(ctx, path, err)
	}
	var r Result
	switch media := sniff(start); {
	case media != "":
		r, err = readMedia(src, path, media, info.Size)
	case bytes.IndexByte(start, 0) >= 0:
		return failure("%s is a binary file of %d bytes; look at it with a command such as xxd or strings", path, info.Size), nil
	default:
		err = view.scan(src)
		r = view.result(path)
	}
	if errors.Is(err, ErrTooLarge) {
		return r, nil // shown, but its digest is unknown
	}
	if err != nil {
		return readFailure(ctx, path, err)
	}
	if !r.IsError {
		r.Events = []session.Body{&session.FileSeen{File: session.File{
			Path: path, Digest: store.Digest(sum.Sum(nil)), Mode: info.Mode, Size: max(view.size, info.Size), Use: session.FileRead,
		}}}
	}
	return r, nil
}

// target gives the resolved absolute path of a field.
func (in *input) target(env Env, field, name string) string {
	if len(in.problems) > 0 {
		return ""
	}
	path, err := env.resolve(name)
	if err != nil {
		in.problem("%q: %v", field, err)
	}
	return path
}

// openFile opens a file as a stream, whatever Files can do. A directory is not an error here.
func openFile(files Files, path string) (io.ReadCloser, FileInfo, error) {
	tree, ok := files.(Tree)
	if !ok {
		b, info, err := files.Read(path, fallback)
		return io.NopCloser(bytes.NewReader(b)), info, err
	}
	_, info, err := files.Read(path, 1)
	if err != nil || info.Dir {
		return io.NopCloser(bytes.NewReader(nil)), info, err
	}
	return tree.Open(path)
}

// bounded reads at most left bytes and then fails with ErrTooLarge; it ends when ctx does.
type bounded struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// readFailure words an error in the middle of a file. Only the end of ctx is the engine's matter.
func readFailure(ctx context.Context, path string, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return fileFailure(path, err), nil
}

// fileFailure words why a file can't be used.
func fileFailure(path string, err error) Result {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failure("no file at %s", path)
	case errors.Is(err, fs.ErrPermission):
		return failure("permission denied: %s", path)
	case errors.Is(err, ErrNotRegular):
		return failure("%s is a device, a pipe or a socket; only files can be opened", path)
	case errors.Is(err, ErrTooLarge):
		return failure("%s is too large: %v", path, err)
	}
	return failure("%s: %v", path, err)
}

// readMedia gives an image or a document as a part of its own.
func readMedia(src io.Reader, path, media string, size int64) (Result, error) {
	kind, limit, what := model.BlockImage, int64(maxImage), "image"
	if media == mediaPDF {
		kind, limit, what = model.BlockDocument, maxDocument, "document"
	}
	b, err := io.ReadAll(io.LimitReader(src, limit+1))
	if err != nil {
		return Result{}, err
	}
	if int64(len(b)) > limit {
		return failure("%s is a %s %s of %d bytes; at most %d can be shown. Make it smaller with a command",
			path, media, what, max(size, int64(len(b))), limit), nil
	}
	r := success("%s: %s, %d bytes", path, media, len(b))
	r.Content = append(r.Content, model.Part{Type: kind, Media: media, Data: b})
	return r, nil
}

const mediaPDF = "application/pdf"

// sniff tells images and PDFs by their first bytes, whatever the file's name; else it gives nothing.
func sniff(b []byte) string {
	if bytes.HasPrefix(b, []byte("%PDF-")) {
		return mediaPDF
	}
	return picture.Media(b)
}
