package run

import (
	"context"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
)

// branch makes the fork that --fork-session asks for, and says where it works: in a directory of its own, but for
// --conversation, and for --cwd, which names another one.
func branch(ctx context.Context, a *app.App, h *homes.Home, f *Flags, parent string) (string, error) {
	name, err := sessions.ForkName(ctx, h, parent, f.name)
	if err != nil {
		return "", err
	}
	spec := homes.ForkSpec{ID: f.sessionID, Title: name, Conversation: f.conversation || f.cwd != ""}
	if f.files == filesRestore && !spec.Conversation { // the files of the newest event, and not those of now
		info, err := h.Store().Get(ctx, parent)
		if err != nil {
			return "", err
		}
		spec.Seq = info.Head.Seq
	}
	own, err := h.ForkWith(ctx, parent, spec)
	if err != nil {
		return "", err
	}
	a.Note("forked %s at event %d as %s", parent, own.At, own.Session)
	if f.cwd == "" {
		sessions.TellBranch(a, own, true)
	}
	f.branched = !own.Tree.IsZero()
	return own.Session, nil
}

// branchOf makes a fork for somebody at the screen, who is told there where it works.
func (s *sitting) branchOf(ctx context.Context, id string, conversation bool) (*target, error) {
	name, err := sessions.ForkName(ctx, s.home, id, "")
	if err != nil {
		return nil, err
	}
	own, err := s.home.ForkWith(ctx, id, homes.ForkSpec{Title: name, Conversation: conversation})
	if err != nil {
		return nil, err
	}
	if own.Tree.IsZero() || own.Plain != "" { // the screen says the rest
		called := own
		called.Session = app.Called(ctx, s.home, own.Session)
		sessions.TellBranch(s.app, called, true)
	}
	return &target{id: own.Session}, nil
}

// tellCopy says that the session which -c goes on with works in a directory of its own.
func tellCopy(ctx context.Context, a *app.App, h *homes.Home, f *Flags, id string) error {
	if !f.newest && !f.cont || f.cwd != "" {
		return nil
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	if from := h.ProjectOf(st.Config.Root); from != st.Config.Root {
		a.Note("%s works in %s, a directory of its own made from %s", id, a.Tilde(st.Config.Root), a.Tilde(from))
	}
	return nil
}
