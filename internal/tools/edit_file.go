package tools

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

//go:embed edit_file.md
var editDescription string

// maxReplacements bounds what one replace_all does.
const maxReplacements = 1_000_000

// editFile replaces one text in a file by another.
type editFile struct{}

func (editFile) Spec() Spec {
	return Spec{
		Name: "Edit", Description: strings.TrimSpace(editDescription), Effect: session.EffectEdit,
		Schema: `{"type":"object","properties":{` +
			`"file_path":{"type":"string","description":"The file; absolute, or relative to the working directory"},` +
			`"old_string":{"type":"string","description":"The text to replace, exactly as in the file; empty only to create a file"},` +
			`"new_string":{"type":"string","description":"The text to put in its place"},` +
			`"replace_all":{"type":"boolean","description":"Replace every occurrence, instead of the only one"}},` +
			`"required":["file_path","old_string","new_string"]}`,
	}
}

// Path is what permission rules look at.
func (editFile) Path(c Call) string { return parse(c).text("file_path") }

// Prepare names the change.
func (editFile) Prepare(_ context.Context, c Call, env Env) (*session.Edit, []byte, *Result, error) {
	in := parse(c)
	name, from, to := in.nonEmpty("file_path"), in.required("old_string"), in.required("new_string")
	all := in.flag("replace_all", false)
	if len(in.problems) == 0 && from == to {
		in.problem("old_string and new_string are equal; there is nothing to change")
	}
	path := in.target(env, "file_path", name)
	if r := in.refusal(); r != nil {
		return nil, nil, r, nil
	}
	old, info, refusal := before(env, path)
	if refusal == nil && !info.Exists && from != "" {
		r := failure("no file at %s; to create it, use Write", path)
		refusal = &r
	}
	if refusal == nil && from == "" && len(old) > 0 {
		r := failure("old_string is empty, but %s is not; give the text to replace, or use Write for the whole content", path)
		refusal = &r
	}
	if refusal == nil && bytes.IndexByte(old, 0) >= 0 {
		r := failure("%s is a binary file; change it with a command", path)
		refusal = &r
	}
	if refusal != nil {
		return nil, nil, refusal, nil
	}
	if from == "" {
		edit := change(path, info, old, []byte(to))
		edit.Result = fmt.Sprintf("created %s: %s", path, extent([]byte(to)))
		return edit, []byte(to), nil, nil
	}
	text := newText(old)
	text.env = env
	places, refused := text.find(path, from, all)
	if refused != nil {
		return nil, nil, refused, nil
	}
	content, line, lines := text.replace(places, to)
	if len(content) > maxEdit {
		r := failure("%s would have %d bytes, at most %d are allowed", path, len(content), maxEdit)
		return nil, nil, &r, nil
	}
	if bytes.Equal(content, old) {
		r := success("%s already is as the edit would make it; nothing was written", path)
		return nil, nil, &r, nil
	}
	edit := change(path, info, old, content)
	what := "1 replacement"
	if n := len(places); n > 1 {
		what = fmt.Sprintf("%d replacements; the first", n)
	}
	edit.Result = fmt.Sprintf("edited %s: %s:\n%s", path, what, snippet(env, content, line, lines))
	return edit, content, nil, nil
}

// Bounds of the snippet that shows an edit.
const (
	snippetAround = 4  // lines before and after
	snippetLines  = 40 // of the edit itself
)

// snippet shows the lines of an edit, numbered as Read does. line is the first changed one, from 1.
func snippet(env Env, content []byte, line, lines int) string {
	first, last := max(1, line-snippetAround), line+min(lines, snippetLines)-1+snippetAround
	var b strings.Builder
	rest := bytes.TrimPrefix(content, []byte(byteOrderMark))
	for n := 1; n <= last && len(rest) > 0; n++ {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		if n < first {
			continue
		}
		text, _ = env.hide(bytes.TrimSuffix(text, []byte("\r")), false)
		shown, cut := cutChars(text, maxLineChars/4)
		mark := ""
		if cut > 0 {
			mark = fmt.Sprintf("… [line cut: %d more bytes]", cut)
		}
		fmt.Fprintf(&b, "%6d\t%s%s\n", n, bytes.ToValidUTF8(shown, []byte("\uFFFD")), mark)
	}
	if lines > snippetLines {
		fmt.Fprintf(&b, "[%d more changed lines]\n", lines-snippetLines)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
