package talk_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// sheet takes changes as the screen does: what is dropped, then what is said, then items; each by its ID, new ones last.
type sheet struct {
	items []transcript.Item
	queue []chat.Queued
}

func (s *sheet) at(id string) int {
	return slices.IndexFunc(s.items, func(it transcript.Item) bool { return it.ID == id })
}

func (s *sheet) take(c chat.Changed) {
	for _, id := range c.Drop {
		if i := s.at(id); i >= 0 {
			s.items = slices.Delete(s.items, i, i+1)
		}
	}
	for _, said := range c.Said {
		i := s.at(said.ID)
		if i < 0 {
			i = len(s.items)
			s.items = append(s.items, transcript.Item{ID: said.ID, Kind: said.Kind})
		}
		s.items[i].Text += said.Text
	}
	for _, it := range c.Items {
		if i := s.at(it.ID); i >= 0 {
			s.items[i] = it
		} else {
			s.items = append(s.items, it)
		}
	}
	if c.Queues {
		s.queue = c.Queue
	}
}

var kinds = map[transcript.Kind]string{
	transcript.Person: "person", transcript.Text: "text", transcript.Thinking: "thinking", transcript.Tool: "tool", transcript.Note: "note", transcript.Trouble: "trouble",
}

var states = map[transcript.State]string{
	transcript.Planned: "planned", transcript.Waiting: "waiting", transcript.Running: "running", transcript.Background: "background",
	transcript.Done: "done", transcript.Failed: "failed", transcript.Unknown: "unknown",
}

// String is the sheet in words, an item a line.
func (s *sheet) String() string {
	var b strings.Builder
	for _, it := range s.items {
		switch it.Kind {
		case transcript.Tool:
			fmt.Fprintf(&b, "%s %s %s: %s", states[it.Call.State], it.Call.Name, it.Call.About, it.Call.Outcome)
			if it.Call.Took > 0 {
				fmt.Fprintf(&b, " (%v)", it.Call.Took)
			}
		default:
			fmt.Fprintf(&b, "%s: %s", kinds[it.Kind], it.Text)
		}
		for _, w := range it.With {
			fmt.Fprintf(&b, " [%s]", w)
		}
		b.WriteString("\n")
	}
	for _, q := range s.queue {
		fmt.Fprintf(&b, "waits: %s\n", q.Text)
	}
	return b.String()
}

// tape is a log that is being written: bodies get their seqs and times, a second apart.
type tape struct {
	fold   *talk.Fold
	sheet  sheet
	seq    int64
	events []entry
}

type entry struct {
	ev   store.Event
	body session.Body
}

func newTape() *tape { return &tape{fold: talk.New(talk.Config{Dir: "/work"})} }

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (t *tape) add(bodies ...session.Body) *tape {
	for _, b := range bodies {
		t.seq++
		ev := store.Event{Seq: t.seq, Time: begin.Add(time.Duration(t.seq) * time.Second).UnixMilli(), Kind: session.KindOf(b)}
		t.events = append(t.events, entry{ev, b})
		if t.fold != nil {
			t.fold.Event(ev, b)
		}
	}
	return t
}

// shown takes what has changed onto the sheet.
func (t *tape) shown() *sheet {
	t.sheet.take(t.fold.Take())
	return &t.sheet
}

func (t *tape) want(tt *testing.T, lines ...string) {
	tt.Helper()
	if got, want := t.shown().String(), strings.Join(append(lines, ""), "\n"); got != want {
		tt.Errorf("got\n%swant\n%s", got, want)
	}
}

func message(key, text string, more ...model.Part) session.Body {
	return &session.MessageReceived{Key: key, Content: append([]model.Part{model.TextPart(text)}, more...)}
}

// asks opens a turn for the message just before, and a call of the model for it.
func (t *tape) asks(turn int, text string) *tape {
	t.add(message("", text))
	return t.add(&session.TurnStarted{N: turn, Message: t.seq}, requested(turn, 1, 1))
}

func act(turn, step, attempt int) string {
	return session.AttemptID(session.ActBase(turn, step, 0), attempt)
}

func call(turn, step, block int) string {
	return session.AttemptID(session.ActBase(turn, step, block), 1)
}

func requested(turn, step, attempt int) session.Body {
	return &session.ModelRequested{Act: act(turn, step, attempt), Turn: turn, Step: step, Attempt: attempt}
}

func replied(turn, step int, blocks ...session.SealedBlock) session.Body {
	return &session.ModelResponded{Act: act(turn, step, 1), Blocks: blocks}
}

func text(s string) session.SealedBlock {
	return session.SealedBlock{Type: model.BlockText, Shown: []byte(s)}
}

func thinks(s string) session.SealedBlock {
	return session.SealedBlock{Type: model.BlockThinking, Raw: fmt.Appendf(nil, `{"type":"thinking","thinking":%q,"signature":"x"}`, s)}
}

func uses(name, input string) session.SealedBlock {
	return session.SealedBlock{Type: model.BlockToolUse, Name: name, Input: []byte(input)}
}

func runs(command string) session.SealedBlock {
	return uses("Bash", fmt.Sprintf(`{"command":%q}`, command))
}

func finished(act, out string, exit int) *session.ToolFinished {
	return &session.ToolFinished{Act: act, Outcome: session.OutcomeOK, ExitCode: &exit, Content: []model.Part{model.TextPart(out)}}
}

func exited(task string, code int) *session.TaskExited {
	return &session.TaskExited{Task: task, State: command.State{Status: command.Exited, ExitCode: &code}}
}

// seeded is a source of chance whose seed is told when the test fails.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}
