package screen

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/cli/screen/sources"
	"github.com/perdure/perdure/internal/cli/tasks"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/internal/ui/taskpanel"
	"github.com/perdure/perdure/internal/ui/theme"
)

// commands are those that can be typed after a slash.
func (l *link) commands() []chat.Command {
	return []chat.Command{
		{Name: "help", Help: "keys and commands", Page: l.helpPage},
		{Name: "resume", Help: "go to another session", Alias: []string{"sessions"}},
		{Name: "new", Help: "begin a new session here", Alias: []string{"clear"}},
		{Name: "fork", Args: "[conversation]", Help: "go on in a copy of this session, with files of its own; conversation: in the same directory"},
		{Name: "model", Args: "[PROVIDER/MODEL]", Help: "which model answers; another one from now on"},
		{Name: "mode", Args: "[MODE]", Help: "default, acceptEdits or plan; shift+tab goes on to the next"},
		{Name: "plan", Help: "the plan, and what is known", Page: l.page(func(c panels.Config, id string) chat.Page { return panels.NewPlan(c, sources.Plan(l.home, id)) })},
		{Name: "tasks", Help: "commands in the background", Alias: []string{"bashes"}, Page: l.tasksPage},
		{Name: "context", Help: "what the next request holds", Page: l.page(func(c panels.Config, id string) chat.Page { return panels.NewContext(c, sources.Context(l.home, id)) })},
		{Name: "rewind", Help: "go back to before a turn: the conversation, the files, or both; esc twice", Page: l.rewindPage},
		{Name: "undo", Help: "take back what the newest turn did to files; it shows first what that changes", Page: l.undoPage},
		{Name: "checkpoint", Args: "[NAME]", Help: "keep the files as they are now under a name"},
		{Name: "restore", Args: "MOMENT", Help: "bring the files back to a checkpoint, an event's number or turn N; it shows first what that changes", Page: l.restorePage},
		{Name: "apply", Args: "[--undo] [FORK]", Help: "bring what a session with files of its own has changed back to where they come from; it shows first what that changes", Page: l.applyPage},
		{Name: "files", Help: "files that the session read and changed", Page: l.page(func(c panels.Config, id string) chat.Page { return panels.NewFiles(c, sources.Files(l.home, id)) })},
		{Name: "diff", Args: "[MOMENT]", Help: "what differs in the files now, since the newest turn that changed some or another moment", Page: l.diffPage},
		{Name: "cost", Help: "tokens and money", Alias: []string{"usage"}, Page: l.page(func(c panels.Config, id string) chat.Page { return panels.NewCost(c, sources.Cost(l.home, id)) })},
		{Name: "compact", Args: "[FOCUS]", Help: "make room: a summary takes the place of the older conversation"},
		{Name: "permissions", Help: "what may be done without asking, and taking it back", Alias: []string{"allowed-tools"}, Page: l.permissionsPage},
		{Name: "inbox", Help: "what waits for you in all sessions", Page: func(string) chat.Page { return inbox.Page(l.app, l.home, nil) }},
		{Name: "rename", Args: "NAME", Help: "name the session"},
		{Name: "export", Args: "[md|html|jsonl] [FILE]", Help: "write the session down: the first word says as what, or the file's ending; else as Markdown"},
		{Name: "search", Args: "WORDS", Help: "find words in all sessions"},
		{Name: "memory", Args: "[COMMAND]", Help: "what is remembered of this project and of you"},
		{Name: "handoff", Args: "[show]", Help: "write down what this session leaves to the next one"},
		{Name: "pause", Help: "start nothing new, and leave"},
		{Name: "exit", Help: "leave; commands go on", Alias: []string{"quit", "q"}},
	}
}

// page makes a page of a session that exists.
func (l *link) page(open func(panels.Config, string) chat.Page) func(string) chat.Page {
	return func(string) chat.Page {
		id := l.session()
		if id == "" {
			return nil
		}
		return open(panels.Config{Styles: l.app.Styles(), Now: l.app.Now}, id)
	}
}

func (l *link) tasksPage(string) chat.Page {
	id := l.session()
	if id == "" {
		return nil
	}
	return taskpanel.New(taskpanel.Config{Source: tasks.PanelSource(l.app, l.home, id), Now: l.app.Now})
}

