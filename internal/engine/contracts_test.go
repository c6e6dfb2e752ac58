package engine

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// What a config leaves open is what its words say: a program relies on the limits that it did not set.
func TestWhatAConfigLeavesOpen(t *testing.T) {
	home := memory.Home{}
	provider := func(string) (modelapi.Provider, error) { return nil, errors.New("none") }
	whole := Config{Store: home.Open(), Files: tools.OSFiles{}, Provider: provider}
	e, err := New(whole)
	if err != nil {
		t.Fatal(err)
	}
	c := e.cfg
	if c.Poll != 100*time.Millisecond || c.CaptureLimit != 30*time.Second || c.RetryFor != 24*time.Hour || c.MaxFailures != 8 {
		t.Errorf("poll %v, captures %v, retries %v, failures %d", c.Poll, c.CaptureLimit, c.RetryFor, c.MaxFailures)
	}
	if c.Now == nil || c.NewID == nil || c.Jitter() < 0 || c.Jitter() >= 1 || c.Sync == nil || c.Secrets == nil || c.Log == nil {
		t.Error("something is nil, or not within its bounds")
	}
	if one, two := c.NewID(), c.NewID(); one == two {
		t.Errorf("two ids are %s", one)
	}
	set := whole
	set.Poll, set.CaptureLimit, set.RetryFor, set.MaxFailures = 1, 2, 3, 4
	if e, err := New(set); err != nil || e.cfg.Poll != 1 || e.cfg.CaptureLimit != 2 || e.cfg.RetryFor != 3 || e.cfg.MaxFailures != 4 {
		t.Errorf("set: %+v, %v", e.cfg, err)
	}
	for name, lacks := range map[string]Config{
		"store": {Files: whole.Files, Provider: provider}, "files": {Store: whole.Store, Provider: provider}, "provider": {Store: whole.Store, Files: whole.Files},
	} {
		if _, err := New(lacks); err == nil {
			t.Errorf("made without %s", name)
		}
	}
	if e.noCommands() == nil {
		t.Error("there are no commands, and nothing says why")
	}
	why := errors.New("no shim here")
	if got := at(Config{NoCommands: why}, session.New("s")).eng.noCommands(); !errors.Is(got, why) {
		t.Errorf("no commands since %v", got)
	}
}

// linking resolves names as a map says; what is not in it cannot be resolved.
type linking struct {
	tools.Files
	to map[string]string
}

func (l linking) Resolve(p string) (string, error) {
	if to, ok := l.to[p]; ok {
		return to, nil
	}
	return "", fs.ErrNotExist
}

