package window

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Give makes a given text of what a file, or the memory, says: an element of that name, out of which the text cannot
// lead. An empty path: it is of no single file.
func Give(name, path, text string, digest store.Digest) session.GivenText {
	return session.GivenText{Name: name, Path: path, Digest: digest, Text: []byte(Element(name, path, text))}
}

// Element is a text as an element of that name, with the path that it is from.
func Element(name, path, text string) string {
	at := ""
	if path != "" {
		at = " path=" + attribute(path)
	}
	return "<" + name + at + ">\n" + Quote(text) + "\n</" + name + ">"
}
