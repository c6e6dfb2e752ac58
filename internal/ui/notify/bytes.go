package notify

import (
	"encoding/base64"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// The title is pushed on a stack of the terminal, and comes back from there (xterm's control sequences: CSI 22 t, 23 t; 0
// is both the window's and the icon's).
const (
	pushTitle = "\x1b[22;0t"
	popTitle  = "\x1b[23;0t"
)

// The Program Status Protocol, revision 0.3: https://www.superlogical.com/rex/docs/build/program-status. A report is
//
//	ESC ] 7501 ; state=STATE : key=value … BEL
//
// with the keys kind (of blocked: permission, question, auth), app (at most 32 of [A-Za-z0-9_.+-]), title and msg (UTF-8
// without control characters, at most 192 and 2,048 bytes, in base64); each report replaces the one before it as a whole.
// So encodes it github.com/charmbracelet/x, ansi/programstatus.go, for View.ProgramStatus of bubbletea 2.1.
const (
	status      = "\x1b]7501;state="
	clearStatus = status + "clear\a"
	app         = "perdure"

	maxStatusTitle = 192  // bytes
	maxStatusWords = 1024 // bytes; the protocol has 2,048
)

// Bounds of texts, in characters.
const (
	maxTitle  = 60
	maxNotice = 200
)

// words is a text without anything that a terminal obeys, on one line of at most n characters.
func words(s string, n int) string {
	s = s[:min(len(s), 16*n)]
	s = strings.Join(strings.Fields(plain.Text(strings.ToValidUTF8(s, "\uFFFD"))), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// titleBytes sets the title of the terminal: the session's, and how it stands. The first time it keeps the one that there
// was, in the same write, so that nothing comes between.
func (n *Notifier) titleBytes() string {
	if !n.cfg.Title {
		return ""
	}
	title := words(n.now.Session, maxTitle)
	if title == "" {
		title = "perdure"
	}
	out := ansi.SetWindowTitle(sign(n.now.State) + title + standing(n.now))
	if !n.entered {
		n.entered = true
		return pushTitle + out
	}
	return out
}

// sign is at the beginning of the title, where a narrow tab still shows it. None has the byte 9C, which ends a title for
// terminals that look at bytes.
func sign(s State) string {
	switch s {
	case Working:
		return "… "
	case Blocked:
		return "? "
	case Done:
		return "● "
	case Failed:
		return "! "
	case Idle:
	}
	return ""
}

// standing is how a session stands, in words.
func standing(r Report) string {
	switch r.State {
	case Working:
		return " · works"
	case Blocked:
		switch r.Kind {
		case Permission:
			return " · asks for permission"
		case Question:
			return " · has a question"
		case Login:
			return " · needs a login"
		case Anything:
		}
		return " · waits for you"
	case Done:
		return " · is done"
	case Failed:
		return " · failed"
	case Idle:
	}
	return ""
}

// statusBytes reports the status.
func (n *Notifier) statusBytes() string {
	if !n.cfg.Status {
		return ""
	}
	names := [...]string{Idle: "idle", Working: "working", Blocked: "blocked", Done: "done", Failed: "error"}
	kinds := [...]string{Anything: "", Permission: ":kind=permission", Question: ":kind=question", Login: ":kind=auth"}
	s := status + names[n.now.State]
	if n.now.State == Blocked {
		s += kinds[n.now.Kind]
	}
	return n.wrap(s + ":app=" + app + encoded(":title=", n.now.Session, maxStatusTitle) + encoded(":msg=", n.now.Words, maxStatusWords) + "\a")
}

// encoded is a field of a status, of at most so many bytes; empty for an empty text.
func encoded(key, text string, most int) string {
	text = words(text, most/4) // a character has at most four bytes
	if text == "" {
		return ""
	}
	return key + base64.StdEncoding.EncodeToString([]byte(text))
}

// noticeBytes rings, and has the desktop show a notification.
func (n *Notifier) noticeBytes() string {
	out := ""
	if n.cfg.Bell {
		out += "\a"
	}
	if !n.cfg.Notify {
		return out
	}
	title := "Perdure" + standing(n.now)
	body := words(n.now.Session, maxTitle)
	if w := words(n.now.Words, maxNotice); w != "" && body != "" {
		body += ": " + w
	} else {
		body += w
	}
	if n.term.osc777 {
		clean := strings.NewReplacer(";", ",").Replace // it separates title and body
		return out + n.wrap("\x1b]777;notify;"+clean(title)+";"+clean(body)+"\a")
	}
	if body != "" {
		title += " — " + body
	}
	// The text begins with a letter: some terminals take digits there for a command.
	return out + n.wrap(ansi.Notify(title))
}

// wrap has tmux hand a sequence on, if that is wanted.
func (n *Notifier) wrap(seq string) string {
	if n.cfg.Passthrough && n.term.tmux {
		return ansi.TmuxPassthrough(seq)
	}
	return seq
}
