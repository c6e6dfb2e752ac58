package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
)

//go:embed memory.md
var memoryDescription string

// Memory is what a session can remember beyond its conversation; see [knowledge.Memory.Do].
type Memory interface {
	// Do runs one command and words what came of it. The same by.Key changes something once. An error is one of the
	// machine.
	Do(ctx context.Context, c knowledge.Command, by knowledge.By) (text string, ok bool, err error)
	// Shrinks says in words that a command would drop most of a file; empty: it would not.
	Shrinks(c knowledge.Command) string
}

// MemoryTool is the tool by which a model reads and writes the session's memory. It is no part of [Builtin]: only a
// session that has a memory is offered it, see [Offered].
func MemoryTool() Tool { return memory{} }

// Offered are the tools that a new session is told of: without a memory, and where nothing is kept, those that need none.
func Offered(all []Tool, hasMemory, keeps bool) []Tool {
	var out []Tool
	for _, t := range all {
		_, remembers := t.(memory)
		_, kept := t.(artifact)
		if (!remembers || hasMemory) && (!kept || keeps) {
			out = append(out, t)
		}
	}
	return out
}

// memory works on files of its own. Its changes are made once by their key, whoever crashes meanwhile, so that a second
// run only repeats the words.
type memory struct{}

func (memory) Spec() Spec {
	return Spec{
		Name: "memory", Description: strings.TrimSpace(memoryDescription), Effect: session.EffectExternal, Idempotent: true,
		Schema: `{"type":"object","properties":{` +
			`"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},` +
			`"path":{"type":"string","description":"Begins with /memories; for all commands but rename"},` +
			`"view_range":{"type":"array","items":{"type":"integer"},"description":"view: first and last line, from 1; -1 is the end"},` +
			`"file_text":{"type":"string","description":"create: the text of the new file"},` +
			`"old_str":{"type":"string","description":"str_replace: a text that is in the file once"},` +
			`"new_str":{"type":"string","description":"str_replace: what comes in its place"},` +
			`"insert_line":{"type":"integer","description":"insert: the line after which it goes, 0 for the beginning"},` +
			`"insert_text":{"type":"string","description":"insert: the text"},` +
			`"old_path":{"type":"string","description":"rename: what is there"},` +
			`"new_path":{"type":"string","description":"rename: its new path"}},` +
			`"required":["command"]}`,
	}
}

// Reads reports a call that only looks.
func (memory) Reads(c Call) bool { return parse(c).text("command") == "view" }

// Doubt is that a call would drop most of what was noted.
func (memory) Doubt(c Call, env Env) string {
	in := parse(c)
	cmd := memoryCommand(in)
	if env.Memory == nil || in.refusal() != nil {
		return ""
	}
	return env.Memory.Shrinks(cmd)
}

// Run hands the command to the session's memory.
func (memory) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	cmd := memoryCommand(in)
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	if env.Memory == nil {
		return failure("There is no memory here: nothing is kept beyond this conversation."), nil
	}
	by := knowledge.By{Source: knowledge.SourceModel}
	if env.State != nil {
		by.Session, by.Seq = env.State.ID, env.State.Head.Seq
	}
	by.Key = by.Session + "/" + session.BaseOf(c.Act)
	for _, text := range []*string{&cmd.FileText, &cmd.NewStr, &cmd.InsertText} {
		if env.Replace != nil {
			*text = string(env.Replace([]byte(*text)))
		}
	}
	if outside, err := env.fromOthers(ctx, cmd.Written(), cmd.ForUser()); err != nil {
		return Result{}, err
	} else if outside {
		by.Source = knowledge.SourceTool // the trust of a text is the least of its sources
	}
	cmd.Agreed = env.Agreed
	text, ok, err := env.Memory.Do(ctx, cmd, by)
	if err != nil {
		return Result{}, err
	}
	r := success("%s", text)
	r.IsError = !ok
	return r, nil
}

// memoryCommand reads a call's input; what a command needs and has not is a problem.
func memoryCommand(in *input) knowledge.Command {
	c := knowledge.Command{Name: in.choice("command", "", "view", "create", "str_replace", "insert", "delete", "rename")}
	switch c.Name {
	case "":
		if len(in.problems) == 0 {
			in.problem(`"command" is missing; it must be view, create, str_replace, insert, delete or rename`)
		}
		return c
	case "rename":
		c.OldPath, c.NewPath = in.nonEmpty("old_path"), in.nonEmpty("new_path")
		return c
	}
	c.Path = in.nonEmpty("path")
	switch c.Name {
	case "view":
		c.From, c.To = in.lineRange("view_range")
	case "create":
		c.FileText = in.required("file_text")
	case "str_replace":
		c.OldStr, c.NewStr = in.required("old_str"), in.text("new_str")
	case "insert":
		if _, ok := in.raw("insert_line"); !ok {
			in.problem(`"insert_line" is missing; it must be the number of a line, 0 for the beginning`)
		}
		c.InsertLine = in.number("insert_line", 0, -maxOffset, maxOffset)
		c.InsertText = in.required("insert_text")
	}
	return c
}

// lineRange reads two line numbers; absent gives zeros.
func (in *input) lineRange(name string) (from, to int64) {
	v, ok := in.raw(name)
	if !ok {
		return 0, 0
	}
	var pair []int64
	if json.Unmarshal(v, &pair) != nil || len(pair) != 2 {
		in.problem("%q must be a list of two line numbers", name)
		return 0, 0
	}
	return pair[0], pair[1]
}