// Of the directories that rules name, those are known by another name that a link gives them.
func TestOtherNamesOfDirectories(t *testing.T) {
	e := at(Config{Files: linking{to: map[string]string{"/home/u": "/mnt/u", "/plain": "/plain", "/odd": "/mnt/odd"}}}, session.New("s")).eng
	got := e.linked([]string{"/home/u/", "/plain", "/gone", "relative", "", "/odd/../odd"})
	if want := []permission.Link{{Name: "/home/u", Target: "/mnt/u"}, {Name: "/odd", Target: "/mnt/odd"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// capturing gives what a test says.
type capturing struct {
	Captures
	got Captured
	err error
}

func (c capturing) Capture(context.Context, CaptureRequest) (Captured, error) { return c.got, c.err }

// What a program answers to a capture is a tree or the reason why there is none; an answer without either is a reason, too.
func TestAnAnswerWithoutATree(t *testing.T) {
	tree := store.Sum([]byte("tree"))
	for name, c := range map[string]struct {
		got     Captured
		err     error
		refused string
	}{
		"nothing":          {Captured{}, nil, "there is no tree of them"},
		"an empty answer":  {Captured{Body: &session.FilesCaptured{}}, nil, "there is no tree of them"},
		"a tree":           {Captured{Body: &session.FilesCaptured{Tree: tree}}, nil, ""},
		"a refusal":        {Captured{Body: &session.FilesCaptured{Refused: "too large"}}, nil, "too large"},
		"both":             {Captured{Body: &session.FilesCaptured{Tree: tree, Refused: "half of it"}}, nil, "half of it"},
		"an error":         {Captured{}, errors.New("disk full"), "disk full"},
		"a tree and error": {Captured{Body: &session.FilesCaptured{Tree: tree}}, errors.New("disk full"), "disk full"},
	} {
		s := at(Config{Captures: capturing{}}, session.New("s"))
		r := CaptureRequest{Dir: "/w", Why: session.CaptureAct, Act: "a"}
		b := s.answered(r, c.got.Body, c.err)
		if b.Refused != c.refused || b.Tree.IsZero() != (c.refused != "") || b.Dir != "/w" || b.Why != session.CaptureAct || b.Act != "a" {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// A command is told its session's ports, and whether none of it runs says who may listen there.
func TestWhenASessionIsIdle(t *testing.T) {
	running := command.Ending{Status: command.Running}
	call := func(state session.ActState) *session.Turn {
		return &session.Turn{Calls: []session.Call{{ID: "a", State: state}}}
	}
	for name, c := range map[string]struct {
		tasks []session.Task
		turn  *session.Turn
		want  bool
	}{
		"nothing":          {nil, nil, true},
		"a task":           {[]session.Task{{ID: "bash_1", Ending: running}}, nil, false},
		"the parent's":     {[]session.Task{{ID: "bash_1", Session: "p", Ending: running}}, nil, true},
		"one that ended":   {[]session.Task{{ID: "bash_1", Ending: command.Ending{Status: command.Exited}}}, nil, true},
		"a command":        {nil, call(session.ActExecuting), false},
		"one that waits":   {nil, call(session.ActWaitingExternal), true},
		"one that settled": {nil, &session.Turn{Calls: []session.Call{{ID: "a", State: session.ActExecuting, Outcome: session.OutcomeOK}}}, true},
	} {
		st := session.New("s")
		st.Tasks, st.Turn = c.tasks, c.turn
		if got := at(Config{}, st).idle(); got != c.want {
			t.Errorf("%s: idle %v", name, got)
		}
	}
	for name, c := range map[string]struct {
		first, last int
		err         error
		want        map[string]string
	}{
		"three":  {4001, 4003, nil, map[string]string{"PERDURE_PORTS": "4001-4003", "PERDURE_PORT_1": "4001", "PERDURE_PORT_2": "4002", "PERDURE_PORT_3": "4003"}},
		"one":    {4001, 4001, nil, map[string]string{"PERDURE_PORTS": "4001-4001", "PERDURE_PORT_1": "4001"}},
		"failed": {0, 0, errors.New("none free"), map[string]string{}},
	} {
		vars := map[string]string{"PERDURE_PORTS": "1-9", "PERDURE_PORT_9": "9", "OTHER": "x"}
		at(Config{Ports: func(string, bool) (int, int, error) { return c.first, c.last, c.err }, Log: slog.New(slog.DiscardHandler)}, session.New("s")).tellPorts(vars)
		if c.want["OTHER"] = "x"; !maps.Equal(vars, c.want) {
			t.Errorf("%s: %v", name, vars)
		}
	}
}

// What became of tasks in a reboot is reported until a turn has ended since, of those that are the session's own.
func TestWhatIsReportedOfAReboot(t *testing.T) {
	ended := func(t session.Task) session.Task { t.ID, t.Command, t.EndSeq = "bash_1", "serve", 9; return t }
	lost := command.Ending{Status: command.Lost, Reason: command.ReasonReboot}
	for name, c := range map[string]struct {
		task session.Task
		turn int64 // seq of the last one's end
		says string
	}{
		"lost":              {ended(session.Task{Ending: lost}), 0, "is lost (reboot): serve"},
		"lost, known":       {ended(session.Task{Ending: lost}), 9, ""},
		"lost, a parent's":  {ended(session.Task{Ending: lost, Session: "p"}), 0, ""},
		"lost otherwise":    {ended(session.Task{Ending: command.Ending{Status: command.Lost, Reason: "shim_died"}}), 0, ""},
		"exited":            {ended(session.Task{Ending: command.Ending{Status: command.Exited, Reason: command.ReasonReboot}}), 0, ""},
		"by the system":     {ended(session.Task{Ending: command.Ending{Status: command.Killed, By: command.BySystem}}), 0, "was "},
		"stays down":        {ended(session.Task{Ending: lost, NotRestarted: "denied"}), 0, "not run again after the reboot: denied: serve"},
		"stays down, known": {ended(session.Task{Ending: lost, NotRestarted: "denied"}), 9, ""},
		"runs again": {session.Task{
			ID: "bash_1", Command: "serve", Cause: command.ReasonReboot, Requested: 9, Attempt: 2, Ending: command.Ending{Status: command.Running},
		}, 8, "runs again after the reboot, attempt 2: serve"},
		"runs again, known": {session.Task{
			ID: "bash_1", Command: "serve", Cause: command.ReasonReboot, Requested: 9, Attempt: 2, Ending: command.Ending{Status: command.Running},
		}, 9, ""},
		"runs": {session.Task{ID: "bash_1", Command: "serve", Requested: 9, Ending: command.Ending{Status: command.Running}}, 0, ""},
	} {
		st := session.New("s")
		st.Tasks = []session.Task{c.task}
		if c.turn > 0 {
			st.LastTurn = &session.TurnEnd{Seq: c.turn}
		}
		s := at(Config{Commands: kept{t: t, read: new(int)}}, st)
		s.noteReboot()
		if (len(s.recovered) == 1) != (c.says != "") || c.says != "" && !strings.Contains(s.recovered[0].Text, c.says) {
			t.Errorf("%s: %+v, want %q", name, s.recovered, c.says)
		}
	}
}

// importing takes what is imported.
type importing struct {
	store.Store
	got []store.Imported
}

func (i *importing) Import(_ context.Context, all ...store.Imported) error {
	i.got = append(i.got, all...)
	return nil
}

// A session of another home is taken with one event more, unless its log is a newer version's or counts what cannot be
// counted on.
func TestWhatIsImported(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*session.State)
		want   error
	}{
		"as it is":      {func(*session.State) {}, nil},
		"high epoch":    {func(st *session.State) { st.Epoch = 1 << 40 }, nil},
		"too high":      {func(st *session.State) { st.Epoch = 1<<40 + 1 }, store.ErrConflict},
		"below all":     {func(st *session.State) { st.Epoch = -1 }, store.ErrConflict},
		"none yet":      {func(st *session.State) { st.Epoch = 0 }, nil},
		"of the future": {func(st *session.State) { st.ReadOnly = "it has an event of a newer version" }, store.ErrNewer},
	} {
		st := session.New("s")
		st.Head, st.Epoch = store.Head{Seq: 4, Hash: store.Sum([]byte("h"))}, 3
		c.change(st)
		epoch := st.Epoch
		to := &importing{}
		err := at(Config{Store: to}, session.New("x")).eng.Import(t.Context(), Incoming{State: st, Body: &session.Imported{}, Bytes: 7})
		if !errors.Is(err, c.want) || (len(to.got) == 1) != (c.want == nil) {
			t.Errorf("%s: %v, %d taken", name, err, len(to.got))
		}
		if c.want == nil && (to.got[0].Epoch != epoch || to.got[0].Bytes != 7 || len(to.got[0].Events) != 1 || to.got[0].Events[0].Seq != 5) {
			t.Errorf("%s: %+v", name, to.got)
		}
	}
	plain := struct{ store.Store }{}
	if err := at(Config{Store: plain}, session.New("x")).eng.Import(t.Context()); !errors.Is(err, ErrNoImport) {
		t.Errorf("into a store that cannot: %v", err)
	}
}

// The program's log has a warning for each thing that goes wrong beside the work, and for nothing else.
func TestWhatIsLogged(t *testing.T) {
	broken := errors.New("input/output error")
	for name, fails := range map[string]error{"it works": nil, "it fails": broken} {
		var out strings.Builder
		log := slog.New(slog.NewTextHandler(&out, nil))
		s := at(Config{Log: log, Commands: sweeping{err: fails}, Store: saving{err: fails}}, session.New("s"))
		s.sweep()
		s.forget("a")
		s.snapshot(t.Context())
		if n := strings.Count(out.String(), "input/output error"); fails != nil && n != 3 || fails == nil && out.Len() > 0 {
			t.Errorf("%s:\n%s", name, out.String())
		}
	}
}

type sweeping struct {
	Commands
	err error
}

func (s sweeping) Sweep(string) error          { return s.err }
func (s sweeping) Remove(string, string) error { return s.err }

type saving struct {
	store.Store
	err error
}

func (s saving) SaveSnapshot(context.Context, string, store.Snapshot) error { return s.err }

// What a session's row says of when something happened is true as long as nobody but one holder has looked since.
func TestWhenSomethingHappened(t *testing.T) {
	row := func(stirred, at, head int64) store.Info {
		info := store.Info{Head: store.Head{Seq: head}, Updated: 999}
		info.Heads.Extra = listedOf(session.New("s"), at, stirred)
		return info
	}
	for name, c := range map[string]struct {
		info store.Info
		want int64
	}{
		"left":             {row(7, 5, 5), 7},
		"opened since":     {row(7, 5, 6), 7},
		"more since":       {row(7, 5, 7), 999},
		"nothing happened": {row(0, 5, 5), 999},
		"no word":          {store.Info{Updated: 999, Head: store.Head{Seq: 5}}, 999},
		"words of another": {store.Info{Updated: 999, Heads: store.Heads{Extra: []byte("{")}}, 999},
	} {
		if got := Stirred(c.info); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		looked := c.info
		looked.Head.Seq++
		if looked.Heads.Extra = lookedAt(c.info); Stirred(looked) != c.want {
			t.Errorf("%s: looked at: %d, want %d", name, Stirred(looked), c.want)
		}
		if _, ok := ListedTasks(looked); ok {
			t.Errorf("%s: the row of a session that is held knows its tasks", name)
		}
	}
	many := session.New("s")
	many.Tasks = make([]session.Task, 500)
	if listedOf(many, 1, 1) != nil {
		t.Error("a row of very many tasks")
	}
}

// The retry of a call sends the bound of the first one, or what the model may say by now, if that is less.
func TestTheBoundOfARetry(t *testing.T) {
	for _, c := range []struct{ through, first, most, want int64 }{
		{3, 500, 1000, 500}, {3, 1, 1000, 1}, {3, 2000, 1000, 1000}, {3, 0, 1000, 1000}, {1, 500, 1000, 500},
	} {
		sent := &sending{}
		home := memory.Home{}
		e, err := New(Config{Store: home.Open(), Files: tools.OSFiles{}, Provider: func(string) (modelapi.Provider, error) { return sent, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Create(t.Context(), Spec{ID: "s", Cwd: "/", Agent: session.Agent{Provider: "p", Model: "m", MaxTokens: c.most}}); err != nil {
			t.Fatal(err)
		}
		s, err := e.Open(t.Context(), "s", Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.looked = true
		s.state.Turn = &session.Turn{N: 1, Model: &session.ModelCall{ID: "t1.s1.a1", MaxTokens: c.first}}
		_ = s.callModel(t.Context(), session.Action{ID: "t1.s1.a2", Turn: 1}, session.CallModel{Step: 1, Attempt: 2, Through: c.through})
		if sent.most != c.want {
			t.Errorf("%+v: sent %d", c, sent.most)
		}
		s.ground(errParked)
		_ = s.Close(t.Context(), "")
	}
}

// sending notes the bound of what is sent.
type sending struct{ most int64 }

func (*sending) Name() string { return "sending" }

func (s *sending) Prefix(r modelapi.Request) ([32]byte, error) {
	s.most = r.MaxTokens
	return [32]byte{1}, nil
}

func (*sending) Call(context.Context, modelapi.Request, func(modelapi.Delta)) (*modelapi.Response, error) {
	return &modelapi.Response{Model: "m", Stop: modelapi.StopEndTurn}, nil
}

// opened is a session on a store in memory.
func opened(t *testing.T) (*Engine, *Session) {
	t.Helper()
	home := memory.Home{}
	e, err := New(Config{Store: home.Open(), Files: tools.OSFiles{}, Provider: func(string) (modelapi.Provider, error) { return &sending{}, nil }})
	if err == nil {
		_, err = e.Create(t.Context(), Spec{ID: "s", Cwd: "/", Agent: session.Agent{Provider: "p", Model: "m", MaxTokens: 1000}})
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Open(t.Context(), "s", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}
