package homes

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/internal/workflow"
	"github.com/perdure/perdure/model"
)

// documents are what sessions leave to the next one in their directory, and to people.
type documents struct{ h *Home }

// maxCommits bounds how many commits a handoff, or the beginning of a session, names.
const maxCommits = 20

// Render makes the document. A model's words are those it was asked for, else the newest that it gave.
func (o documents) Render(ctx context.Context, st *session.State, t *session.Transcript, words string) []byte {
	in := handoff.Input{
		State: st, LastReply: t.LastText(), Git: o.git(ctx, st), Written: o.h.cfg.Now().Local(),
		First: o.firstMessage(ctx, st, t), Newest: newestMessage(t),
	}
	late := 0
	if words == "" && st.Handoff != nil && st.Handoff.Words > 0 {
		if b, err := o.h.eng.BodyAt(ctx, st.ID, st.Handoff.Words); err == nil {
			if w, ok := b.(*session.HandoffWritten); ok {
				words, late = string(w.Words), st.Turns-st.Handoff.Turns
			}
		}
	}
	in.Words, in.Before = handoff.ParseWords(o.h.Hide(words)), o.before(st)
	if in.Words.Empty() {
		in.Errors = callErrors(t)
	}
	o.hide(&in)
	d := handoff.Of(in)
	if in.Words.Empty() {
		d = d.Carry(in.Before)
	}
	if late > 0 {
		d.State.Missing = append(d.State.Missing, "What the newest "+plain.Count(int64(late), "turn")+" came to: the words above are older.")
	}
	return handoff.Render(d)
}

// hide takes secrets out of what is quoted: a model's text is in the log as it came, but a document is for others. It is
// done before the document is made, since that carries its own digest.
func (o documents) hide(in *handoff.Input) {
	for _, text := range []*string{&in.First, &in.Newest, &in.LastReply} {
		*text = o.h.Hide(*text)
	}
	for i := range in.Errors {
		in.Errors[i] = o.h.Hide(in.Errors[i])
	}
}

// git is what the repository around the session's directory says.
func (o documents) git(ctx context.Context, st *session.State) handoff.Git {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	r, err := repo.Look(ctx, st.Cwd)
	if err != nil {
		return handoff.Git{}
	}
	g := handoff.Git{Branch: o.h.Hide(r.Branch), Commit: r.Commit}
	list, more, err := r.Since(ctx, time.UnixMilli(st.Created), maxCommits)
	if err != nil {
		o.h.cfg.Log.Info("the commits of a session are not known", "session", st.ID, "error", err)
	}
	for _, c := range list {
		g.Commits = append(g.Commits, handoff.Commit{Hash: c.Hash, Subject: o.h.Hide(c.Subject)})
	}
	g.More = more
	return g
}

// firstMessage is the first prompt of a session: of the conversation, else, when that was compacted, of its log.
func (o documents) firstMessage(ctx context.Context, st *session.State, t *session.Transcript) string {
	if all := t.Prompts(); st.Overlay == nil && len(all) > 0 {
		return model.Text(all[0].Content)
	}
	const first = 64
	for ev, err := range o.h.store.Read(ctx, st.ID, 1, min(first, st.Head.Seq)) {
		if err != nil {
			break
		}
		body, err := session.Decode(ev)
		if m, ok := body.(*session.MessageReceived); err == nil && ok && !m.Note {
			return model.Text(m.Content)
		}
	}
	return ""
}

// newestMessage is the newest prompt; empty if it was compacted.
func newestMessage(t *session.Transcript) string {
	for _, p := range slices.Backward(t.Prompts()) {
		if !p.Met {
			return model.Text(p.Content)
		}
	}
	for _, p := range slices.Backward(t.Kept()) {
		if p.Name == window.PartMessage {
			return string(p.Text)
		}
	}
	return ""
}

// maxFailures bounds how many failed calls a handoff is told of.
const maxFailures = 10

// callErrors are what failed calls said since the newest turn began, the oldest first.
func callErrors(t *session.Transcript) []string {
	var out []string
	all, from := t.Upcoming(), 0
	if p := t.Prompts(); len(p) > 0 {
		from = p[len(p)-1].Message
	}
	for _, m := range all[min(from, len(all)):] {
		for _, bl := range m.Blocks {
			if bl.Result == nil || !bl.Result.IsError {
				continue
			}
			if text := model.Text(bl.Result.Content); text != session.NoResult {
				out = append(out, text)
			}
		}
	}
	return out[max(0, len(out)-maxFailures):]
}

// Put lays a document down where the next session finds it: where the project cannot be written, in the home. What goes
// wrong is logged: the session's log has it.
func (o documents) Put(ctx context.Context, st *session.State, text []byte) {
	ctx = context.WithoutCancel(ctx)
	var err error
	for _, cfg := range o.h.places(st.Config.Root) {
		if err = o.put(ctx, cfg, st, text); !unwritable(err) {
			break
		}
		o.h.told(cfg.Dir, func() {
			o.h.cfg.Log.Warn("the project cannot be written: its handoff lies in the home", "directory", cfg.Dir)
		})
	}
	if err != nil {
		o.h.cfg.Log.Warn("the handoff is only in the session", "session", st.ID, "error", err)
	}
}

func (o documents) put(ctx context.Context, cfg knowledge.Config, st *session.State, text []byte) error {
	m, err := knowledge.Open(cfg)
	if err != nil {
		return err
	}
	head, _ := handoff.HeaderOf(text)
	_, err = m.Handoffs().Write(ctx, text, o.read(st), knowledge.By{Session: st.ID, Seq: head.Seq})
	return err
}

// unwritable reports that a place can be looked at and not changed.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// places are where the handoffs of a directory may lie: where they belong, then in the home.
func (h *Home) places(dir string) []knowledge.Config {
	cfg := h.knows(dir)
	out := []knowledge.Config{cfg}
	if cfg.InProject {
		cfg.InProject = false
		out = append(out, cfg)
	}
	return out
}

// before is the handoff that a session began with; the zero value: there was none, or it is gone.
func (o documents) before(st *session.State) (none handoff.Document) {
	digest := o.read(st)
	if digest == "" {
		return none
	}
	for _, cfg := range o.h.places(st.Config.Root) {
		m, err := knowledge.Open(cfg)
		if err != nil {
			return none
		}
		past, _ := m.Handoffs().History() // what cannot be read is not carried on
		all, _ := m.Handoffs().All()
		for _, f := range append(past, all...) {
			if f.Digest != digest {
				continue
			}
			if d, err := handoff.Parse([]byte(o.h.Hide(string(f.Text)))); err == nil {
				return d
			}
		}
	}
	return none
}

// Save writes the state file.
func (o documents) Save(_ context.Context, st *session.State) {
	if st.Config.Root == "" {
		return
	}
	_, err := workflow.Save(o.h.knows(st.Config.Root), st)
	var kept *workflow.KeptError
	if errors.As(err, &kept) {
		o.h.told(st.ID+" "+kept.File, func() { o.h.cfg.Log.Warn(kept.Error(), "session", st.ID) })
		return
	}
	if err != nil && !unwritable(err) {
		o.h.cfg.Log.Warn("the state file was not written", "session", st.ID, "error", err)
	}
}

// read is the digest of the handoff that a session began with.
func (documents) read(st *session.State) string {
	for _, g := range st.Given {
		if g.Name == session.GivenHandoff && !g.Digest.IsZero() {
			return g.Digest.String()
		}
	}
	return ""
}
