// Package composer is where a person writes: some lines of text with a real cursor, what is attached to them, and what
// helps to write them: the history of all sessions, names of files and commands, an editor.
//
// # The model
//
// A [Composer] is a component for bubbletea: its owner passes messages to Update and shows View. It knows nothing of
// sessions and files; what it searches and reads comes from a [Source]. What is sent is a [Draft], whose parts are text,
// long pasted texts and images; in the text, each attachment is one character that shows as [pasted 3,412 lines].
//
// Text is edited by what a person takes for one character, and wrapped by cells. It is clean at all times: no escape
// sequence and no control character gets in, whatever is pasted.
//
// Nothing that was written is lost: what is sent or cleared is in the history, every change can be undone, and what an
// editor that fails leaves behind changes nothing.
//
// # The caller's duties
//
// Call Init once, SetSize whenever the room changes, and Update for every message that is not the owner's own; of keys,
// those that Wants reports. When Update's command gives a [SentMsg], its draft belongs to the owner: the composer has it
// in its history only, so that the letters that are typed after enter are the next message. If it cannot be taken,
// TakeBack puts it back.
package composer

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// ErrMore comes with a list that is a beginning: somebody who asks again gets more.
var ErrMore = errors.New("there is more")

// History is what was sent before, in all sessions. Its first answers come soon, if need be with ErrMore.
type History interface {
	// Newest returns up to n messages, the newest first, without duplicates.
	Newest(ctx context.Context, n int) ([]string, error)
	// Search returns up to n messages that hold all the words (see [Holds]), the newest first, without duplicates. Errors:
	// ErrMore, beside a list.
	Search(ctx context.Context, words string, n int) ([]string, error)
}

// File is a name in the working directory.
type File struct {
	Path string // relative to the working directory, with slashes
	Dir  bool
}

// Source is where a composer gets what it shows. Its methods may block; they are called from other goroutines, and end
// with their context. Errors are shown.
type Source interface {
	History
	// Files returns up to n names that are like the words, the best first; see [Rank].
	Files(ctx context.Context, words string, n int) ([]File, error)
	// Image reads an image of the formats png, jpeg, gif and webp; the bytes decide which one it is. A path is absolute,
	// or below the working directory, or begins with ~/. Errors: ErrNoFile.
	Image(ctx context.Context, path string) (Image, error)
}

// Command is one that can be typed at the beginning of a message, as data.
type Command struct {
	Name string // without the slash
	Args string // as in [NAME]; empty: it takes none
	Help string // one line
}

// Config is what a composer is made of.
type Config struct {
	Source   Source           // required
	Now      func() time.Time // required
	Styles   theme.Styles
	Commands []Command
	Hint     string // shown while nothing is written
	MaxRows  int    // of text, before it scrolls; 0: 10
	// Editor is the argv of the editor, to which a file's name is added; none: there is no editor.
	Editor []string
	// Temp makes a file of mode 0600 that holds a text, for the editor. The composer removes it.
	Temp func(text string) (path string, err error)
}

// SentMsg is a message that a person has sent.
type SentMsg struct{ Draft Draft }

// Composer is a component. It is used from one goroutine, as bubbletea does.
type Composer struct {
	cfg           Config
	buf           *buffer
	width, height int
	top           pos // the first row on the screen: a line, and the number of a row in it
	blurred       bool
	method        ansi.Method // how the terminal counts cells, for the cursor

	chips    map[rune]*attachment
	nextChip rune
	pastes   int // texts that were pasted into this message

	killed          string // what ctrl+y gives back
	killing, adding bool   // the newest key killed, and so did the one before it, so that it adds
	prefix          bool   // ctrl+x was pressed
	sending         bool   // enter was pressed while an image is read

	past     past
	recalled bool // the text is one of the past and was not changed: nothing is completed in it
	popup    popup
	serial   int // of the newest question; answers to others are stale
	note     note
}

// note is a line about what went wrong, or is under way; it goes with the next key.
type note struct {
	text  string
	wrong bool
}

// New makes a composer.
func New(cfg Config) *Composer {
	if cfg.MaxRows <= 0 {
		cfg.MaxRows = 10
	}
	c := &Composer{cfg: cfg, chips: map[rune]*attachment{}, nextChip: firstChip, width: 80, height: 24}
	c.buf = newBuffer(c.labelOf)
	c.past.at = -1
	return c
}

// Init asks for the history.
func (c *Composer) Init() tea.Cmd { return c.loadHistory() }

// SetSize gives the composer its room, in cells: its width, and how many lines View may have at most.
func (c *Composer) SetSize(width, height int) { c.width, c.height = max(width, 0), max(height, 1) }

// SetCommands changes the commands that are offered.
func (c *Composer) SetCommands(list []Command) { c.cfg.Commands = list }

// SetHint changes what is shown while nothing is written.
func (c *Composer) SetHint(hint string) { c.cfg.Hint = hint }

// Focus says whether keys come here: without it there is no cursor.
func (c *Composer) Focus(on bool) { c.blurred = !on }

// Empty reports that nothing is written, not even a blank.
func (c *Composer) Empty() bool { return c.buf.empty() }

// Begins reports whether what is written is one line that begins with some letters.
func (c *Composer) Begins(with string) bool {
	return len(c.buf.lines) == 1 && strings.HasPrefix(c.buf.lines[0].text, with)
}

// Typing tells that a letter belongs to something that is being written, so that an owner's own single-letter keys must
// wait. While it is false nothing is written and nothing is open; a letter that is passed on begins a message.
func (c *Composer) Typing() bool {
	return !c.Empty() || c.popup.kind != closed || c.prefix || c.sending
}

// Draft is what is written now. It stays.
func (c *Composer) Draft() Draft { return c.draft(c.buf.text()) }

// SetDraft puts a draft in the place of what is written, which can be undone.
func (c *Composer) SetDraft(d Draft) {
	c.close()
	c.sending, c.pastes = false, 0
	c.buf.set(c.chipped(d))
	c.buf.moveTo(c.buf.end())
	c.past.leave()
	c.sweep()
}

// TakeBack puts a message back that was sent or queued, before what is written now.
func (c *Composer) TakeBack(d Draft) {
	text := c.chipped(d)
	if !c.Empty() {
		text += "\n"
	}
	at := c.buf.cur
	c.buf.replace(pos{}, pos{}, text)
	end := c.buf.endOf(pos{}, text)
	if at.line == 0 {
		at.off += end.off
	}
	at.line += end.line
	c.buf.moveTo(c.buf.snap(at))
	c.close()
	c.stopSending()
}

// Update takes a message. Those that are not the composer's are ignored.
func (c *Composer) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return c.key(msg)
	case tea.PasteMsg:
		return c.paste(msg.Content)
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && !msg.Value.IsNotRecognized() && !msg.Value.IsPermanentlyReset() {
			c.method = ansi.GraphemeWidth // as bubbletea does from then on
		}
	case historyMsg:
		c.gotHistory(msg)
	case matchesMsg:
		return c.gotMatches(msg)
	case imageMsg:
		return c.gotImage(msg)
	case editMsg:
		return c.edit(msg)
	case editedMsg:
		c.edited(msg)
	}
	return nil
}