func (l *link) helpPage(string) chat.Page {
	named := []theme.Key{}
	for _, c := range l.commands() {
		named = append(named, theme.Key{Press: strings.TrimSpace("/" + c.Name + " " + c.Args), Does: c.Help})
	}
	return panels.NewHelp(panels.Config{Styles: l.app.Styles(), Now: l.app.Now}, append(keySections(), panels.Section{Title: "Commands", Keys: named}))
}

func keySections() []panels.Section {
	return []panels.Section{
		{Title: "Writing", Keys: []theme.Key{
			{Press: "enter", Does: "send; while it works, queue"},
			{Press: "shift+enter alt+enter ctrl+j", Does: "a new line"},
			{Press: "alt+up", Does: "take the newest queued message back"},
			{Press: "ctrl+r", Does: "search what was sent before, in all sessions"},
			{Press: "@  /", Does: "complete a file, a command"},
			{Press: "ctrl+g", Does: "write in your editor"},
			{Press: "esc", Does: "cancel what it does; commands that end with it are named"},
			{Press: "ctrl+c twice", Does: "leave; ctrl+d too"},
		}},
		{Title: "Reading", Keys: []theme.Key{
			{Press: "pgup pgdn shift+up shift+down", Does: "scroll"},
			{Press: "shift+end", Does: "back to the newest"},
			{Press: "tab", Does: "select in the conversation: enter opens, v shows all of an output, y copies, w writes it into the scrollback"},
			{Press: "ctrl+f", Does: "find in the conversation"},
			{Press: "ctrl+s", Does: "write the conversation into the terminal's scrollback"},
		}},
		{Title: "Deciding", Keys: []theme.Key{
			{Press: "ctrl+o", Does: "what waits for your answer"},
			{Press: "shift+tab", Does: "the next mode: default, acceptEdits, plan"},
			{Press: "ctrl+t", Does: "commands in the background"},
		}},
	}
}

// diffPage is the page of what differs since a moment.
func (l *link) diffPage(moment string) chat.Page {
	return l.page(func(c panels.Config, id string) chat.Page {
		return panels.NewDiff(c, sources.Differs(l.home, id, moment))
	})("")
}

// commandWait bounds how long a command may take.
const commandWait = 2 * time.Minute

// Command does what the screen does not know itself.
func (l *link) Command(ctx context.Context, name, args string) (chat.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWait)
	defer cancel()
	id := l.session()
	switch name {
	case "resume":
		return chat.Reply{Go: &chat.Goal{Session: args}}, nil
	case "new":
		return chat.Reply{Go: &chat.Goal{Fresh: true}}, nil
	case "search":
		if args == "" {
			return chat.Reply{}, fmt.Errorf("say which words")
		}
		return l.search(ctx, args)
	case "memory":
		if args == "" {
			args = "list"
		}
		return l.run(ctx, "memory", strings.Fields(args)...)
	}
	switch {
	case id != "":
	case name == "mode":
		return chat.Reply{Note: "mode " + args}, l.Mode(ctx, args)
	case name == "model" && args == "":
		return l.models(l.cfg.New.Model), nil
	case name == "model":
		return chat.Reply{Note: "the model is " + args}, l.want(ctx, "", args)
	default:
		return chat.Reply{}, errNone
	}
	return l.onSession(ctx, id, name, args)
}

// shareWord has a fork work in the directory of its session.
const shareWord = "conversation"

// onSession does what needs a session.
func (l *link) onSession(ctx context.Context, id, name, args string) (chat.Reply, error) {
	switch name {
	case "fork":
		if args != "" && args != shareWord {
			return chat.Reply{}, fmt.Errorf("/fork goes on in a copy of this session with files of its own, /fork %s in the same directory", shareWord)
		}
		return chat.Reply{Go: &chat.Goal{Session: id, Fork: true, Share: args == shareWord}}, nil
	case "pause":
		if _, err := l.run(ctx, "pause", id); err != nil {
			return chat.Reply{}, err
		}
		return chat.Reply{Go: &chat.Goal{}}, nil
	case "mode":
		return chat.Reply{Note: "mode " + args}, l.Mode(ctx, args)
	case "model":
		return l.switchModel(ctx, id, args)
	case "compact":
		return l.compact(ctx, id, args)
	case "rename":
		if args == "" {
			return chat.Reply{}, fmt.Errorf("say which name")
		}
		_, err := l.run(ctx, "rename", id, args)
		return chat.Reply{Note: "the session is called " + args}, err
	case "checkpoint":
		return l.checkpoint(ctx, id, args)
	case "restore":
		return chat.Reply{}, fmt.Errorf("say which moment: a checkpoint's name, an event's number or turn N")
	case "handoff":
		if args == "show" {
			return l.run(ctx, "handoff", "show", id)
		}
		return chat.Reply{Note: "the handoff is written when the model has given its words; /handoff show has it then"},
			l.home.Deliver(ctx, id, "", &session.HandoffRequested{Why: session.HandoffAsked})
	case "export":
		return l.export(ctx, id, args)
	}
	return chat.Reply{}, fmt.Errorf("not known here")
}

