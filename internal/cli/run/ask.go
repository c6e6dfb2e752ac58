package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
)

// lookAgain is how often it is looked whether a call was answered elsewhere.
const lookAgain = 500 * time.Millisecond

// asker asks the person at the terminal of a run with --wait about the calls that wait, which were shown just before.
// The run goes on as soon as they are answered, here or elsewhere.
type asker struct {
	app   *app.App
	home  *homes.Home
	once  sync.Once
	lines chan answered // what is typed; closed at its end
	want  chan struct{} // holds a token while somebody waits for a line
	shown atomic.Int64  // the questions that were put
	stop  func()        // ends the asking that is under way
}

// answered is a typed line, and how many questions had been put when it came: it answers the last of them alone.
type answered struct {
	text     string
	question int64
}

// ask begins to ask, and ends what was asked before: the run has gone on since.
func (k *asker) ask(ctx context.Context, waits []pending.Wait) {
	k.end()
	k.once.Do(func() {
		k.lines, k.want = make(chan answered), make(chan struct{}, 1)
		go k.read()
	})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	k.stop = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		k.all(ctx, waits)
	}()
}

// all asks about all of them, and answers then: what an answer sets going would write into the next question.
func (k *asker) all(ctx context.Context, waits []pending.Wait) {
	var given []typedReply
	for i, w := range waits {
		which := ""
		if len(waits) > 1 {
			about := pending.Line(w)
			if q := w.Call.Question; q != nil {
				about = strconv.Quote(display.Shown(q.Question, display.MaxCell))
			}
			which = fmt.Sprintf(" %s (%d of %d)", about, i+1, len(waits))
		}
		r, came := k.one(ctx, w, which)
		switch came {
		case gone:
			return
		case typedLine:
			given = append(given, typedReply{w, r})
		case closed, elsewhere:
		}
		if came == closed {
			break
		}
	}
	for _, g := range given {
		if !k.give(ctx, g.Wait, g.reply) {
			return
		}
	}
}

// end ends what is asked, if something is.
func (k *asker) end() {
	if k != nil && k.stop != nil {
		k.stop()
		k.stop = nil
	}
}

// read passes on what is typed while somebody waits for it; the rest stays with the terminal. Nothing ends it but the
// end of the input, or of the process.
func (k *asker) read() {
	defer close(k.lines)
	in := bufio.NewScanner(k.app.Stdin)
	for range k.want {
		if !in.Scan() {
			return
		}
		k.lines <- answered{in.Text(), k.shown.Load()}
	}
}

// put begins a question. What was typed before it was shown is dropped: it allows nothing that nobody had seen.
func (k *asker) put() {
	k.app.DropTyped()
	k.shown.Add(1)
}

// reply is what a person typed: about an approval, or as the answer to a question.
type reply struct {
	verdict verdict
	text    string
}

// verdict is a yes or a no, with words for the model.
type verdict struct {
	allow   bool
	message string
}

type typedReply struct {
	pending.Wait
	reply
}

// one asks about one call until something comes that is an answer.
func (k *asker) one(ctx context.Context, w pending.Wait, which string) (reply, came) {
	ask, other := "allow"+which+"? y, or n and why [n] ", "approvals allow "+w.ID
	if w.Call.Question != nil {
		ask, other = "answer"+which+"? ", "answer "+w.ID+" ANSWER"
		if w.Call.Lost() {
			ask = "answer" + which + "? a number "
		} else if len(w.Call.Question.Options) > 0 {
			ask = "answer" + which + "? a number, or a text of yours "
		}
	}
	k.put()
	for {
		_, _ = fmt.Fprint(k.app.Stderr, display.Safe(ask))
		line, came := k.line(ctx, w)
		if came != typedLine {
			_, _ = fmt.Fprintln(k.app.Stderr)
		}
		switch came {
		case gone:
			return reply{}, gone
		case elsewhere:
			k.app.Note("%s was answered elsewhere", w.ID)
			return reply{}, elsewhere
		case closed:
			k.app.Note("not answered: perdure %s, from another terminal", other)
			return reply{}, closed
		case typedLine:
		}
		if r, ok := k.reading(w, line); ok {
			return r, typedLine
		}
	}
}

// reading takes a line for an answer; ok is false for what is none.
func (k *asker) reading(w pending.Wait, line string) (r reply, ok bool) {
	if w.Call.Question == nil {
		r.verdict, ok = typed(line)
		return r, ok
	}
	text, err := pending.Option(w.Call, strings.TrimSpace(line))
	if err != nil {
		k.app.Note("%v", err)
		return r, false
	}
	return reply{text: text}, text != ""
}

// give gives an answer to the session; false: no more of them are to be given.
func (k *asker) give(ctx context.Context, w pending.Wait, r reply) bool {
	var err error
	if w.Call.Question != nil {
		err = k.home.Answer(ctx, w.Session, w.Call.ID, r.text)
	} else {
		err = k.home.Approve(ctx, w.Waiting(), homes.Approval{Allow: r.verdict.allow, Message: r.verdict.message})
	}
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, engine.ErrRefused):
		k.app.Note("%s was answered already", w.ID)
	case err != nil:
		k.app.Note("%s: %v", w.ID, err)
		return false
	}
	return true
}

// What came while a question stood.
type came int

const (
	typedLine came = iota
	closed         // the input has ended
	elsewhere      // the call was answered by another process
	gone           // the run goes on or ends
)

// line waits for a line, or for an answer that another process gives.
func (k *asker) line(ctx context.Context, w pending.Wait) (string, came) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		select {
		case k.want <- struct{}{}:
		default: // it is being read already
		}
		select {
		case <-ctx.Done():
			return "", gone
		case line, more := <-k.lines:
			if !more {
				return "", closed
			}
			if line.question == k.shown.Load() {
				return line.text, typedLine
			}
		case <-look.C:
			st, err := k.home.State(ctx, w.Session)
			if err == nil && !slices.ContainsFunc(pending.Both(st), func(v pending.Wait) bool { return v.ID == w.ID }) {
				return "", elsewhere
			}
		}
	}
}

// typed reads an answer: y, n, or n and words for the model. An empty line is no; ok is false for what is neither.
func typed(line string) (v verdict, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(strings.TrimRight(word, ",:.")) {
	case "y", "yes":
		return verdict{allow: true}, rest == ""
	case "n", "no", "":
		return verdict{message: strings.TrimSpace(rest)}, true
	}
	return verdict{}, false
}
