package handoff

import (
	"fmt"
	"time"
)

// MaxRead bounds what is read as a document, in bytes.
const MaxRead = 64 << 10

// Parse reads a document: ours, or one that a person wrote. It fails for one over [MaxRead] and for what is no text.
func Parse(text []byte) (Document, error) {
	if len(text) > MaxRead {
		return Document{}, fmt.Errorf("handoff: over %d bytes", MaxRead)
	}
	return Document{}, nil
}

// Header is what a document says about itself.
type Header struct {
	Session string
	Seq     int64
	Written time.Time
	Intact  bool // nobody changed the text since it was written
}

// HeaderOf reads the header of a document that a session wrote; ok is false for any other text.
func HeaderOf([]byte) (h Header, ok bool) { return Header{}, false }
