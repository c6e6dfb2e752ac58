package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// showFiles prints what a session did with files.
func showFiles(ctx context.Context, a *app.App, h *homes.Home, id string, asJSON bool) error {
	f, err := h.FileHistory(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		return a.JSON(f)
	}
	return a.Paged(func() error {
		a.Linef("%s  %s", display.Line(f.Session, display.MaxCell), display.Line(a.Tilde(f.Dir), 500))
		filesKnown(a, f)
		if err := touchedTable(a, f); err != nil {
			return err
		}
		filesKept(a, f)
		return nil
	})
}

// filesKnown says what the list can know.
func filesKnown(a *app.App, f *homes.FileHistory) {
	count := map[string]int64{}
	for _, s := range f.Files {
		if s.Did != "read" {
			count[s.Did]++
		}
		if s.Read() {
			count["read"]++
		}
	}
	a.Linef("%d read, %d modified, %d created, %d deleted, %d temporary", count["read"], count["modified"], count["created"], count["deleted"], count["temporary"])
	switch {
	case !f.Captured:
		a.Linef("its files were not captured (%s): what commands changed is not known, only what its tools read and wrote", display.Line(f.Why, 300))
	case f.Why != "":
		a.Linef("its files are not captured any more: %s", display.Line(f.Why, 300))
	}
	if f.Missing > 0 {
		a.Linef("%s not kept any more: what is between is listed with the next one", are(f.Missing, "capture"))
	}
	if f.Outside > 0 {
		a.Linef("%s changed meanwhile, by no act of the session", display.Count(int64(f.Outside), "other file"))
	}
	if f.LeftOut > 0 {
		a.Linef("%d more are left out", f.LeftOut)
	}
}

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return display.Count(int64(n), what) + " are"
}

// touchedTable lists each file with what became of it last.
func touchedTable(a *app.App, f *homes.FileHistory) error {
	if len(f.Files) == 0 {
		return nil
	}
	rows := [][]string{{"WHAT", "FILE", "SIZE", "DIGEST", "TIME", "TIMES", "BY"}}
	for _, s := range f.Files {
		t := s.Newest()
		by := whoTouched(t)
		if s.Left() {
			by = "(changed by others since) " + by
		}
		rows = append(rows, []string{
			s.Did, inside(a, f.Dir, s.Path), sized(t), short(t.Digest), a.When(int64(t.Time)), fmt.Sprint(len(s.Touches)), by,
		})
	}
	a.Linef("")
	return a.TableWith(rows, func(head, cell string) ansi.Style {
		if head == "DIGEST" || head == "TIME" {
			return a.Styles().Quiet
		}
		return nil
	})
}

// inside is a path below the session's directory without that, or the whole path.
func inside(a *app.App, dir, path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/"); ok && filepath.IsAbs(dir) {
		return rest
	}
	return a.Tilde(path)
}

func sized(t homes.FileTouch) string {
	if t.Digest.IsZero() {
		return "-"
	}
	return display.Bytes(t.Size)
}

func short(d store.Digest) string {
	if d.IsZero() {
		return "-"
	}
	return d.String()[:12]
}

// whoTouched says which act touched a file.
func whoTouched(t homes.FileTouch) string {
	words := []string{t.By}
	if t.Act != "" {
		words = []string{session.BaseOf(t.Act), t.By}
	}
	if len(t.Tasks) > 0 {
		words = append(words, "(or "+strings.Join(t.Tasks, ", ")+")")
	}
	if t.About != "" {
		words = append(words, t.About)
	}
	return strings.Join(words, " ")
}

// filesKept says what was not kept, and what is kept.
func filesKept(a *app.App, f *homes.FileHistory) {
	section(a, "not kept", f.NotKept, func(n homes.NotKept) {
		text := n.Path + ": " + n.Why
		if n.Files > 0 {
			text += ", " + display.Count(n.Files, "file")
		}
		if n.Bytes > 0 {
			text += ", " + display.Bytes(n.Bytes)
		}
		itemf(a, "%s", text)
	})
	section(a, "not captured", f.Failures, func(n homes.NotCaptured) { itemf(a, "%s  event %d: %s", a.When(int64(n.Time)), n.Seq, n.Why) })
	trees := func(name string, kept []homes.KeptTree) {
		var lines []entry
		for _, k := range kept {
			lines = append(lines, entry{words: []string{k.Moment, atEvent(k.Seq), a.When(int64(k.Time))}, text: short(k.Tree)})
		}
		listed(a, name, lines)
	}
	trees("points that undo goes back to", f.Points)
	trees("checkpoints", f.Checkpoints)
	var lines []entry
	for _, k := range f.Artifacts {
		lines = append(lines, entry{words: []string{k.Name, atEvent(k.Seq), a.When(int64(k.Time)), display.Bytes(k.Size)}, text: short(k.Digest)})
	}
	listed(a, "artifacts", lines)
}

// atEvent names an event; what a fork has inherited is of its parent's log.
func atEvent(seq int64) string {
	if seq <= 0 {
		return "before the fork"
	}
	return fmt.Sprintf("event %d", seq)
}

func listed(a *app.App, name string, lines []entry) {
	if len(lines) > 0 {
		heading(a, name)
		columned(a, lines)
	}
}

// filesLine is what show says of files in one line.
func filesLine(files view.Files, w *session.Workspace) string {
	var parts []string
	if n := len(files.Read) + len(files.Modified) + len(files.Created); n > 0 {
		parts = append(parts, fmt.Sprintf("%d read, %d modified, %d created", len(files.Read), len(files.Modified), len(files.Created)))
	}
	var kept []string
	for _, k := range []struct {
		n    int
		what string
	}{{len(w.Points), "point"}, {len(w.Checkpoints), "checkpoint"}, {len(w.Artifacts), "artifact"}} {
		if k.n > 0 {
			kept = append(kept, display.Count(int64(k.n), k.what))
		}
	}
	if len(kept) > 0 {
		parts = append(parts, strings.Join(kept, ", "))
	}
	if w.Refused != "" {
		parts = append(parts, "not captured: "+w.Refused)
	}
	return strings.Join(parts, "; ")
}
