package session

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// maxAbout bounds what a call is about, in bytes; the whole of it is in the conversation.
const maxAbout = 400

// maxActAbout bounds what a settled act is remembered by, in bytes: 256 of them are in every snapshot.
const maxActAbout = 160

// aboutFields are the fields of a tool's input that say best what a call is about, the best first.
var aboutFields = []string{"command", "file_path", "pattern", "question", "bash_id", "shell_id", "path", "url", "query"}

// About is in a few words, at most 400 bytes, what a tool's input asks for: its command or path, a pattern with the
// place where it is searched, else its first text by the order of names.
func About(input []byte) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	text := func(name string) string {
		s, _ := fields[name].(string)
		return s
	}
	for _, name := range slices.Concat(aboutFields, slices.Sorted(maps.Keys(fields))) {
		s := text(name)
		if s == "" {
			continue
		}
		if name == "pattern" {
			s = strings.TrimSpace(s + " " + text("path"))
		}
		if len(s) > maxAbout {
			s = strings.ToValidUTF8(s[:maxAbout-len("…")], "") + "…"
		}
		return s
	}
	return ""
}
