package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// recent is how far back an intent is looked for.
const recent = 10

// intended checks that an act's intent is on the disk before its effect. An empty session means any.
func (w *World) intended(id string, kind store.Kind, text string) {
	if w.cfg.LateIntent || w.cfg.Volatile > 0 {
		return // a control: the consequences are to be seen
	}
	disk := w.disk.Open()
	defer func() { _ = disk.Close() }()
	ids := []string{id}
	if id == "" {
		ids = ids[:0]
		for _, h := range w.humans {
			ids = append(ids, h.session)
		}
	}
	for _, id := range ids {
		info, err := disk.Get(context.Background(), id)
		if err != nil {
			continue
		}
		for e, err := range disk.Read(context.Background(), id, max(1, info.Head.Seq-recent), 0) {
			if err == nil && e.Kind == kind && bytes.Contains(e.Body, []byte(text)) {
				return
			}
		}
	}
	w.faultLocked("an act was done before its intent was on the disk: %s %s", kind, text)
}

// Check tells what must hold after any run, and does not: empty means that the agent kept its promises.
func (w *World) Check() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for what, n := range w.runs {
		if n > w.runsOf(what) {
			w.faultLocked("command ran %d times: %s", n, what)
		}
	}
	for what, n := range w.changes {
		if n > 1 {
			w.faultLocked("file was changed %d times: %s", n, what)
		}
	}
	for what, n := range w.acts {
		if n > 1 && strings.HasPrefix(what, "deploy") {
			w.faultLocked("outside act happened %d times: %s", n, what)
		}
	}
	disk := w.disk.Open()
	defer func() { _ = disk.Close() }()
	logs, states := map[string][]entryOf{}, map[string]*session.State{}
	for _, h := range w.humans {
		logs[h.session], states[h.session] = w.checkLog(disk, h.session)
	}
	for _, a := range w.acked {
		log := logs[a.session]
		if int64(len(log)) < a.seq || log[a.seq-1].Hash != a.hash {
			w.faultLocked("acknowledged event %d of %s is lost", a.seq, a.session)
			break
		}
	}
	w.checkCalls(logs)
	w.logs, w.states = logs, states
	w.checkLeftovers(states)
	if limit := 4*w.ops + int(time.Since(w.began)/(50*time.Millisecond)); w.polls > limit {
		w.faultLocked("the inbox was looked at %d times", w.polls)
	}
	return w.faults
}

// entryOf is an event with its body.
type entryOf struct {
	store.Event
	body session.Body
}

// checkLog verifies one session's log: its chain, its fold, its snapshot, its messages.
func (w *World) checkLog(disk store.Store, id string) (log []entryOf, st *session.State) {
	ctx := context.Background()
	info, err := disk.Get(ctx, id)
	if err != nil {
		w.faultLocked("session %s: %v", id, err)
		return nil, nil
	}
	for e, err := range disk.Read(ctx, id, 1, 0) {
		if err != nil {
			w.faultLocked("log of %s: %v", id, err)
			return log, nil
		}
		body, err := session.Decode(e)
		if err != nil {
			w.faultLocked("log of %s: %v", id, err)
			return log, nil
		}
		log = append(log, entryOf{e, body})
	}
	if info.Pending > 0 {
		w.faultLocked("session %s left %d inbox items", id, info.Pending)
	}
	a, errA := w.load(disk).Load(ctx, id)
	b, errB := w.scratch(disk, info, log)
	if errA != nil || errB != nil {
		w.faultLocked("load %s: %v, %v", id, errA, errB)
		return log, nil
	}
	ja, _ := json.Marshal(a)
	jb, _ := json.Marshal(b)
	if !bytes.Equal(ja, jb) {
		w.faultLocked("state of %s from its snapshot differs from the fold of its log:\n%s\n%s", id, ja, jb)
	}
	if len(a.Faults) > 0 || a.Dropped.Faults > 0 || a.ReadOnly != "" {
		w.faultLocked("session %s has faults: %q %s", id, a.Faults, a.ReadOnly)
	}
	if a.Turn != nil {
		w.faultLocked("session %s ends with an open turn", id)
	}
	w.checkMessages(id, log)
	w.checkAwaits(id, log, a)
	w.checkSteering(id, log)
	w.checkFiles(id, log, a)
	return log, a
}

