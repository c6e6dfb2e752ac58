package sim

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// long is a reply that no cut of tool results makes shorter.
var long = strings.Repeat("long words ", 500)

// Crowded is a script whose conversation is several times the model's window: it is compacted again and again, while a
// command runs, files are changed and a call for a summary fails.
func Crowded() *Script {
	s := &Script{
		Window:  17_000,
		Prompts: []Prompt{{Turn: "crowd"}, {Turn: "more"}},
		Files:   map[string]string{},
		Commands: map[string]Behaviour{
			"run build":  {Output: "built\n", Takes: 3 * time.Second, Late: 20 * time.Millisecond},
			"run daemon": {Output: "up\n", Forever: true},
		},
		Turns: map[string][]Reply{},
	}
	for i := range 16 {
		s.Files[fmt.Sprintf("/w/f%d", i)] = strings.Repeat(fmt.Sprintf("a line of file %d\n", i), 700)
	}
	s.Turns["crowd"] = []Reply{
		say("look", read("/w/f0"), read("/w/f1")),
		say("start", background("run daemon"), bash("run build")),
		say("look on", read("/w/f2")),
		say(long+" one", read("/w/f8")),
		say(long+" two", read("/w/f9")),
		say(long+" three", read("/w/f10")),
		say("change", write("/w/new", "new\n"), [2]string{"Deploy", `{}`}),
		say("look more", read("/w/f3"), read("/w/f4")),
		say("build again", bash("run build")),
		say("crowded"),
	}
	s.Turns["more"] = []Reply{
		say("read", read("/w/f5"), read("/w/f6")),
		say("edit", edit("/w/new", "new", "newer"), read("/w/f7")),
		say("over"),
	}
	return s
}

// compacted reports whether a conversation begins with what was kept of an older one.
func compacted(ms []model.Message) bool {
	return len(ms) > 0 && len(ms[0].Blocks) > 0 && strings.Contains(ms[0].Blocks[0].Text, "was compacted")
}

// placeOfAct tells where in the script a compacted conversation is: the newest message that was kept, and the step that
// the request is for.
func placeOfAct(r modelapi.Request) (prompt string, replies int) {
	for _, b := range r.Messages[0].Blocks {
		if _, rest, ok := strings.Cut(b.Text, "\nturn:"); ok && strings.HasPrefix(b.Text, "<user_message") {
			prompt, _, _ = strings.Cut(rest, "\n")
		}
	}
	var turn, step int
	_, _ = fmt.Sscanf(r.Act, "t%d.s%d.", &turn, &step)
	return prompt, step - 1
}

// summaryOf is what the model answers a call for a summary: the first one is cut off the first time that it is asked
// for as a whole, and later ones are whole.
func summaryOf(r modelapi.Request) Reply {
	reply := say("a summary of " + fmt.Sprint(len(r.Messages)) + " messages")
	if strings.HasPrefix(r.Act, "c2.") {
		reply.Stop = modelapi.StopMaxTokens
	}
	if strings.HasPrefix(r.Act, "c1.") {
		reply.Fail = []*modelapi.Error{{Class: modelapi.ClassServer, Status: 529, Message: "overloaded"}}
	}
	return reply
}

// Compactions counts those of a session by who made the summary. It is asked for after Check.
func (w *World) Compactions(id string) map[string]int {
	out := map[string]int{}
	for _, e := range w.logs[id] {
		if b, ok := e.body.(*session.Compacted); ok {
			out[b.By]++
		}
	}
	return out
}

// keeps checks what a compaction must not lose: the prompt of the open turn, word for word and once, and the commands that
// run, by their ids.
func (w *World) keeps(lineage string, r modelapi.Request, encoded [][]byte) {
	all := string(bytes.Join(encoded[1:], nil))
	if prompt, _ := placeOf(r.Messages); prompt == "" {
		prompt, _ = placeOfAct(r)
		if n := strings.Count(all, "turn:"+prompt); prompt == "" || n != 1 {
			w.faultLocked("request %s of %s: the prompt %q is there %d times", r.Act, lineage, prompt, n)
		}
	}
	for what := range w.runs {
		if strings.HasPrefix(what, lineage+" ") && strings.HasSuffix(what, ": run daemon") && !strings.Contains(all, "bash_1") {
			w.faultLocked("request %s of %s: the running command is forgotten", r.Act, lineage)
		}
	}
}
