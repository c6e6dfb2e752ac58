package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// reachable are commands that can be written to.
type reachable struct{ Commands }

func (reachable) WriteStdin(string, string, []byte) (int, error) { return 0, nil }
func (reachable) CloseStdin(string, string) error                { return nil }
func (reachable) Detach(string, string) error                    { return nil }

func running(id, act string) session.Task {
	return session.Task{ID: id, Act: act, Command: "serve", Cwd: "/w", Ending: command.Ending{Status: command.Running}}
}

// open is a turn with these calls.
func open(calls ...session.Call) *session.Turn { return &session.Turn{N: 3, Calls: calls} }

func foreground(id string) session.Call {
	return session.Call{ID: id, Base: session.BaseOf(id), Tool: "Bash", Effect: session.EffectProcess, State: session.ActExecuting, Start: &session.Start{Command: "sleep"}}
}

// What others ask of a session is taken where it means something, and refused in words where it does not.
func TestWhatASessionTakes(t *testing.T) {
	asked := session.Call{ID: "t3.s1.b1.a1", Base: "t3.s1.b1", State: session.ActWaitingExternal}
	answered := session.Call{ID: "t3.s1.b1.a1", Base: "t3.s1.b1", State: session.ActWaitingExternal, Answer: new("x")}
	long := make([]byte, session.MaxInput)
	closed := func(st *session.State) { st.Lifecycle = session.LifecycleClosed }
	for name, c := range map[string]struct {
		st   func(*session.State)
		body session.Body
		says string // "": it is taken
	}{
		"a message":                            {nil, &session.MessageReceived{Content: []model.Part{model.TextPart("x")}}, ""},
		"a message to a closed":                {closed, &session.MessageReceived{Content: []model.Part{model.TextPart("x")}}, "takes no more turns"},
		"a message of nothing":                 {nil, &session.MessageReceived{Content: []model.Part{model.TextPart(" ")}}, "without words"},
		"a picture":                            {nil, &session.MessageReceived{Content: []model.Part{{Type: model.BlockImage, Data: []byte("x")}}}, ""},
		"a video":                              {nil, &session.MessageReceived{Content: []model.Part{model.TextPart("x"), {Type: "video"}}}, "video"},
		"an answer":                            {func(st *session.State) { st.Turn = open(asked) }, &session.QuestionAnswered{Act: asked.ID, Text: "x"}, ""},
		"an answer to nothing":                 {nil, &session.QuestionAnswered{Act: asked.ID, Text: "x"}, "no question"},
		"a second answer":                      {func(st *session.State) { st.Turn = open(answered) }, &session.QuestionAnswered{Act: asked.ID, Text: "x"}, "no question"},
		"an answer to a command":               {func(st *session.State) { st.Turn = open(foreground("t3.s1.b1.a1")) }, &session.QuestionAnswered{Act: asked.ID}, "no question"},
		"a rule":                               {nil, &session.PermissionGranted{Rule: "Bash(ls)"}, ""},
		"a rule of none":                       {nil, &session.PermissionGranted{Rule: "Bash(("}, "Bash(("},
		"the last rule":                        {func(st *session.State) { st.Permissions.Grants = make([]session.Grant, 4095) }, &session.PermissionGranted{Rule: "Bash(ls)"}, ""},
		"one rule too many":                    {func(st *session.State) { st.Permissions.Grants = make([]session.Grant, 4096) }, &session.PermissionGranted{Rule: "Bash(ls)"}, "4096"},
		"its end":                              {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskSignalled{Task: "bash_1"}, ""},
		"the end of none":                      {nil, &session.TaskSignalled{Task: "bash_1"}, "no task"},
		"the end of an ended":                  {func(st *session.State) { st.Tasks = []session.Task{{ID: "bash_1"}} }, &session.TaskSignalled{Task: "bash_1"}, "has ended"},
		"the end of one due":                   {func(st *session.State) { st.Tasks = []session.Task{{ID: "bash_1", Due: true}} }, &session.TaskSignalled{Task: "bash_1"}, ""},
		"the end of another's":                 {func(st *session.State) { st.Tasks = []session.Task{{ID: "bash_1", Session: "p"}} }, &session.TaskSignalled{Task: "bash_1"}, "belongs to"},
		"a compaction":                         {func(st *session.State) { st.Context.Replies = 1 }, &session.CompactRequested{}, ""},
		"a compaction of nothing":              {nil, &session.CompactRequested{}, "nothing to compact"},
		"a handoff":                            {func(st *session.State) { st.Context.Replies = 1 }, &session.HandoffRequested{}, ""},
		"a handoff of nothing":                 {nil, &session.HandoffRequested{}, "nothing to hand off"},
		"a cancel":                             {func(st *session.State) { st.Turn = open() }, &session.CancelRequested{}, ""},
		"a cancel of that turn":                {func(st *session.State) { st.Turn = open() }, &session.CancelRequested{Turn: 3}, ""},
		"a cancel of another":                  {func(st *session.State) { st.Turn = open() }, &session.CancelRequested{Turn: 2}, "no such turn"},
		"a cancel of nothing":                  {nil, &session.CancelRequested{}, "no such turn"},
		"a cancel of a summary":                {func(st *session.State) { st.Compaction = &session.Compaction{} }, &session.CancelRequested{}, ""},
		"a cancel of a turn, beside a summary": {func(st *session.State) { st.Compaction = &session.Compaction{} }, &session.CancelRequested{Turn: 3}, "no such turn"},
		"a lifecycle":                          {nil, &session.LifecycleSet{To: session.LifecyclePaused}, ""},
		"none":                                 {nil, &session.LifecycleSet{To: "asleep"}, "asleep"},
		"labels":                               {nil, &session.Labelled{Labels: map[string]string{"a": "b"}}, ""},
		"as many as it can":                    {func(st *session.State) { st.Labels = labels(0, 255) }, &session.Labelled{Labels: map[string]string{"a": "b"}}, ""},
		"one too many":                         {func(st *session.State) { st.Labels = labels(0, 256) }, &session.Labelled{Labels: map[string]string{"a": "b"}}, "256"},
		"one in place of one":                  {func(st *session.State) { st.Labels = labels(0, 256) }, &session.Labelled{Labels: map[string]string{"k0": "", "a": "b"}}, "256"},
		"another value":                        {func(st *session.State) { st.Labels = labels(0, 256) }, &session.Labelled{Labels: map[string]string{"k0": "b"}}, ""},
		"one less":                             {func(st *session.State) { st.Labels = labels(0, 256) }, &session.Labelled{Labels: map[string]string{"k0": ""}}, ""},
		"none of very many":                    {nil, &session.Labelled{Labels: cleared(257)}, "256"},
		"an end of a turn":                     {nil, &session.TurnEnded{}, "cannot be sent"},
		"a restart":                            {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskRestartSet{Task: "bash_1", Restart: "on-reboot"}, ""},
		"no restart":                           {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskRestartSet{Task: "bash_1"}, ""},
		"a restart at noon":                    {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskRestartSet{Task: "bash_1", Restart: "at noon"}, "at noon"},
		"a restart of none":                    {nil, &session.TaskRestartSet{Task: "bash_1"}, "no task"},
		"a restart of a secret": {
			func(st *session.State) { st.Tasks = []session.Task{{ID: "bash_1", Command: "x " + token}} },
			&session.TaskRestartSet{Task: "bash_1", Restart: session.RestartOnReboot}, "secret",
		},
		"no restart of a secret": {func(st *session.State) { st.Tasks = []session.Task{{ID: "bash_1", Command: "x " + token}} }, &session.TaskRestartSet{Task: "bash_1"}, ""},
		"an input":               {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskInput{Task: "bash_1", Text: long}, ""},
		"one byte too long":      {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskInput{Task: "bash_1", Text: append(long, 'x')}, "at most"},
		"an input to none":       {nil, &session.TaskInput{Task: "bash_1"}, "no task"},
		"a secret typed":         {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.TaskInput{Task: "bash_1", Text: []byte(token)}, "secret"},
		"the last input": {func(st *session.State) {
			st.Tasks = []session.Task{running("bash_1", "a")}
			st.Tasks[0].Inputs = make([]session.Input, session.MaxInputs-1)
		}, &session.TaskInput{Task: "bash_1"}, ""},
		"one input too many": {func(st *session.State) {
			st.Tasks = []session.Task{running("bash_1", "a")}
			st.Tasks[0].Inputs = make([]session.Input, session.MaxInputs)
		}, &session.TaskInput{Task: "bash_1"}, "wait for task"},
		"to the background":          {func(st *session.State) { st.Turn = open(foreground("a")) }, &session.ToolDetached{}, ""},
		"that one":                   {func(st *session.State) { st.Turn = open(foreground("a"), foreground("b")) }, &session.ToolDetached{Act: "b"}, ""},
		"one of two":                 {func(st *session.State) { st.Turn = open(foreground("a"), foreground("b")) }, &session.ToolDetached{}, "more than one"},
		"another one":                {func(st *session.State) { st.Turn = open(foreground("a")) }, &session.ToolDetached{Act: "b"}, "act b"},
		"nothing to the background":  {nil, &session.ToolDetached{}, "no command"},
		"a question to it":           {func(st *session.State) { st.Turn = open(asked) }, &session.ToolDetached{}, "no command"},
		"one of a cancelled turn":    {func(st *session.State) { st.Turn = open(foreground("a")); st.Turn.Cancel = &store.Actor{} }, &session.ToolDetached{}, "no command"},
		"a time":                     {nil, &session.AwaitSet{Await: session.Await{Event: session.AwaitTimer, AfterMS: 1000}}, ""},
		"a time in a closed session": {closed, &session.AwaitSet{Await: session.Await{Event: session.AwaitTimer, AfterMS: 1000}}, "closed"},
		"an end":                     {func(st *session.State) { st.Tasks = []session.Task{running("bash_1", "a")} }, &session.AwaitSet{Await: session.Await{Event: session.AwaitEnd, Task: "bash_1"}}, ""},
		"an end of none":             {nil, &session.AwaitSet{Await: session.Await{Event: session.AwaitEnd, Task: "bash_1"}}, "no task"},
		"something odd":              {nil, &session.AwaitSet{Await: session.Await{Event: "dawn"}}, ""},
		"the last await":             {func(st *session.State) { st.Awaits = make([]session.Await, session.MaxAwaits-1) }, &session.AwaitSet{Await: session.Await{Event: session.AwaitTimer, AfterMS: 1000}}, ""},
		"one await too many":         {func(st *session.State) { st.Awaits = make([]session.Await, session.MaxAwaits) }, &session.AwaitSet{Await: session.Await{Event: session.AwaitTimer, AfterMS: 1000}}, "are open"},
		"beside the parent's": {func(st *session.State) {
			st.Awaits = make([]session.Await, session.MaxAwaits)
			st.Awaits[0].Session = "p"
		}, &session.AwaitSet{Await: session.Await{Event: session.AwaitTimer, AfterMS: 1000}}, ""},
		"it back":      {func(st *session.State) { st.Awaits = []session.Await{{ID: "await_1"}} }, &session.AwaitDropped{ID: "await_1"}, ""},
		"nothing back": {nil, &session.AwaitDropped{ID: "await_1"}, "no await"},
	} {
		st := session.State{Lifecycle: session.LifecycleOpen}
		if c.st != nil {
			c.st(&st)
		}
		s := newSession(&Engine{cfg: Config{Secrets: redact.New(map[string]string{"TOK": token}), Commands: reachable{}}}, store.Lease{}, &st)
		err := s.admissible(c.body, "key")
		if name == "something odd" {
			if err == nil {
				t.Errorf("%s: taken", name)
			}
			continue
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func labels(from, to int) map[string]string {
	out := map[string]string{}
	for i := from; i < to; i++ {
		out[fmt.Sprint("k", i)] = "v"
	}
	return out
}

// cleared takes so many labels off that are not there.
func cleared(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint("k", i)] = ""
	}
	return out
}

// What is taken is completed: by whom a task is ended, what the model is told of an await that is taken back, which
// command goes to the background under which name, and secrets by their names.
func TestWhatIsTakenIsCompleted(t *testing.T) {
	st := session.State{Lifecycle: session.LifecycleOpen, Turn: open(foreground("a")), Awaits: []session.Await{{ID: "await_1"}}}
	st.Tasks, st.Context.Replies = []session.Task{running("bash_1", "x")}, 1
	s := newSession(&Engine{cfg: Config{Secrets: redact.New(map[string]string{"TOK": token}), Commands: reachable{}}}, store.Lease{Epoch: 7}, &st)
	take := func(b session.Body) {
		t.Helper()
		if err := s.admissible(b, "key"); err != nil {
			t.Error(err)
		}
	}
	byUser, byModel := &session.TaskSignalled{Task: "bash_1"}, &session.TaskSignalled{Task: "bash_1", By: command.ByModel}
	drop, moved := &session.AwaitDropped{ID: "await_1"}, &session.ToolDetached{}
	focus, input := &session.CompactRequested{Focus: token + strings.Repeat("x", 3000)}, &session.TaskInput{Task: "bash_1"}
	message := &session.MessageReceived{Content: []model.Part{model.TextPart("it is " + token)}, Changed: []session.FileChange{{}}}
	restart := &session.TaskRestartSet{Task: "bash_1", Restart: session.RestartOnReboot, Bound: store.Sum([]byte("forged"))}
	for _, b := range []session.Body{byUser, byModel, drop, moved, focus, input, message, restart} {
		take(b)
	}
	if byUser.By != command.ByUser || byModel.By != command.ByModel {
		t.Errorf("ended by %q and %q", byUser.By, byModel.By)
	}
	if drop.Reason != session.DropUser || !strings.Contains(string(drop.Text), "[await_1] was cancelled by the user") {
		t.Errorf("dropped: %+v", drop)
	}
	if moved.Act != "a" || moved.Task != "bash_2" {
		t.Errorf("moved: %+v", moved)
	}
	if !strings.HasPrefix(focus.Focus, "[secret:TOK]") || len(focus.Focus) > maxFocus+10 || len(focus.Focus) < maxFocus-10 {
		t.Errorf("a focus of %d bytes: %.40s", len(focus.Focus), focus.Focus)
	}
	if input.Epoch != 7 || input.Key != "key" {
		t.Errorf("input: %+v", input)
	}
	if string(message.Content[0].Data) != "it is [secret:TOK]" || message.Key != "key" || message.Changed != nil {
		t.Errorf("message: %+v", message)
	}
	if restart.Bound != session.CommandDigest(nil, "serve", "/w") {
		t.Error("a grant is bound to what somebody else says")
	}
}

// The ways in which a task may be run are few, and each is refused in words where it means nothing.
func TestHowATaskMayRun(t *testing.T) {
	tty := func(rows, cols uint16) session.TaskSettings {
		return session.TaskSettings{TTY: &command.TerminalSize{Rows: rows, Cols: cols}}
	}
	for name, c := range map[string]struct {
		set  session.TaskSettings
		turn bool
		life session.Lifecycle
		says string
	}{
		"as it comes":            {session.TaskSettings{}, false, session.LifecycleOpen, ""},
		"detached":               {session.TaskSettings{Lifetime: session.LifetimeDetached}, false, session.LifecycleClosed, ""},
		"for ever":               {session.TaskSettings{Lifetime: "ever"}, false, session.LifecycleOpen, "ever"},
		"for the turn":           {session.TaskSettings{Lifetime: session.LifetimeTurn}, true, session.LifecycleOpen, ""},
		"for no turn":            {session.TaskSettings{Lifetime: session.LifetimeTurn}, false, session.LifecycleOpen, "no turn"},
		"for the session":        {session.TaskSettings{Lifetime: session.LifetimeSession}, false, session.LifecycleOpen, ""},
		"for a paused one":       {session.TaskSettings{Lifetime: session.LifetimeSession}, false, session.LifecyclePaused, ""},
		"for a closed one":       {session.TaskSettings{Lifetime: session.LifetimeSession}, false, session.LifecycleClosed, "would end at once"},
		"with limits":            {session.TaskSettings{Limits: command.Limits{WallMS: 1}}, false, session.LifecycleOpen, ""},
		"with less than nothing": {session.TaskSettings{Limits: command.Limits{WallMS: -1}}, false, session.LifecycleOpen, "negative"},
		"on a terminal":          {tty(1, 1), false, session.LifecycleOpen, ""},
		"on one without rows":    {tty(0, 1), false, session.LifecycleOpen, "rows"},
		"on one without columns": {tty(1, 0), false, session.LifecycleOpen, "columns"},
	} {
		st := session.New("s")
		if st.Lifecycle = c.life; c.turn {
			st.Turn = open()
		}
		err := at(Config{}, st).admitSettings(c.set)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A command on a terminal of its own is told of no other one's size, and keeps its starter's kind of terminal if that is
// worth the name.
func TestWhatACommandOnATerminalIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		tty  bool
		env  []string
		want []string
	}{
		"without one":  {false, []string{"LINES=7", "TERM=dumb"}, []string{"LINES=7", "TERM=dumb"}},
		"of no kind":   {true, []string{"A=1", "COLUMNS=80", "LINES=7", "Z=1"}, []string{"A=1", "TERM=xterm-256color", "Z=1"}},
		"a dumb one":   {true, []string{"TERM=dumb"}, []string{"TERM=xterm-256color"}},
		"an empty one": {true, []string{"TERM="}, []string{"TERM=xterm-256color"}},
		"a good one":   {true, []string{"LINESMAN=x", "TERM=foot", "TERMINFO=/t"}, []string{"LINESMAN=x", "TERM=foot", "TERMINFO=/t"}},
	} {
		spec, set := command.Spec{Env: slices.Clone(c.env)}, session.TaskSettings{Stdin: true, Limits: command.Limits{WallMS: 5}}
		if c.tty {
			set.TTY = &command.TerminalSize{Rows: 1, Cols: 1}
		}
		applySettings(&spec, set)
		if !slices.Equal(spec.Env, c.want) || !spec.Stdin || spec.Limits.WallMS != 5 || (spec.TTY != nil) != c.tty {
			t.Errorf("%s: %v", name, spec)
		}
	}
}
