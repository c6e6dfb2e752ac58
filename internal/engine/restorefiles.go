package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// restoreFiles begins the restore that was asked for: its plan is durable, then the log says that it began, then files
// are touched.
func (s *files) restoreFiles(ctx context.Context, r *session.Restore) error {
	c := s.eng.cfg.Captures
	if c == nil {
		return s.notRestored(ctx, r, errNoCaptures)
	}
	if r.By == engineActor { // what the act did is to be told from what others do after it
		if err := s.captureAct(ctx); err != nil {
			return err
		}
	}
	req := RestoreRequest{
		Session: s.state.ID, ID: session.RestoreID(r.Request), Dir: s.filesDir(),
		Base: s.knownTree(), Target: r.Target, Paths: r.Paths, Force: r.Force,
		Unsure: s.state.Workspace.Refused != "" || s.unsure(),
	}
	if !r.Merge.IsZero() {
		req.Base, req.Merge = r.Merge, true
	}
	shown := s.showFiles(ctx, req.Dir)
	p, err := beside(ctx, 0, func(ctx context.Context) (Prepared, error) { return c.Prepare(ctx, req) })
	shown()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		release(p.Release)
		return s.notRestored(ctx, r, err)
	}
	if err := s.beginRestore(ctx, r, req, p); err != nil || !s.state.Workspace.Restoring() {
		return err
	}
	return s.finishRestore(ctx, s.state.Workspace.Restore)
}

// beginRestore logs that a restore began, or why it cannot.
func (s *files) beginRestore(ctx context.Context, r *session.Restore, req RestoreRequest, p Prepared) error {
	defer release(p.Release)
	before := s.answered(CaptureRequest{Dir: req.Dir, Why: session.CaptureRestore}, p.Before, nil)
	if before.Refused != "" {
		return s.notRestored(ctx, r, errors.New(before.Refused))
	}
	var bodies []session.Body
	if !s.isNewest(before) {
		bodies = append(bodies, before)
	}
	return s.append(ctx, engineActor, append(bodies, &session.RestoreStarted{
		Request: r.Request, Before: before.Tree, Base: req.Base, Target: r.Target, Dir: req.Dir, RestoreCounts: p.Counts,
	})...)
}

// notRestored says why a restore was not begun.
func (s *files) notRestored(ctx context.Context, r *session.Restore, why error) error {
	b := &session.FilesRestored{Request: r.Request, Outcome: session.RestoreFailed, Error: why.Error()}
	b.Bound()
	return s.append(ctx, engineActor, b)
}

// finishRestore does the rest of a restore that the log says has begun, whoever began it. One that cannot be finished is
// taken back.
func (s *files) finishRestore(ctx context.Context, r *session.Restore) error {
	c := s.eng.cfg.Captures
	if c == nil { // what was begun is for a program to finish that can
		return fmt.Errorf("session %s: %s is under way, and %w", s.state.ID, r.Words(), errNoCaptures)
	}
	req := RestoreRequest{
		Session: s.state.ID, ID: session.RestoreID(r.Request), Dir: r.Dir,
		Base: r.Base, Before: r.Before, Target: r.Target, Paths: r.Paths, Force: r.Force, Merge: !r.Merge.IsZero(),
	}
	shown := s.showFiles(ctx, req.Dir)
	defer shown()
	got, err := beside(ctx, 0, func(ctx context.Context) (Restored, error) { return c.Finish(ctx, req) })
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	b := &session.FilesRestored{Request: r.Request, Outcome: session.RestoreDone}
	if err == nil {
		b.Tree, b.RestoreCounts, b.Kept = got.Tree, got.Counts, got.Kept
	} else {
		b.Outcome, b.Error = session.RestoreUndone, err.Error()
		_, undo := beside(context.WithoutCancel(ctx), 0, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.Abandon(ctx, req) })
		if undo != nil {
			b.Outcome, b.Error = session.RestoreFailed, fmt.Sprintf("%v; and it could not be taken back: %v", err, undo)
		}
	}
	shown()
	b.Bound()
	if b.Outcome != session.RestoreUndone {
		b.Changed = s.changedFiles()
		b.Text = []byte(restoredWords(r, b, got.Paths))
	}
	if err := s.append(ctx, engineActor, b); err != nil {
		return err
	}
	release(got.Release)
	return nil
}

// restoredWords is what the model is told of a restore.
func restoredWords(r *session.Restore, b *session.FilesRestored, paths []string) string {
	by := "the user"
	switch {
	case r.By == engineActor:
		by = "the session itself"
	case r.By.Type != store.ActorUser:
		by = string(r.By.Type)
	}
	whole, part := fmt.Sprintf("[files in %s were restored by %s to %s", named(r.Dir), by, named(r.To)), fmt.Sprintf("[files in %s were to be restored by %s to %s", named(r.Dir), by, named(r.To))
	kept := "since somebody else had changed them"
	if !r.Merge.IsZero() {
		whole, part = fmt.Sprintf("[%s applied %s to the files in %s", capital(by), named(r.To), named(r.Dir)), fmt.Sprintf("[%s was applying %s to the files in %s", capital(by), named(r.To), named(r.Dir))
		kept = "since both sides have changed them; the other version of a file lies beside it as NAME.perdure-conflict"
	}
	var out strings.Builder
	if b.Outcome == session.RestoreDone {
		fmt.Fprintf(&out, "%s: %d added, %d modified, %d deleted", whole, b.Added, b.Modified, b.Deleted)
		if len(paths) > 0 {
			out.WriteString(": " + namedAll(paths, b.RestoreCounts.Changed()))
		}
		out.WriteString(".")
		if b.Conflicts > 0 {
			out.WriteString(" Kept as they are, " + kept + ": " + namedAll(b.Kept, b.Conflicts) + ".")
		}
	} else {
		out.WriteString(part + ", and only some of that was done: anything there may have changed.")
	}
	if len(b.Changed) > 0 {
		out.WriteString(" " + capital(changedSince) + changedNames(b.Changed) + ".")
	}
	out.WriteString(" Read a file again before you rely on what you remember of it.]")
	return out.String()
}

// capital begins a sentence with words of ASCII.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// namedAll lists at most 20 of n paths.
func namedAll(paths []string, n int64) string {
	var words []string
	for _, p := range paths[:min(len(paths), maxNamed)] {
		words = append(words, named(p))
	}
	if more := n - int64(len(words)); more > 0 {
		words = append(words, "and "+strconv.FormatInt(more, 10)+" more")
	}
	return strings.Join(words, ", ")
}

// maxNamedBytes bounds a name from the file system in words for the model, in bytes.
const maxNamedBytes = 512

// named is a name from outside as it can stand in a sentence: quoted, unless it is plain.
func named(name string) string {
	name = session.CutEnd(name, maxNamedBytes)
	if strings.ContainsFunc(name, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsPrint(r) || strings.ContainsRune("\"[]", r)
	}) {
		return strconv.Quote(name)
	}
	return name
}
