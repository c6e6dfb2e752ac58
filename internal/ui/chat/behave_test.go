package chat

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// Goal: enter sends what is written; while the session works it waits in the queue, which shows it, and alt+up takes it
// back to be written on. What could not be sent is written again.
func TestSendQueueTakeBack(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.write("do it")
		p.press("enter")
		p.want("send k1 do it")
		p.send(Changed{Queues: true, Items: []transcript.Item{{ID: "turn 1", Text: "do it"}}, Stand: working()})
		p.sees("> do it", "thinking")
		p.misses("queued")
		p.write("and that")
		p.press("enter")
		p.want("send k2 and that")
		p.sees("queued: and that  (esc: now, alt+↑ takes it back)")
		p.send(Changed{Queues: true, Queue: []Queued{{Key: "k2", Text: "and that"}}})
		p.write("more")
		p.press("alt+up")
		p.want("withdraw k2")
		p.misses("queued")
		if got := p.m.in.Draft().String(); got != "and that\nmore" {
			t.Errorf("written is %q", got)
		}
		p.s.fail["send"] = errors.New("the disk is full")
		p.press("enter")
		p.sees("not sent, and written again below: the disk is full", "> and that", "more")
		p.misses("queued")
		p.s.fail["withdraw"] = errors.New("it is read by now")
		p.send(Changed{Queues: true, Queue: []Queued{{Key: "k9", Text: "other"}}})
		p.press("alt+up")
		p.sees("not taken back: it is read by now", "queued: other")
	})
}

// Goal: esc cancels what runs and names what ended with it; ctrl+c clears what is written, then asks, then leaves.
func TestCancelAndLeave(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.press("esc")
		p.want("")
		p.send(Changed{Stand: working()})
		p.s.stopped = []string{"npm run dev"}
		p.press("esc")
		p.want("cancel")
		p.sees("cancelled; ended: npm run dev")
		p.s.leaving = "bash_1 will go on"
		p.write("words")
		p.press("ctrl+c")
		if !p.m.in.Empty() || p.quit {
			t.Fatal("the first one clears")
		}
		p.wait(leaveWithin + time.Second)
		p.press("ctrl+c")
		p.sees("ctrl+c again leaves, esc cancels what runs; bash_1 will go on")
		p.write("x")
		p.press("ctrl+c")
		if p.quit {
			t.Fatal("a key between them begins anew")
		}
		p.press("ctrl+c")
		if !p.quit {
			t.Fatal("the second one leaves")
		}
	})
}

// Goal: pages open and close: by esc, unless they step back or take letters, and by q.
func TestPages(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.press("?")
		page, ok := p.m.page.(*paper)
		if !ok {
			t.Fatal("there is no page")
		}
		p.press("x", "enter")
		p.sees("a page xenter")
		page.deep = true
		p.press("esc")
		p.sees("a page")
		page.typing = true
		p.press("q", "esc")
		p.sees("a page xenterqesc")
		page.typing = false
		p.press("q")
		p.misses("a page")
		p.write("/help")
		p.press("enter")
		p.sees("a page")
		p.press("esc")
		p.misses("a page")
		p.s.reply = Reply{Title: "Cost", Text: "it was free"}
		p.write("/price now")
		p.press("enter")
		p.want("command cost now")
		p.sees("Cost", "it was free")
		p.press("esc")
		p.misses("it was free")
	})
}

// Goal: an answer of a command that comes while somebody writes takes no keys: it is a note.
func TestLateReplyTakesNoKeys(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.write("hello")
		p.send(replyMsg{"cost", Reply{Title: "Cost", Text: "it was free"}, nil})
		p.write("q")
		p.sees("· Cost", "it was free", "> helloq")
	})
}

