package homes

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/internal/workflow"
	"github.com/perdure/perdure/store"
)

// opening gathers what a session in a directory begins with, and adds it to the session's first events.
type opening struct {
	h     *Home
	dir   string
	memo  *knowledge.Memory
	now   time.Time
	texts []session.GivenText
	read  []knowledge.HandoffFile // to be archived when the session is there
}

// noModel is the provider of a session that was made for a task: nobody would read what it is given.
const noModel = "none"

// openingOf gathers it: instructions, then what earlier sessions noted, the plan and the handoff that they
// left, and the commits since. What goes wrong costs what could not be read, and is logged.
func (h *Home) openingOf(ctx context.Context, spec *Spec) (*opening, error) {
	o := &opening{h: h, dir: spec.Cwd, now: h.cfg.Now()}
	if spec.Cwd == "" || spec.Agent.Provider == noModel {
		return o, nil
	}
	var files []instructions.File
	if h.cfg.Instructions {
		files = instructed{h.reader()}.Start(spec.Cwd)
	}
	if h.cfg.Memory != "" {
		var err error
		if o.memo, err = knowledge.Open(h.knows(spec.Cwd)); err != nil {
			return nil, err
		}
		o.remembered()
		if !spec.Fresh {
			h.makeUp(ctx, spec.Cwd)
			o.plan()
			o.handoff(ctx)
		}
	}
	o.state(spec.Events)
	if given := engine.GivenAtStart(files, o.texts...); given != nil {
		spec.Events = append([]session.Body{given}, spec.Events...)
	}
	return o, nil
}

func (o *opening) give(name, path, text string, digest store.Digest) {
	if strings.TrimSpace(text) != "" {
		o.texts = append(o.texts, window.Give(name, path, text, digest))
	}
}

func (o *opening) warn(what string, err error) {
	if err != nil {
		o.h.cfg.Log.Warn(what+" could not be read", "directory", o.dir, "error", err)
	}
}

// remembered gives what the memory holds.
func (o *opening) remembered() {
	b, err := knowledge.Brief(o.h.knows(o.dir))
	o.warn("the memory", err)
	o.give(session.GivenMemory, "", b.Text, store.Digest{})
}

// state gives the scratch state that the session begins with.
func (o *opening) state(events []session.Body) {
	values := map[string][]byte{}
	for _, b := range events {
		if s, ok := b.(*session.StateSet); ok && !s.Delete {
			values[s.Key] = s.Value
		}
	}
	lines := window.Scratch(values)
	if n := len(lines) - maxState; n > 0 {
		lines = append(lines[:maxState], fmt.Sprintf("and %d more", n))
	}
	o.give(session.GivenState, "", strings.Join(lines, "\n"), store.Digest{})
}

// maxState bounds how many values of the scratch state a session begins with.
const maxState = 100

// plan gives the plan that lies in the project.
func (o *opening) plan() {
	b, err := workflow.Load(o.h.knows(o.dir), o.dir)
	o.warn("the plan", err)
	o.give(session.GivenPlan, b.File, b.Text, store.Digest{})
}

// handoff gives the newest handoff, with what of it is no longer so, and the commits since.
func (o *opening) handoff(ctx context.Context) {
	all, err := o.memo.Handoffs().All()
	if o.memo.Handoffs().News(err) {
		o.h.cfg.Log.Warn("a handoff could not be read, and sessions begin without it: mend the file or remove it", "directory", o.dir, "error", err)
	}
	if places := o.h.places(o.dir); len(all) == 0 && len(places) > 1 { // the project could not be written
		if m, err := knowledge.Open(places[1]); err == nil {
			o.memo = m
			all, _ = m.Handoffs().All()
		}
	}
	if len(all) == 0 {
		return
	}
	f := all[0]
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, stale, err := o.memo.Handoffs().Look(ctx, f, o.now)
	o.warn("the handoff "+f.Path, err)
	if err != nil {
		return
	}
	text := handoff.Mark(string(f.Text), stale)
	o.give(session.GivenHandoff, f.Path, text+o.others(all[1:]), digestOf(f))
	o.read = append(o.read, f)
	if r, err := repo.Look(ctx, o.dir); err == nil {
		o.commits(ctx, r, f.Written)
	}
}

// digestOf is a handoff's digest as an event keeps it.
func digestOf(f knowledge.HandoffFile) (d store.Digest) {
	_, _ = hex.Decode(d[:], []byte(f.Digest)) // a digest is nothing else
	return d
}

// maxOthers bounds how many other handoffs that nobody has read are told of.
const maxOthers = 4

// others tells in short of handoffs that other sessions left and nobody has read: what they were about, and what failed.
// They count as read then.
func (o *opening) others(all []knowledge.HandoffFile) string {
	var out strings.Builder
	for i, f := range all {
		d, err := handoff.Parse(f.Text)
		if f.Known || err != nil {
			continue
		}
		if i >= maxOthers {
			fmt.Fprintf(&out, "\n[And %d more in %s.]", len(all)-i, filepath.Dir(f.Path))
			break
		}
		fmt.Fprintf(&out, "\n\n[Another session left a handoff as well, %s. In short:]\n%s", f.Path, d.Short())
		o.read = append(o.read, f)
	}
	return out.String()
}

// commits gives what was committed since the handoff was written.
func (o *opening) commits(ctx context.Context, r repo.Repo, since time.Time) {
	list, more, err := r.Since(ctx, since, maxCommits)
	if err != nil { // as of a repository of somebody else
		o.h.cfg.Log.Info("the commits since the handoff are not known", "directory", o.dir, "error", err)
		return
	}
	var lines []string
	for _, c := range list {
		lines = append(lines, fmt.Sprintf("%.7s %s", c.Hash, plain.Line(o.h.Hide(c.Subject), 200)))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	if len(lines) > 0 {
		o.give(session.GivenCommits, "", "Committed since the handoff was written, the newest first:\n"+strings.Join(lines, "\n"), store.Digest{})
	}
}

// done is called when the session is there: what it was given is moved to the history.
func (o *opening) done(ctx context.Context) {
	if len(o.read) == 0 {
		return
	}
	if _, err := o.memo.Handoffs().Archive(context.WithoutCancel(ctx), o.read...); err != nil {
		o.h.cfg.Log.Warn("the handoff that was read is not in the history", "directory", o.dir, "error", err)
	}
}
