package live

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/ui/theme"
)

// Config is the world of a view.
type Config struct {
	Out    io.Writer
	Width  func() int // of the terminal, in cells; nil or 0: unknown
	Colour bool
	Now    func() time.Time
	Prompt string // of the run: the person has just typed it
	Dir    string // paths below it are shown without it
}

// View draws a run. It is not safe for concurrent use. What it cannot write is lost: nobody watches any more.
type View struct {
	cfg     Config
	calls   Calls
	queued  map[int64]string // first words of messages that wait for their turn, by seq
	stream  string           // model call whose text is on the screen
	wrap    wrapper          // of that text
	thought string           // model call that was said to think
	open    string           // call whose line has no outcome yet; the cursor is at its end
	col     int              // cells written of that line
	mid     bool             // the cursor is in mid-line
	spoke   bool             // something of a turn is on the screen
	files   string           // work on files of which it was said that it takes long
}

// maxQueued bounds the words that are kept of messages that wait.
const maxQueued = 1024

// defaultWidth is that of a terminal that does not say, in cells.
const defaultWidth = 80

// New makes a view.
func New(cfg Config) *View {
	return &View{cfg: cfg, queued: map[int64]string{}}
}

// Colours, as their parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	yellow = "33"
	cyan   = "36"
)

// Opened shows which session this is, and knows the calls of its open turn and, by words, the messages that wait.
func (v *View) Opened(st *session.State, words func(seq int64) string) {
	line := "session " + plain.Line(st.ID, 200)
	if st.Title != "" {
		line += "  " + plain.Line(st.Title, 200)
	}
	v.line(v.paint(dim, v.fit(line, v.width())))
	for _, q := range st.Queue[:min(len(st.Queue), maxQueued)] {
		v.queued[q.Seq] = plain.Line(words(q.Seq), 1000)
	}
	if st.Turn != nil {
		for _, c := range st.Turn.Calls {
			v.calls.Open(c.ID, c.Tool, c.ToolUse, c.Input)
		}
	}
}

// Delta shows a piece of what the model says.
func (v *View) Delta(act, kind, text string) {
	switch kind {
	case "text":
		v.say(act, text)
	case "thinking":
		if v.thought != act {
			v.thought = act
			v.line(v.paint(dim, "(thinking)"))
		}
	case session.FilesUpdate:
		if what, _, _ := strings.Cut(text, ":"); v.files != what {
			v.files = what
			v.line(v.paint(dim, v.fit("("+plain.Line(text, 200)+" so far)", v.width())))
		}
	}
}

// Say shows a whole text of the model.
func (v *View) Say(text string) {
	v.stream = ""
	v.say("a whole text", text)
	v.Rest()
}

// say writes on where the model's text ends.
func (v *View) say(act, text string) {
	if text = plain.Text(text); text == "" {
		return
	}
	if v.stream != act {
		v.Rest()
		v.stream = act
		text = strings.TrimLeft(text, "\n")
	}
	v.write(v.wrap.next(text, v.width()))
	v.mid = !strings.HasSuffix(text, "\n")
	v.spoke = true
}

// Event shows an event.
func (v *View) Event(ev store.Event, body session.Body) {
	v.calls.See(body, ev.Time)
	switch b := body.(type) {
	case *session.MessageReceived:
		if len(v.queued) < maxQueued {
			v.queued[ev.Seq] = model.Text(b.Content)
		}
	case *session.TurnStarted:
		v.turn(b)
	case *session.ModelRequested:
		if b.Purpose == session.PurposeSummary && b.Reason != session.ForHandoff {
			v.line(v.paint(dim, fmt.Sprintf("(compacting: the model is asked for a summary of about %s tokens)", plain.Grouped(b.Estimate))))
		}
	case *session.Compacted:
		v.line(v.paint(dim, fmt.Sprintf("(compacted: %s → about %s tokens; the log keeps everything)", plain.Grouped(b.TokensBefore), plain.Grouped(b.TokensAfter))))
	case *session.ModelResponded:
		if !session.ForSummary(b.Act) {
			v.responded(b)
		}
	case *session.ModelFailed:
		v.Rest() // the command says why, and when the next try comes
	case *session.ModelLost:
		if !session.ForSummary(b.Act) {
			v.line(v.paint(dim, "(the reply broke off)"))
		}
	case *session.TurnEnded:
		v.Rest()
	default:
		v.act(ev, body)
	}
}

// turn shows what a turn is about, unless it is the prompt of this run.
func (v *View) turn(b *session.TurnStarted) {
	text, known := v.queued[b.Message]
	delete(v.queued, b.Message)
	v.Rest()
	if v.spoke {
		v.line("")
	}
	if known && text != v.cfg.Prompt {
		v.line(v.paint(bold, v.fit("> "+plain.Line(text, 1000), v.width())))
	}
}

// responded shows the text of a reply that did not come in pieces.
func (v *View) responded(b *session.ModelResponded) {
	if v.stream != b.Act {
		for _, bl := range b.Blocks {
			if bl.Type == model.BlockText {
				v.say(b.Act, string(bl.Shown))
			}
		}
	}
	v.Rest()
}

// Rest ends a line that is open, before something else is written to the terminal.
func (v *View) Rest() {
	v.write(v.wrap.rest(v.width()))
	if v.mid {
		v.write("\n")
	}
	v.mid, v.open, v.col = false, "", 0
}

// line writes a line of its own.
func (v *View) line(text string) {
	v.Rest()
	v.write(text + "\n")
}

func (v *View) write(text string) {
	if text != "" {
		_, _ = io.WriteString(v.cfg.Out, text)
	}
}

// width is how many cells a line may have: the last column stays free, since some terminals break the line there.
func (v *View) width() int {
	w := 0
	if v.cfg.Width != nil {
		w = v.cfg.Width()
	}
	if w <= 0 {
		w = defaultWidth
	}
	return max(w-1, 20)
}

func (v *View) fit(text string, cells int) string { return theme.Cut(text, max(cells, 1)) }

func (v *View) paint(colour, text string) string {
	if !v.cfg.Colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