// run runs a command line of perdure and shows what it prints.
func (l *link) run(ctx context.Context, verb string, args ...string) (chat.Reply, error) {
	out, ok := l.cfg.Run(ctx, append([]string{verb}, args...)...)
	out = strings.TrimPrefix(strings.TrimSpace(out), "perdure: ") // who says it is plain here
	if !ok {
		return chat.Reply{}, fmt.Errorf("%s", out)
	}
	if out == "" {
		out = "done"
	}
	if !strings.Contains(out, "\n") {
		return chat.Reply{Note: out}, nil
	}
	return chat.Reply{Title: "perdure " + strings.Join(append([]string{verb}, args...), " "), Text: out}, nil
}

// checkpoint keeps the files under a name; without one it is the time.
func (l *link) checkpoint(ctx context.Context, id, name string) (chat.Reply, error) {
	if name == "" {
		name = "at-" + l.app.Now().Format("20060102-150405")
	}
	if err := session.CheckpointName(name); err != nil {
		return chat.Reply{}, err
	}
	got, err := l.home.Checkpoint(ctx, id, name)
	if err != nil {
		return chat.Reply{}, err
	}
	return chat.Reply{Note: "/restore " + got.Name + " brings the files of now back"}, nil
}

func (l *link) export(ctx context.Context, id, args string) (chat.Reply, error) {
	format, file := exported(id, args)
	if _, err := l.run(ctx, "export", "--format", format, "-o", file, "--", id); err != nil {
		return chat.Reply{}, err
	}
	return chat.Reply{Note: "written to " + file}, nil
}

// exported is what is written where: by the word for a format that stands first, else by the file's ending. The file may be
// left out, and may have blanks in its name.
func exported(id, args string) (format, file string) {
	endings := map[string]string{"md": "md", "markdown": "md", "html": "html", "htm": "html", "jsonl": "jsonl", "json": "jsonl"}
	word, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	format, file = endings[strings.ToLower(word)], strings.TrimSpace(rest)
	if format == "" {
		file = strings.TrimSpace(args)
		format = cmp.Or(endings[strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))], "md")
	}
	return format, cmp.Or(file, "session-"+id+"."+format)
}

// switchModel says which model answers, or has another one answer from now on.
func (l *link) switchModel(ctx context.Context, id, spec string) (chat.Reply, error) {
	if spec == "" {
		st, err := l.state(ctx)
		if err != nil {
			return chat.Reply{}, err
		}
		return l.models(st.Agent.Provider + "/" + st.Agent.Model), nil
	}
	agent, err := l.home.Agent(ctx, spec)
	if err != nil {
		return chat.Reply{}, err
	}
	opt := homes.Options{Agent: &agent}
	if _, held, _ := l.there(); held != nil {
		err = held.Configure(ctx, opt)
	} else {
		err = l.home.Configure(ctx, id, opt)
	}
	return chat.Reply{Note: "the model is " + agent.Provider + "/" + agent.Model + " from now on"}, err
}

// compact asks for a compaction, if it is worth a call of the model.
func (l *link) compact(ctx context.Context, id, focus string) (chat.Reply, error) {
	if why, err := l.home.NothingToCompact(ctx, id); err != nil || why != "" {
		return chat.Reply{Note: why}, err
	}
	return chat.Reply{Note: "the conversation is compacted before the next step"}, l.home.Deliver(ctx, id, "", &session.CompactRequested{Focus: focus})
}
