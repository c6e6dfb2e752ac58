package lineage

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// From says where a text came from.
type From int

// Where texts come from. What only the session's own parts say (its plan, its decisions) comes from nowhere.
const (
	Nowhere  From = iota
	User          // a person's own words
	Agent         // a reply, and the summaries that it made
	Inside        // a file of the project, as it was read
	Recalled      // given to the session: its instructions, what was noted before, notes of the engine
	Outside       // commands, the web, other programs, files outside of the project
)

// Log reads a session's events in order, an ancestor's first. It keeps the newest step's calls, no more.
type Log struct {
	root  string
	calls map[string]call // by the base of their act
}

type call struct {
	tool   string
	effect session.Effect
	target string
}

// Brings gives the texts that an event brought into the session.
func (l *Log) Brings(ev store.Event, body session.Body) ([]string, From) {
	switch b := body.(type) {
	case *session.Opened:
		l.root = b.Config.Root
		return []string{b.Agent.System}, Recalled
	case *session.Configured:
		if b.Root != nil {
			l.root = *b.Root
		}
	case *session.MessageReceived:
		if b.Note || ev.Actor.Type != store.ActorUser {
			return []string{model.Text(b.Content)}, Recalled
		}
		return []string{model.Text(b.Content)}, User
	case *session.QuestionAnswered:
		if ev.Actor.Type == store.ActorUser {
			return []string{b.Text}, User
		}
		return []string{b.Text}, Recalled
	case *session.ModelResponded:
		return l.reply(b), Agent
	case *session.ToolDecided:
		c := l.calls[session.BaseOf(b.Act)]
		c.effect, c.target = b.Effect, b.Decision.Target
		if l.calls != nil {
			l.calls[session.BaseOf(b.Act)] = c
		}
	case *session.ToolFinished:
		return []string{model.Text(b.Content)}, l.result(b.Act, b.Outcome)
	case *session.ToolUnknown:
		return []string{model.Text(b.Content)}, Outside
	case *session.AwaitMet:
		return []string{string(b.Text)}, Outside
	case *session.FilesRestored:
		return []string{string(b.Text)}, Outside // it names files
	default:
		if !slices.Contains(silent, ev.Kind) {
			return []string{string(ev.Body)}, Recalled
		}
	}
	return nil, Nowhere
}

// Given are the texts of an event that a session is given: those that others wrote, the subjects of commits, which a
// command would show as well, and those of the project's files. They come from [Outside] and [Inside], whatever
// [Log.Brings] says of the rest.
func Given(body session.Body) (others, project []string) {
	b, ok := body.(*session.ContextGiven)
	if !ok {
		return nil, nil
	}
	for _, t := range b.Texts {
		switch t.Name {
		case session.GivenCommits:
			others = append(others, string(t.Text))
		case session.GivenMemory:
		default:
			project = append(project, string(t.Text))
		}
	}
	return others, project
}

// silent are the kinds that bring no words of others into a conversation. A kind that is not here, one of a newer version
// for instance, may.
var silent = []store.Kind{
	session.KindConfigured, session.KindToolDecided, session.KindResumed, session.KindReleased, session.KindForked, session.KindLifecycle, session.KindLabelled,
	session.KindCompactRequested, session.KindCompacted, session.KindHandoffRequested, session.KindHandoffWritten, session.KindPlanEdited, session.KindTurnStarted, session.KindTurnEnded, session.KindMessageWithdrawn, session.KindCancelRequested,
	session.KindModelRequested, session.KindModelFailed, session.KindModelLost, session.KindToolStarted, session.KindToolDetached, session.KindToolVoid,
	session.KindApprovalRequested, session.KindApprovalAnswered, session.KindQuestionAsked,
	session.KindPermissionRules, session.KindPermissionGranted, session.KindPermissionRevoked,
	session.KindTaskRequested, session.KindTaskStarted, session.KindTaskExited, session.KindTaskSignalled, session.KindTaskRead, session.KindTaskInput, session.KindTaskWritten,
	session.KindTaskRestartSet, session.KindTaskNotRestarted, session.KindAwaitSet, session.KindAwaitDropped, session.KindAwaitScanned,
	session.KindFilesCaptured, session.KindCheckpointRequested, session.KindRestoreRequested, session.KindRestoreStarted,
	session.KindTimerSet, session.KindTimerFired, session.KindFileSeen, session.KindPlanSet, session.KindFactAdded, session.KindStateSet, session.KindInboxRefused,
}

func (l *Log) reply(b *session.ModelResponded) (texts []string) {
	for _, bl := range b.Blocks {
		if bl.Type == model.BlockText {
			texts = append(texts, string(bl.Shown))
		}
	}
	if session.ForSummary(b.Act) {
		return texts
	}
	l.calls = map[string]call{}
	for i, bl := range b.Blocks {
		if bl.Type == model.BlockToolUse {
			l.calls[session.CallBase(b.Act, i)] = call{tool: bl.Name}
		}
	}
	return texts
}

// result says where the result of a call comes from. What is not known to be of the project is not.
func (l *Log) result(act string, how session.Outcome) From {
	c, known := l.calls[session.BaseOf(act)]
	switch {
	case how == session.OutcomeDenied || c.effect == session.EffectQuestion:
		return Nowhere // a person's words, which are an event of their own
	case !known:
		return Outside
	}
	switch c.tool {
	case "TodoWrite", "Note":
		return Nowhere
	case "memory":
		return Recalled
	case "History":
		return Inside // what it repeats is in the log before it
	}
	if (c.effect == session.EffectRead || c.effect == session.EffectEdit) && within(c.target, l.root) {
		return Inside
	}
	return Outside
}

func within(path, root string) bool {
	if path == "" || root == "" {
		return false
	}
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
