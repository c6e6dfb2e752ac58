package handoff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/plain"
)

// Header is what a document says about itself.
type Header struct {
	Session string
	Seq     int64
	Written time.Time
	Intact  bool // nobody changed the text since it was written
}

// Bounds of the header's values, in bytes as they are written.
const (
	maxID        = 128
	maxTitle     = 120
	maxBranch    = 200
	maxDirectory = 700
)

// header is the title, the line for machines and the line for people.
func header(d Document) string {
	title := headTitle
	if !d.Written.IsZero() {
		title += d.Written.Format(" - 2006-01-02 15:04")
	}
	d = d.bounded()
	if d.Session == "" {
		return title + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s session=%s seq=%d", title, commentBegin, encode(d.Session), d.Seq)
	for _, v := range []struct{ name, value string }{
		{"written", stamp(d.Written)}, {"branch", d.Branch}, {"commit", d.Commit}, {"directory", d.Directory}, {"title", d.Title},
	} {
		if v.value != "" {
			fmt.Fprintf(&b, " %s=%s", v.name, encode(v.value))
		}
	}
	return b.String() + " digest= " + commentEnd + "\n" + d.about() + "\n"
}

// about is the line for people.
func (d Document) about() string {
	words := []string{fmt.Sprintf("Session %s at %d", oneLine(d.Session), d.Seq)}
	for _, v := range []struct{ name, value string }{{"branch", d.Branch}, {"commit", d.Commit}, {"directory", d.Directory}, {"title:", d.Title}} {
		if v.value != "" {
			words = append(words, v.name+" "+oneLine(plain.Visible(v.value)))
		}
	}
	return strings.Join(words, ", ")
}

// bounded is a document whose header fits. A directory of more bytes is not named: a part of it would be another one.
func (d Document) bounded() Document {
	fit := func(s *string, n int) {
		if len(encode(*s)) > n || len(oneLine(plain.Visible(*s))) > n {
			*s = ""
		}
	}
	d.Title = cut(oneLine(d.Title), maxTitle/2)
	d.Session = oneLine(d.Session)
	if !hash.MatchString(d.Commit) {
		d.Commit = ""
	}
	fit(&d.Session, maxID)
	fit(&d.Title, maxTitle)
	fit(&d.Branch, maxBranch)
	fit(&d.Directory, maxDirectory)
	return d
}

var hash = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

const (
	commentBegin = "<!-- perdure"
	commentEnd   = "-->"
	namingBegin  = "Other handoffs beside this one: "
	digestLength = 16 // hexadecimal digits
)

// encode writes a value without what would end it: blanks, brackets, quotes, %, and what does not show.
func encode(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || plain.Hidden(r) || strings.ContainsRune(` %<>"\`, r) || r == 0x3000 {
			for i := range n {
				fmt.Fprintf(&b, "%%%02X", s[i])
			}
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

func decode(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseUint(e[1:], 16, 8)
		return string([]byte{byte(n)})
	})
}

// digestOf is the digest of a document without its own place in it and without the names of others.
func digestOf(text string) string {
	lines := strings.Split(unix(text), "\n")
	at, naming := headerAt(lines)
	if at < 0 {
		return ""
	}
	lines[at] = digestValue.ReplaceAllString(lines[at], " digest= "+commentEnd)
	if naming >= 0 {
		lines = append(lines[:naming], lines[naming+1:]...)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:digestLength]
}

// unix is a text with the line ends that we write: a checkout may have changed them.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

var digestValue = regexp.MustCompile(` digest=[0-9a-f]* -->$`)

// headerAt finds the lines of a header: that for machines, and that which names others; -1: there is none.
func headerAt(lines []string) (comment, naming int) {
	comment, naming = -1, -1
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "## "):
			return comment, naming
		case comment < 0 && i <= 2 && strings.HasPrefix(l, commentBegin+" ") && strings.HasSuffix(l, " "+commentEnd):
			comment = i
		case comment >= 0 && naming < 0 && strings.HasPrefix(l, namingBegin):
			naming = i
		}
	}
	return comment, naming
}

// signed puts a document's digest into its header.
func signed(text string) []byte {
	sum := digestOf(text)
	if sum == "" {
		return []byte(text)
	}
	return []byte(strings.Replace(text, " digest= "+commentEnd+"\n", " digest="+sum+" "+commentEnd+"\n", 1))
}

// HeaderOf reads the header of a document that a session wrote; ok is false for any other text.
func HeaderOf(text []byte) (h Header, ok bool) {
	d, ok := readHeader(string(text[:min(len(text), MaxRead)]))
	if !ok {
		return Header{}, false
	}
	m := digestValue.FindString(headerLine(string(text)))
	sum := digestOf(string(text))
	return Header{Session: d.Session, Seq: d.Seq, Written: d.Written, Intact: len(text) <= MaxRead && m == " digest="+sum+" "+commentEnd}, true
}

func headerLine(text string) string {
	lines := strings.Split(unix(text), "\n")
	if at, _ := headerAt(lines); at >= 0 {
		return lines[at]
	}
	return ""
}

// readHeader reads the line for machines. What is wrong in it is as if it were not there.
func readHeader(text string) (d Document, ok bool) {
	line := headerLine(text)
	if line == "" {
		return d, false
	}
	for _, field := range strings.Fields(strings.TrimSuffix(strings.TrimPrefix(line, commentBegin), commentEnd)) {
		name, value, _ := strings.Cut(field, "=")
		value = decode(value)
		switch name {
		case "session":
			d.Session = value
		case "seq":
			d.Seq, _ = strconv.ParseInt(value, 10, 64)
		case "written":
			d.Written, _ = time.Parse(time.RFC3339, value)
		case "branch":
			d.Branch = value
		case "commit":
			d.Commit = value
		case "directory":
			if filepath.IsAbs(value) {
				d.Directory = value
			}
		case "title":
			d.Title = value
		}
	}
	return d, d.Session != ""
}
