package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/cli/screen/sources"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/ui/rewind"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Bounds of the turns that can be gone back to.
const (
	maxTurnsBack  = 100
	maxTurnEvents = 10_000 // of the kinds that tell of them
	maxForksBack  = 20     // logs that a fork's own continues
)

// turnBack is a turn that can be gone back to before.
type turnBack struct {
	rewind.Turn
	in     string // the session in whose log it is
	seq    int64  // of its turn.started there
	at     int64  // the same, as the session counts: what a fork has of its parent is at 0 and below
	prompt string
	to     homes.FilePoint // the files before it; zero: see Turn.Why

	message int64
	end     store.Digest // the newest tree that was captured before the next turn
	refused string       // why one was not
}

// turnsBack lists the turns of a session, and of those that it was forked from, newest first.
func turnsBack(ctx context.Context, h *homes.Home, st *session.State) ([]turnBack, error) {
	var out []turnBack
	var undone []int64
	id, through, before := st.ID, st.Head.Seq, int64(0)
	for range maxForksBack {
		got, points, err := turnsOf(ctx, h, id, through, before)
		if err != nil {
			return nil, err
		}
		out, undone = append(out, got...), append(undone, points...)
		info, err := h.Store().Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if info.Parent == nil || len(out) >= maxTurnsBack {
			break
		}
		id, through, before = info.Parent.Session, info.Parent.Seq, before+info.Parent.Seq
	}
	out = out[:min(len(out), maxTurnsBack)]
	for i := range out {
		out[i].Turn.Words = strings.TrimSpace(out[i].prompt)
		out[i].Turn.Key = fmt.Sprintf("%s@%d", out[i].in, out[i].seq)
	}
	files(h, st, out, undone)
	return out, nil
}

// turnsOf reads the turns of one log up to a seq, newest first; before is how far its events lie before the session's own.
// undone are the points of turns' changes that undo has gone back to.
func turnsOf(ctx context.Context, h *homes.Home, id string, through, before int64) (out []turnBack, undone []int64, err error) {
	var u undos
	var now turnBack // what happened since the turn that is read next
	wanted := map[int64]int{}
	kinds := []store.Kind{session.KindTurnStarted, session.KindMessageReceived, session.KindFilesCaptured, session.KindRestoreRequested, session.KindRestoreStarted, session.KindFilesRestored}
	for ev, err := range h.Range(ctx, id, homes.Range{Through: through, Kinds: kinds, Last: maxTurnEvents, Reverse: true}) {
		if err != nil {
			return nil, nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, nil, err
		}
		u.see(ev.Seq, body, before)
		switch b := body.(type) {
		case *session.FilesCaptured:
			if now.end.IsZero() {
				now.end = b.Tree
			}
			if b.Refused != "" && b.Name == "" {
				now.refused = b.Refused
			}
		case *session.TurnStarted:
			now.in, now.seq, now.at, now.message = id, ev.Seq, ev.Seq-before, b.Message
			now.Turn.At, now.prompt = time.UnixMilli(ev.Time), fmt.Sprintf("turn %d", b.N)
			if b.Met {
				now.prompt = "what it had waited for came"
			} else {
				wanted[b.Message] = len(out)
			}
			out = append(out, now)
			now = turnBack{}
		case *session.MessageReceived:
			if i, ok := wanted[ev.Seq]; ok {
				delete(wanted, ev.Seq)
				if text := model.Text(b.Content); strings.TrimSpace(text) != "" {
					out[i].prompt = h.Hide(text)
				}
			}
		default:
		}
		if len(out) >= maxTurnsBack && len(wanted) == 0 {
			break
		}
	}
	return out, u.points, nil
}

// undos are the undos of a log, which is read from its end.
type undos struct {
	done   map[int64]bool // requests of restores that were done
	points []int64        // that they went back to, as the session counts
}

func (u *undos) see(seq int64, body session.Body, before int64) {
	switch b := body.(type) {
	case *session.FilesRestored:
		if u.done == nil {
			u.done = map[int64]bool{}
		}
		u.done[b.Request] = b.Outcome == session.RestoreDone
	case *session.RestoreRequested:
		if b.Undo != nil && u.done[seq] {
			u.points = append(u.points, *b.Undo-before)
		}
	case *session.RestoreStarted: // to undo a restore undoes no turn
		u.points = slices.DeleteFunc(u.points, func(p int64) bool { return p == seq-before })
	default:
	}
}

// Why files cannot go back.
const (
	notKept    = "files not kept"
	tooLongAgo = "too long ago: the files of then are not kept"
	noneSince  = "no file was changed since"
	wasUndone  = "what it changed was undone"
)

// files finds what the files were before each turn. It is the oldest state since its beginning that was kept before the
// session changed something. Where a change may have come before that, of which nothing was kept, there is none: what is
// brought back is never a half.
func files(h *homes.Home, st *session.State, turns []turnBack, undone []int64) {
	points := st.Workspace.Points
	to, why := homes.FilePoint{}, noneSince
	next := int64(1<<62 - 1)
	for i := range turns {
		t := &turns[i]
		var first *session.FilePoint
		for j := range points {
			if points[j].Seq > t.at && points[j].Seq < next {
				first = &points[j]
				break
			}
		}
		switch dropped := st.Dropped.Points > 0 && (len(points) == 0 || t.at < points[0].Seq); {
		case first != nil:
			to, why = homes.FilePoint{Tree: first.Tree, Dir: first.Dir, Seq: first.Seq, Time: first.Time}, ""
			// What was captured last is what its calls left, if it is over: a capture that finds nothing new is in no log.
			if over := i > 0 && turns[i-1].in == t.in || t.in == st.ID && st.Turn == nil; !t.end.IsZero() || t.refused != "" || !over {
				t.Changed = changedFiles(h, first.Tree, t.end)
			}
		case t.refused != "":
			to, why, t.Changed = homes.FilePoint{}, notKept, -1
		case dropped:
			to, why, t.Changed = homes.FilePoint{}, tooLongAgo, -1
		}
		t.to, t.Turn.Why = to, why
		if t.Undone = first == nil && slices.ContainsFunc(undone, func(p int64) bool { return p > t.at && p < next }); t.Undone && why == noneSince {
			t.Turn.Why = wasUndone
		}
		t.to.To = "before “" + words(t.prompt) + "”"
		next = t.at
	}
}

// words are the first of a text.
func words(text string) string {
	const most = 40
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// changedFiles counts the files that are not the same in two trees; -1: nobody knows.
func changedFiles(h *homes.Home, before, after store.Digest) int {
	if after.IsZero() {
		return -1
	}
	n := 0
	err := h.FileChanges(before, after, func(c tree.Change) error {
		if !sources.OnlyDirs(c) {
			n++
		}
		return nil
	})
	if err != nil {
		return -1
	}
	return n
}

// errNoTurn says that a turn is not known any more.
var errNoTurn = errors.New("this turn is not there any more: look again")