// load makes an engine that only reads.
func (w *World) load(s store.Store) *engine.Engine {
	eng, err := engine.New(w.world(&process{w: w}, s))
	if err != nil {
		panic(err)
	}
	return eng
}

// scratch folds a whole log.
func (w *World) scratch(disk store.Store, info store.Info, log []entryOf) (*session.State, error) {
	if info.Parent != nil {
		return w.load(forgetful{disk}).Load(context.Background(), info.ID)
	}
	st := session.New(info.ID)
	for _, e := range log {
		st.ApplyBody(e.Event, e.body)
	}
	return st, nil
}

// forgetful is a store without snapshots.
type forgetful struct{ store.Store }

func (forgetful) LoadSnapshot(context.Context, string, int, int64) (*store.Snapshot, error) {
	return nil, nil
}

// checkMessages checks that every message became one event and one turn.
func (w *World) checkMessages(id string, log []entryOf) {
	received, turns := map[string]int{}, map[int64]int{}
	bySeq := map[int64]string{}
	for _, e := range log {
		switch b := e.body.(type) {
		case *session.MessageReceived:
			if !b.Note {
				received[b.Key]++
				bySeq[e.Seq] = b.Key
			}
		case *session.TurnStarted:
			turns[b.Message]++
		case *session.InboxRefused:
			w.faultLocked("session %s refused %s: %s", id, b.Key, b.Reason)
		default:
		}
	}
	for seq, key := range bySeq {
		if received[key] != 1 || turns[seq] != 1 {
			w.faultLocked("message %q of %s was received %d times and ran %d times", key, id, received[key], turns[seq])
		}
	}
}

// checkCalls checks that every call that reached the API is accounted for: sealed, refused, or counted as lost.
func (w *World) checkCalls(logs map[string][]entryOf) {
	ends := map[string]string{}
	for id, log := range logs {
		requested, closed := 0, 0
		for _, e := range log {
			var act, how string
			switch b := e.body.(type) {
			case *session.ModelRequested:
				requested++
				continue
			case *session.ModelResponded:
				act, how = b.Act, "sealed"
			case *session.ModelFailed:
				act, how = b.Act, "refused"
				if b.Lost > 0 {
					how = "lost"
				}
			case *session.ModelLost:
				act, how = b.Act, "nothing"
				if b.Lost > 0 {
					how = "lost"
				}
			default:
				continue
			}
			closed++
			ends[id+" "+act] = how
		}
		if requested != closed {
			w.faultLocked("session %s has %d model requests and %d ends of them", id, requested, closed)
		}
	}
	for _, c := range w.calls {
		how := ends[c.lineage+" "+c.act]
		if how == "" || how == "nothing" || how == "refused" && !c.refused {
			w.faultLocked("call %s of %s is not accounted for: %q", c.act, c.lineage, how)
		}
	}
}

// checkLeftovers checks that only tasks have act directories.
func (w *World) checkLeftovers(states map[string]*session.State) {
	var left []string
	for key, c := range w.commands {
		id, act, _ := strings.Cut(key, "/")
		isTask := func(t session.Task) bool {
			before := slices.ContainsFunc(t.Attempts, func(a session.TaskAttempt) bool { return a.Act == act })
			return t.Session == "" && (t.Act == act || before)
		}
		if st := states[id]; st != nil && !slices.ContainsFunc(st.Tasks, isTask) {
			left = append(left, fmt.Sprintf("%s (%s)", key, c.spec.Script))
		}
	}
	slices.Sort(left)
	if len(left) > 0 {
		w.faultLocked("act directories are left behind: %s", strings.Join(left, ", "))
	}
}