// Goal: what begins with a slash is a command only if it can be one: a path is text, and what is no command is not lost.
func TestSlash(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.write("/etc/hosts is wrong")
		p.press("enter")
		p.want("send k1 /etc/hosts is wrong")
		p.write("/coast now")
		p.press("enter")
		p.sees("there is no /coast; nearest: /cost", "> /coast now")
		p.want("")
		p.press("ctrl+c")
		p.s.fail["command"] = errors.New("no prices")
		p.write("/cost")
		p.press("enter")
		p.want("command cost ")
		p.sees("! /cost: no prices")
		p.write("/mode")
		p.press("enter")
		p.want("")
		p.sees("The mode is default", "▌ default", "acceptEdits", "edits of files ask no more", "plan")
		p.press("down", "enter")
		p.want("command mode acceptEdits")
		p.misses("The mode is")
	})
}

func conversation(p *person, from, to int) {
	var items []transcript.Item
	for i := from; i < to; i++ {
		items = append(items, transcript.Item{ID: fmt.Sprint("i", i), Kind: transcript.Text, Text: fmt.Sprintf("number %d", i)})
	}
	p.send(Changed{Items: items})
}

// Goal: a view that was scrolled stays where it is, and its end is followed again after shift+end or a page down to it.
func TestScrollAndFollow(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		conversation(p, 0, 100)
		p.sees("number 99")
		p.press("pgup")
		p.misses("number 99")
		p.sees("earlier")
		conversation(p, 100, 110)
		p.misses("number 109")
		p.sees("there is more below")
		p.press("shift+end")
		p.sees("number 109")
		conversation(p, 110, 120)
		p.sees("number 119")
		p.press("pgup", "pgdown", "pgdown")
		conversation(p, 120, 130)
		p.sees("number 129")
		p.misses("more below")
		p.press("pgup", "esc")
		p.sees("number 129")
		p.want("")
	})
}

// Goal: older pages come when the first item is on the screen, once at a time, and while words are looked for until they
// are found; whoever goes on by hand is not taken there later.
func TestOlder(t *testing.T) {
	older := func(from, to int) (items []transcript.Item) {
		for i := from; i < to; i++ {
			items = append(items, transcript.Item{ID: fmt.Sprint("old", i), Kind: transcript.Text, Text: fmt.Sprintf("old %d", i)})
		}
		return items
	}
	at(t, 80, 24, func(c *Config) { c.More = true }, func(p *person) {
		p.s.older = [][]transcript.Item{older(60, 80), older(40, 60), older(20, 40), older(0, 20)}
		conversation(p, 0, 30)
		p.press("shift+home")
		p.want("older")
		p.sees("number 0")
		p.press("shift+up", "shift+up", "shift+up")
		p.sees("old 79")
		p.press("ctrl+f")
		p.write("OLD 5")
		p.sees("find: OLD 5")
		p.press("backspace", "backspace", "backspace", "backspace", "backspace")
		p.send(keyOf("o"), keyOf("l"), keyOf("d"), keyOf(" "), keyOf("3"), keyOf("3"))
		p.press("enter")
		p.sees("old 33")
		p.want("older; older")
		p.press("N")
		p.sees("is found no further")
		p.press("n")
		p.want("older")
		p.sees("is found no further")
		p.press("esc")
		p.sees("number 29")
	})
}

// Goal: the beginning of a long conversation is let go of while it goes on, and comes back when somebody scrolls there.
func TestALongConversationIsReadAgain(t *testing.T) {
	step := func(i int) transcript.Item {
		return transcript.Item{ID: fmt.Sprint("said", i), Kind: transcript.Text, Text: fmt.Sprintf("number %d\n%s", i, strings.Repeat("word ", 20_000)), At: int64(i)}
	}
	at(t, 80, 24, nil, func(p *person) {
		for i := 1; i <= 80; i++ {
			p.send(Changed{Items: []transcript.Item{step(i)}})
		}
		if len(p.s.did) == 0 || !strings.HasPrefix(p.s.did[0], "again ") {
			t.Fatalf("%q", p.s.did)
		}
		var again int
		_, _ = fmt.Sscanf(p.s.did[len(p.s.did)-1], "again %d", &again)
		p.s.did = nil
		var items []transcript.Item
		for i := 1; i <= again; i++ {
			items = append(items, step(i))
		}
		p.s.older = [][]transcript.Item{items}
		p.press("shift+home")
		p.want("older")
		p.press("shift+home")
		p.sees("number 1")
	})
}

