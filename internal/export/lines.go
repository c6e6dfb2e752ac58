package export

import (
	"encoding/json"
	"io"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// LinesHead is the first of the lines.
type LinesHead struct {
	Format   string `json:"format"` // perdure.events
	Version  int    `json:"version"`
	Session  string `json:"session"`
	Head     string `json:"head"`   // hash of the newest event; the hashes are those of the log, whatever was hidden
	Events   int64  `json:"events"` // of the session's own log
	Written  string `json:"written_at"`
	Redacted bool   `json:"redacted"` // secrets were looked for and replaced
	Program  string `json:"program"`
}

// LinesFormat names the format of lines.
const LinesFormat = "perdure.events"

// LineOf is an event as a line, with the secrets hidden that hide finds, and how many. It names the log that it is of.
func LineOf(log string, e store.Event, hide Hide) (session.EventLine, int) {
	line := session.EventView(e, nil)
	line.Session = log
	if hide == nil {
		return line, 0
	}
	b, err := json.Marshal(line.Body)
	if err != nil {
		return line, 0
	}
	hidden, n := hideJSON(hide, b)
	if n > 0 {
		line.Body = json.RawMessage(hidden)
	}
	return line, n
}

// Write writes the document in a format, which is not Lines.
func (d *Document) Write(to io.Writer, format string) error {
	if format == HTML {
		return d.HTML(to)
	}
	return d.Markdown(to)
}
