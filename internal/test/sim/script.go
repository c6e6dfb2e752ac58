package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// Answer is what a human says to a request for approval.
type Answer struct {
	Allow   bool
	Grant   string
	Message string
}

// Script is what the model says, what commands do, and what the human says.
type Script struct {
	Prompts  []Prompt
	Turns    map[string][]Reply // by the prompt's turn
	Commands map[string]Behaviour
	Files    map[string]string
	Answers  map[string]Answer // by a word of the call's input
	Forks    []Fork
	On       func(news string) *Reply // by the newest message, before Turns; nil: Turns say
	Loose    bool                     // when the model is told of things depends on time alone
	Window   int64                    // of the model, in tokens; 0: it never fills. Then the API counts bytes
	Keeps    bool                     // files are captured
	ForkAt   string                   // a word of the call that is forked while it waits for approval
}

// Fork is a fork that the script makes: its id, and the turn that its human asks for.
type Fork struct{ Turn, Fork string }

// say makes a reply of text and calls. A call is a tool's name and its input.
func say(text string, calls ...[2]string) Reply {
	r := Reply{Stop: modelapi.StopEndTurn, Blocks: []model.Block{
		{Type: model.BlockThinking, Raw: fmt.Appendf(nil, `{"type":"thinking","thinking":%q,"signature":"s"}`, text)},
		{Type: model.BlockText, Text: text, Raw: fmt.Appendf(nil, `{"type":"text","text":%q}`, text)},
	}}
	for i, c := range calls {
		r.Stop = modelapi.StopToolUse
		id := fmt.Sprintf("use-%s-%d", strings.ReplaceAll(text, " ", "-"), i)
		r.Blocks = append(r.Blocks, model.Block{
			Type: model.BlockToolUse, Raw: fmt.Appendf(nil, `{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, c[0], c[1]),
			Tool: &model.ToolUse{ID: id, Name: c[0], Input: []byte(c[1])},
		})
	}
	return r
}

func bash(command string) [2]string { return [2]string{"Bash", fmt.Sprintf(`{"command":%q}`, command)} }

func background(command string) [2]string {
	return [2]string{"Bash", fmt.Sprintf(`{"command":%q,"run_in_background":true}`, command)}
}

func output(id string) [2]string { return [2]string{"BashOutput", fmt.Sprintf(`{"bash_id":%q}`, id)} }

func read(path string) [2]string { return [2]string{"Read", fmt.Sprintf(`{"file_path":%q}`, path)} }

func write(path, content string) [2]string {
	return [2]string{"Write", fmt.Sprintf(`{"file_path":%q,"content":%q}`, path, content)}
}

func edit(path, from, to string) [2]string {
	return [2]string{"Edit", fmt.Sprintf(`{"file_path":%q,"old_string":%q,"new_string":%q}`, path, from, to)}
}

func todo(status ...string) [2]string {
	var items []string
	for i, s := range status {
		items = append(items, fmt.Sprintf(`{"content":"thing %d","status":%q,"activeForm":"doing %d"}`, i, s, i))
	}
	return [2]string{"TodoWrite", `{"todos":[` + strings.Join(items, ",") + `]}`}
}

func ask(q string) [2]string { return [2]string{"AskUser", fmt.Sprintf(`{"question":%q}`, q)} }

// Short is a script of one turn, for a first look.
func Short() *Script {
	return &Script{
		Prompts:  []Prompt{{Turn: "short"}},
		Files:    map[string]string{"/w/a": "one\n"},
		Commands: map[string]Behaviour{"run once": {Output: "ran\n", Exit: 3, Takes: time.Second, Late: 20 * time.Millisecond}},
		Turns: map[string][]Reply{"short": {
			say("look", read("/w/a"), todo("pending")),
			say("change", edit("/w/a", "one", "two"), bash("run once"), [2]string{"Deploy", `{}`}),
			say("end"),
		}},
	}
}

// chapters are the prompts of the full script, cut where each part stands on its own.
func chapters() [][]Prompt {
	return [][]Prompt{
		{{Turn: "explore"}, {Turn: "edit"}},
		{{Turn: "commands"}},
		{{Turn: "tasks"}},
		{{Turn: "ask"}, {Turn: "again", Fork: "idle"}},
		{{Turn: "approve"}},
		{{Turn: "retry"}, {Turn: "cancel"}, {Turn: "after-cancel"}, {Turn: "hang"}},
		{{Turn: "outside"}, {Turn: "limits", MaxSteps: 2}, {Turn: "budget", Budget: 90_000}},
		{{Turn: "busy"}, {Turn: "queued"}, {Turn: "final"}},
	}
}

// Full is the script of every kind of act, crossed with every kind of interruption.
func Full() *Script {
	var all []Prompt
	for _, c := range chapters() {
		all = append(all, c...)
	}
	return script(all)
}

// Chapters are the parts of the full script, each played in a world of its own.
func Chapters() []func() *Script {
	var out []func() *Script
	for _, prompts := range chapters() {
		out = append(out, func() *Script { return script(prompts) })
	}
	return append(out, Steering, Crowded, Keeping)
}

func script(prompts []Prompt) *Script {
	s := &Script{
		Prompts:  prompts,
		Files:    map[string]string{"/w/big": strings.Repeat("a line of a big file\n", 1500), "/w/notes.txt": "alpha\nbeta\n", "/other/y": "outside\n"},
		Commands: commandsOfFull(),
		Turns:    map[string][]Reply{},
		Answers: map[string]Answer{
			"ship two": {Allow: true, Grant: "Bash(ship:*)"},
			"burn":     {Message: "not today"},
			"/other/n": {Message: "stay inside"},
		},
		Forks:  []Fork{{"idle", "one"}, {"asked", "two"}, {"running", "three"}},
		ForkAt: "ship one",
	}
	for i := range 9 {
		s.Files[fmt.Sprintf("/w/f%d", i)] = fmt.Sprintf("file %d\nline two\n", i)
	}
	for _, part := range []map[string][]Reply{filesOfFull(), workOfFull(), waitsOfFull(), limitsOfFull()} {
		for name, replies := range part {
			s.Turns[name] = replies
		}
	}
	return s
}

func commandsOfFull() map[string]Behaviour {
	const late = 20 * time.Millisecond
	return map[string]Behaviour{
		"run build":     {Output: "built\n", Takes: 3 * time.Second, Late: late},
		"run test":      {Output: "1 failed\n", Exit: 3, Takes: 5 * time.Second, Late: late},
		"run cd":        {Cwd: "/w/sub", Takes: time.Second},
		"run export":    {Env: map[string]string{"STAGE": "two"}, Late: late},
		"run noisy":     {Output: strings.Repeat("noise\n", 20_000), Exit: 1},
		"run slow":      {Output: "slow\n", Forever: true, Late: late},
		"run lost":      {Output: "half", Lost: true, Takes: time.Second},
		"run left":      {Output: "left something\n", Left: 2},
		"run p1":        {Output: "p1\n", Late: late},
		"run p2":        {Output: "p2\n", Exit: 2},
		"run server":    {Output: "ready\n", Forever: true, Late: late},
		"run job":       {Output: "job\n", Exit: 4, Takes: 30 * time.Second},
		"run request 1": {Output: "ok\n", Feeds: "run server"},
		"run request 2": {Output: "ok\n", Feeds: "run server", Late: late},
		"run daemon":    {Output: "up\n", Forever: true, Late: late},
		"run long":      {Output: "long\n", Takes: 100 * time.Second, Late: late},
		"run victim":    {Output: "victim\n", Forever: true, Late: late},
		"run after":     {Output: "after\n"},
		"ship one":      {Output: "one\n", Takes: time.Second, Late: late},
		"ship two":      {Output: "two\n", Late: late},
		"ship three":    {Output: "three\n"},
		"burn it":       {Output: "burnt\n"},
		"haul a":        {Output: "a\n", Late: late},
		"haul b":        {Output: "b\n"},
		"wipe all":      {Output: "gone\n"},
		"run forever":   {Output: "started\n", Forever: true, Late: late, Hook: "cancel and go on", HookAt: 3 * time.Second},
		"run never":     {Output: "never\n"},
		"run talk":      {Output: "talk\n", Takes: 10 * time.Second, Hook: "say more", HookAt: 4 * time.Second},
		"run fork":      {Output: "forked\n", Takes: 20 * time.Second, Late: late, Hook: "fork", HookAt: 5 * time.Second},
	}
}

func filesOfFull() map[string][]Reply {
	var reads [][2]string
	for i := range 9 {
		reads = append(reads, read(fmt.Sprintf("/w/f%d", i)))
	}
	return map[string][]Reply{
		"explore": {
			say("read all", append(reads, read("/w/big"))...),
			say("search", [2]string{"Glob", `{"pattern":"*.txt"}`}, [2]string{"Grep", `{"pattern":"beta","path":"/w"}`}, read("/w/none")),
			say("plan", todo("in_progress", "pending", "pending"), read("/w/notes.txt")),
			say("explored"),
		},
		"edit": {
			say("create", write("/w/new.txt", "first\n"), todo("completed", "in_progress", "pending")),
			say("twice", edit("/w/f0", "file 0", "FILE 0"), edit("/w/f0", "line two", "LINE 2")),
			say("several", edit("/w/f1", "file", "paper"), write("/w/sub/deep.txt", "deep\n"), read("/w/f1"), edit("/w/new.txt", "first", "second")),
			say("wrong", edit("/w/f2", "absent", "x"), edit("/w/unread", "a", "b"), write("/w/notes.txt", "alpha\nbeta\n")),
			say("outside", read("/other/y"), edit("/other/y", "outside", "inside"), write("/other/n", "no")),
			say("replace", write("/w/notes.txt", strings.Repeat("gamma delta\n", 3000))),
			say("edited"),
		},
	}
}

func workOfFull() map[string][]Reply {
	return map[string][]Reply{
		"commands": {
			say("build", bash("run build")),
			say("test", bash("run test")),
			say("mixed", bash("run p1"), read("/w/f3"), bash("run p2"), read("/w/f4"), edit("/w/f3", "file", "sheet")),
			say("noisy", bash("run noisy")),
			say("timeout", [2]string{"Bash", `{"command":"run slow","timeout":2000}`}),
			say("bad", [2]string{"Nope", `{}`}, [2]string{"Bash", `{"cmd":1}`}, bash("wipe all")),
			say("lost", bash("run lost")),
			say("enter", bash("run cd"), bash("run export")),
			say("here", write("here.txt", "in sub\n")),
			say("commanded"),
		},
		"tasks": {
			say("serve", background("run server")),
			say("look at it", output("bash_1"), bash("run request 1")),
			say("job", background("run job"), output("bash_1")),
			say("wait", bash("run long")),
			say("again", bash("run request 2"), output("bash_1"), output("bash_99")),
			say("doomed", background("run victim"), output("bash_3")),
			say("kill", [2]string{"KillBash", `{"shell_id":"bash_3"}`}, bash("run after"), bash("run left")),
			say("served"),
		},
		"idle/one": {
			say("child looks", output("bash_1"), [2]string{"KillBash", `{"shell_id":"bash_1"}`}, bash("run build")),
			say("child writes", write("/w/child.txt", "of the child\n"), bash("ship three")),
			say("child ends"),
		},
		"asked/two":     {say("second child", bash("run test"), read("/w/f5")), say("second child ends")},
		"running/three": {say("third child", bash("run p1")), say("third child ends")},
	}
}

func waitsOfFull() map[string][]Reply {
	return map[string][]Reply{
		"ask": {
			say("question", background("run daemon"), ask("which way?")),
			say("both", ask("sure?"), bash("run build"), read("/w/f6")),
			say("asked"),
		},
		"again": {say("look again", read("/w/f6")), say("looked")},
		"approve": {
			say("one", bash("ship one")),
			say("two", bash("ship two")),
			say("three", bash("ship three"), bash("burn it")),
			say("many", bash("haul a"), read("/w/f7"), bash("haul b")),
			say("approved"),
		},
		"cancel": {
			say("stuck", read("/w/f8"), [2]string{"Bash", `{"command":"run forever","timeout":600000}`}, bash("run never"), edit("/w/f8", "file", "x")),
			say("never said"),
		},
		"after-cancel": {say("calm", read("/w/f8"), bash("run test")), say("calmed")},
	}
}

func limitsOfFull() map[string][]Reply {
	limit := &modelapi.Error{Class: modelapi.ClassRateLimit, Status: 429, Message: "slow down", RetryAfter: 7 * time.Second}
	broken := &modelapi.Error{Class: modelapi.ClassDisconnect, Message: "connection reset"}
	server := &modelapi.Error{Class: modelapi.ClassServer, Status: 500, Message: "oops"}
	flaky, flakier := say("flaky", bash("run p1"), read("/w/f6")), say("flakier")
	flaky.Fail, flakier.Fail = []*modelapi.Error{limit, broken, server}, []*modelapi.Error{broken, server}
	hang := say("hang", bash("run never"))
	hang.Hang = "cancel the reply"
	paused := say("paused")
	paused.Stop = modelapi.StopPause
	return map[string][]Reply{
		"retry": {flaky, flakier},
		"hang":  {hang},
		"outside": {
			say("deploy", [2]string{"Deploy", `{"to":"prod"}`}, [2]string{"Ping", `{"host":"a"}`}, read("/w/f0")),
			say("deploy more", [2]string{"Deploy", `{"to":"stage"}`}),
			say("deployed"),
		},
		"limits": {
			say("step one", read("/w/f0")), say("step two", read("/w/f1")), say("step three", bash("run p2")),
			say("step four", todo("completed", "completed", "in_progress")), say("limited"),
		},
		"budget": {say("cheap", read("/w/f2")), say("dear", read("/w/f3")), say("dearer", read("/w/f4")), say("spent")},
		"busy":   {say("talk", bash("run talk")), say("fork", bash("run fork")), say("talked")},
		"queued": {say("more", read("/w/f7")), paused, say("went on"), say("said more")},
		"final":  {say("last", todo("completed", "completed", "completed"), bash("run after")), say("done")},
	}
}