// Goal: a session that is gone says so; what is written stays, and commands still lead elsewhere.
func TestGone(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		conversation(p, 0, 3)
		p.write("words")
		p.send(Gone{Text: "another process has taken this session over: enter goes back to it"})
		p.sees("! another process has taken", "number 2")
		p.press("enter")
		p.want("")
		p.sees("> words")
		p.press("ctrl+c")
		p.press("enter", "esc", "alt+up")
		p.want("")
		p.s.reply = Reply{Go: &Goal{}}
		p.write("/resume")
		p.press("enter")
		p.want("command resume ")
		if r := p.m.Result(); !p.quit || r.Goal == nil || r.Gone == "" {
			t.Errorf("%+v", r)
		}
	})
}

// A session that ended here, as on a full disk, says why first, is not said to work, and enter opens it again; what is
// written is not sent, and comes along; where it could not be kept, nothing is left.
func TestEnterOpensASessionThatIsGoneAgain(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.send(Changed{Stand: stand(func(s *Stand) { s.ID, s.Working, s.Activity = "s", true, "thinking" })})
		p.send(Gone{Text: "the disk is full: enter opens it again", Err: errors.New("full"), Again: true})
		p.sees("! the disk is full")
		p.misses("thinking")
		p.write("words")
		p.s.fail = map[string]error{"keep": errors.New("disk is full")}
		p.press("enter")
		p.sees("> words", "not opened, since what you have written would be lost: disk is full")
		if p.quit {
			t.Fatal("left with what was written")
		}
		p.s.fail = nil
		p.press("enter")
		if k := p.s.kept; len(k) == 0 || k[len(k)-1] != "words" {
			t.Errorf("kept %q", k)
		}
		if r := p.m.Result(); !p.quit || r.Goal == nil || r.Goal.Session != p.m.stand.ID || r.Goal.Session == "" || r.Err != nil {
			t.Errorf("%+v", r)
		}
	})
}

// Goal: a halted turn says why, and enter lets it go on, not a message that is sent.
func TestHalted(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.press("enter")
		p.want("")
		p.send(Changed{Stand: stand(func(s *Stand) { s.Halted = "the limit is reached; enter tries again" })})
		p.sees("‖ the limit is reached")
		p.press("enter")
		p.want("continue")
		p.send(Changed{Stand: working()})
		p.misses("‖")
	})
}

// Goal: browsing opens calls, whose output is looked at while they run, and ends with a message that is begun.
func TestBrowse(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.s.output = "the output so far"
		call := transcript.Item{ID: CallID("a1"), Kind: transcript.Tool, Call: transcript.Call{Act: "a1", Name: "Bash", About: "make", State: transcript.Running, Started: time.Now()}}
		p.send(Changed{Items: []transcript.Item{call}, Stand: working()})
		p.press("tab")
		p.sees("▌● Bash make", "enter open")
		p.press("enter")
		p.sees("│ the output so far")
		p.s.output = "and more of it"
		p.wait(time.Second)
		p.sees("│ and more of it")
		p.did()
		p.press("x")
		p.sees("> x")
		p.misses("▌")
	})
}

