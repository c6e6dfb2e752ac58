package engine

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/model"
)

// maxSide bounds what is read back of a stream's side file.
const maxSide = 4 << 20

// side is the stream of one model call as it comes: un-synced, for the eyes and for what a crash leaves of the call's
// usage. It is never truth; every failure of it is silent.
type side struct {
	path    string
	file    *os.File
	usage   int64
	text    strings.Builder
	discard bool
}

type sideLine struct {
	Usage int64  `json:"u,omitempty"`
	Kind  string `json:"k,omitempty"`
	Text  string `json:"t,omitempty"`
}

func sidePath(dir, sessionID, act string) string { return filepath.Join(dir, sessionID, act+".stream") }

func openSide(dir, sessionID, act string) *side {
	s := &side{}
	if dir == "" {
		return s
	}
	s.path = sidePath(dir, sessionID, act)
	if os.MkdirAll(filepath.Dir(s.path), 0o700) != nil {
		return s
	}
	s.file, _ = os.OpenFile(s.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	return s
}

func (s *side) write(d model.Delta) {
	line := sideLine{Kind: string(d.Kind), Text: d.Text}
	if d.Kind == model.DeltaStart {
		line.Usage = inputTokens(d.Usage)
		s.usage = line.Usage
	}
	if d.Kind == model.DeltaText && s.text.Len() < maxSide {
		s.text.WriteString(d.Text)
	}
	if s.file == nil {
		return
	}
	if b, err := json.Marshal(line); err == nil {
		_, _ = s.file.Write(append(b, '\n'))
	}
}

func inputTokens(u model.Usage) int64 { return u.Input + u.CacheRead + u.CacheWrite }

// seen is what the stream has shown so far: the request's tokens, 0 if unknown, and the text.
func (s *side) seen() (usage int64, text string) { return s.usage, s.text.String() }

func (s *side) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	if s.discard {
		_ = os.Remove(s.path)
	}
}

// readSide reads what an interrupted call left.
func readSide(dir, sessionID, act string) (usage int64, text string) {
	if dir == "" {
		return 0, ""
	}
	path := sidePath(dir, sessionID, act)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, ""
	}
	var shown strings.Builder
	for line := range bytes.Lines(b[:min(len(b), maxSide)]) {
		var l sideLine
		if json.Unmarshal(line, &l) != nil {
			break
		}
		usage = max(usage, l.Usage)
		if l.Kind == string(model.DeltaText) {
			shown.WriteString(l.Text)
		}
	}
	return usage, shown.String()
}

func removeSide(dir, sessionID, act string) {
	if dir != "" {
		_ = os.Remove(sidePath(dir, sessionID, act))
	}
}
