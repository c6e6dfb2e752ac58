package engine

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"

	"github.com/perdure/perdure/internal/sys"
)

// SideLook reads what a model call says that another process makes: first what it has said, then what it goes on to
// say. It is for the eyes: what is missing comes with the event that ends the call. It is not safe for concurrent use.
type SideLook struct {
	dir, session, act string

	file      *os.File
	part      []byte // of a line that is not whole yet
	tool, use string // of the newest tool block
	over      bool   // nothing more can be read
}

// maxSideLine bounds a line of a stream, and sideRead what is read of it at a time, in bytes.
const (
	maxSideLine = 1 << 20
	sideRead    = 64 << 10
)

// LookAt looks at the stream of a session's model call. The caller closes it.
func (e *Engine) LookAt(sessionID, act string) *SideLook {
	return &SideLook{dir: e.cfg.SideDir, session: sessionID, act: act, over: e.cfg.SideDir == ""}
}

// Act is the call's id.
func (l *SideLook) Act() string { return l.act }

// Next gives what has come since, at most some 64 KiB of it; nil if nothing has.
func (l *SideLook) Next() []Update {
	if l.over || !l.open() {
		return nil
	}
	buf := make([]byte, sideRead)
	n, _ := l.file.Read(buf)
	if n <= 0 {
		return nil
	}
	l.part = append(l.part, buf[:n]...)
	end := bytes.LastIndexByte(l.part, '\n')
	if end < 0 {
		l.over = len(l.part) > maxSideLine
		return nil
	}
	var out []Update
	for line := range bytes.Lines(l.part[:end+1]) {
		var s sideLine
		if json.Unmarshal(line, &s) != nil {
			l.over = true
			break
		}
		if u, ok := l.update(s); ok {
			out = append(out, u)
		}
	}
	l.part = append([]byte(nil), l.part[end+1:]...)
	return out
}

func (l *SideLook) update(s sideLine) (Update, bool) {
	u := Update{Session: l.session, Act: l.act, Kind: s.Kind, Text: s.Text}
	switch modelapi.DeltaKind(s.Kind) {
	case modelapi.DeltaText:
		if session.ForSummary(l.act) {
			u.Kind = "summary"
		}
	case modelapi.DeltaTool:
		if s.Tool != "" {
			l.tool, l.use = s.Tool, s.Use
		}
		u.Tool, u.Use = l.tool, l.use
	case modelapi.DeltaThinking:
	case modelapi.DeltaStart:
		return u, false
	default:
		return u, false
	}
	return u, true
}

// open opens the stream once it is there.
func (l *SideLook) open() bool {
	if l.file != nil {
		return true
	}
	root, err := realdir.Open(filepath.Dir(l.dir), filepath.Base(l.dir), l.session)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(sideName(l.act), os.O_RDONLY|sys.NonBlock, 0)
	if err != nil {
		return false
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return false
	}
	l.file = file
	return true
}

// Close ends the look.
func (l *SideLook) Close() {
	l.over = true
	if l.file != nil {
		_ = l.file.Close()
	}
}