// Goal: one clock: however many changes come, one beat is awaited. Else each change would leave a clock of its own, and a
// long session would eat the processor.
func TestOneClock(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		for range 500 {
			p.send(Changed{Said: []Said{{ID: "s", Kind: transcript.Text, Text: "word "}}, Stand: working()})
		}
		frames := p.m.frame
		p.wait(10 * time.Second)
		if n := p.m.frame - frames; n < 30 || n > 50 {
			t.Errorf("%d beats in ten seconds", n)
		}
		p.send(Changed{Stand: stand(nil)})
		p.wait(10 * time.Second)
		frames = p.m.frame
		p.wait(60 * time.Second)
		if n := p.m.frame - frames; n > 13 {
			t.Errorf("%d beats in an idle minute", n)
		}
	})
}

// Goal: what waits shows above what is written; ctrl+o leads there and back; after it was drawn and read a key answers.
func TestApproval(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.press("ctrl+o")
		p.sees("nothing waits")
		p.s.waits = []asks.Ask{{ID: "a1", Kind: asks.Approval, Line: "Bash make", Asked: time.Now()}}
		p.send(Changed{Stand: stand(func(s *Stand) { s.Waits = 1 })})
		p.sees("Bash make", "ctrl+o")
		p.write("y\n")
		p.press("enter")
		p.press("ctrl+o")
		p.press("y")
		p.wait(100 * time.Millisecond)
		p.press("y")
		if p.s.answered != nil {
			t.Fatalf("answered %q before it could be read", p.s.answered)
		}
		p.press("esc")
		p.sees("> y")
		p.press("ctrl+c")
		p.write("z")
		p.sees("> z")
		p.press("ctrl+o")
		p.wait(time.Second)
		p.press("y")
		if got := strings.Join(p.s.answered, ";"); got != "a1 1 " {
			t.Fatalf("answered %q", got)
		}
		p.did()
		p.send(Changed{Stand: working()})
		p.press("esc") // of somebody who wants to close the list, which has closed by itself
		p.want("")
		p.sees("esc again cancels")
		p.press("esc")
		p.want("cancel")
		p.wait(10 * time.Second)
		p.write("w")
		p.sees("> zw")
	})
}

// Goal: what was said and done is in its order, however much of it comes at once.
func TestOrderInOneChange(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		done := transcript.Item{ID: "c1", Kind: transcript.Tool, Call: transcript.Call{Name: "Read", About: "main.go", State: transcript.Done}}
		p.send(Changed{
			Said: []Said{{ID: "lost", Kind: transcript.Text, Text: "lost"}},
			Items: []transcript.Item{
				{ID: "turn 1", Text: "edit it"},
				{ID: "s1", Kind: transcript.Text, Text: "I read it first."},
				done,
				{ID: "s2", Kind: transcript.Text, Text: "Now the", More: true},
			},
			Whole: []string{"s1"},
		})
		p.send(Changed{
			Drop: []string{"lost"}, Said: []Said{{ID: "s2", Kind: transcript.Text, Text: " edit."}},
		})
		at := 0
		for _, w := range []string{"> edit it", "I read it first.", "✓ Read main.go", "Now the edit."} {
			i := strings.Index(p.screen(), w)
			if i < at {
				t.Fatalf("%q is not in its place:\n%s", w, p.screen())
			}
			at = i
		}
		p.misses("lost")
	})
}

// Goal: once the size stays as it is all is drawn anew, once, and never while somebody drags an edge or words come: when a
// terminal gets larger it moves what it shows, and lines that did not change would be missing.
func TestResizeDrawsAnewOnce(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		conversation(p, 0, 10)
		p.wait(time.Second)
		if len(p.other) > 0 {
			t.Fatalf("it begins with %q", p.other)
		}
		for w := range 20 {
			p.send(tea.WindowSizeMsg{Width: 81 + w, Height: 24 + w})
		}
		p.wait(time.Second)
		for range 50 {
			p.send(Changed{Said: []Said{{ID: "s", Kind: transcript.Text, Text: "word "}}, Stand: working()})
		}
		p.wait(10 * time.Second)
		if got := strings.Join(p.other, " "); got != "clearScreenMsg" {
			t.Errorf("the terminal was told %q", got)
		}
	})
}
