package engine

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"

	"github.com/perdure/perdure/internal/sys"
)

// maxSide bounds what is read back of a stream's side file.
const maxSide = 4 << 20

// side is the stream of one model call as it comes: un-synced, for the eyes and for what a crash leaves of the call's
// usage. It is never truth; every failure of it is silent.
type side struct {
	dir, session, act string

	file    *os.File
	usage   int64
	text    strings.Builder
	discard bool
}

type sideLine struct {
	Usage int64  `json:"u,omitempty"`
	Kind  string `json:"k,omitempty"`
	Text  string `json:"t,omitempty"`
	Tool  string `json:"n,omitempty"` // at the start of a tool's input: its name
	Use   string `json:"i,omitempty"` // and the provider's id of the call
}

func sideName(act string) string { return act + ".stream" }

func openSide(dir, sessionID, act string) *side {
	s := &side{}
	if dir == "" {
		return s
	}
	s.dir, s.session, s.act = dir, sessionID, act
	root, err := realdir.Make(filepath.Dir(dir), filepath.Base(dir), sessionID)
	if err != nil {
		return s
	}
	defer func() { _ = root.Close() }()
	_ = root.Remove(sideName(act)) // whatever stands there: a pipe, or a link
	s.file, _ = root.OpenFile(sideName(act), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	return s
}

func (s *side) write(d modelapi.Delta) {
	line := sideLine{Kind: string(d.Kind), Text: d.Text, Tool: d.Tool, Use: d.ID}
	if d.Kind == modelapi.DeltaStart {
		line.Usage = inputTokens(d.Usage)
		s.usage = line.Usage
	}
	if d.Kind == modelapi.DeltaText && s.text.Len() < maxSide {
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
		removeSide(s.dir, s.session, s.act)
	}
}

// readSide reads what an interrupted call left.
func readSide(dir, sessionID, act string) (usage int64, text string) {
	if dir == "" {
		return 0, ""
	}
	root, err := realdir.Open(filepath.Dir(dir), filepath.Base(dir), sessionID)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(sideName(act), os.O_RDONLY|sys.NonBlock, 0) // a pipe in its place keeps nobody waiting
	if err != nil {
		return 0, ""
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, ""
	}
	b, err := io.ReadAll(io.LimitReader(file, maxSide))
	if err != nil {
		return 0, ""
	}
	var shown strings.Builder
	for line := range bytes.Lines(b) {
		var l sideLine
		if json.Unmarshal(line, &l) != nil {
			break
		}
		usage = max(usage, l.Usage)
		if l.Kind == string(modelapi.DeltaText) {
			shown.WriteString(l.Text)
		}
	}
	return usage, shown.String()
}

func removeSide(dir, sessionID, act string) {
	if dir == "" {
		return
	}
	if root, err := realdir.Open(filepath.Dir(dir), filepath.Base(dir), sessionID); err == nil {
		_ = root.Remove(sideName(act))
		_ = root.Close()
	}
}

// removeSides takes the directory of a session's streams away if none is left in it.
func removeSides(dir, sessionID string) {
	if dir == "" {
		return
	}
	if root, err := realdir.Open(filepath.Dir(dir), filepath.Base(dir)); err == nil {
		if info, err := root.Lstat(sessionID); err == nil && info.IsDir() {
			_ = root.Remove(sessionID) // refused as long as something lies there
		}
		_ = root.Close()
	}
}
