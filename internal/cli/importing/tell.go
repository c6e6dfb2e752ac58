package importing

import (
	"path"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/restore"
)

// tell says what is about to be taken in, and what of it will not hold here.
func tell(a *app.App, in *homes.Arrival, dir string) {
	line := func(text string) string { return strconv.Quote(display.Line(text, 200)) }
	st := in.State
	name := ""
	if st.Title != "" {
		name = " " + line(st.Title)
	}
	a.Note("session %s%s: %s, %s, written %s by %s", in.Session, name, display.Count(in.Events, "event"), display.Bytes(in.Bytes()), a.Local(in.Written), line(in.Program))
	if back := in.Back; back != nil {
		a.Hint("it is here, %s, up to event %d: it comes back, and goes on with the %d that follow", back.Lifecycle, back.Head.Seq, in.Head.Seq-back.Head.Seq)
	}
	a.Hint("it belonged to %s, and belongs to %s now", line(st.Config.Root), line(dir))
	if in.Rewritten {
		a.Hint("secrets were replaced in it: its events are not those of the original")
	}
	if in.Ignored && in.Blobs > 0 {
		a.Hint("files that git ignores are in it, such as .env may be, and are written with the others")
	}
	if in.Logs > 1 {
		a.Hint("it is a fork: %s come with it, closed, as far as they are not here", display.Count(in.Logs-1, "log"))
	}
	if n := len(st.Permissions.Grants); n > 0 {
		a.Hint("dropped: %s", display.Count(int64(n), "grant"))
	}
	if n := len(st.Env); n > 0 {
		a.Hint("unset: %s that it exported", display.Count(int64(n), "variable"))
	}
	if in.Running > 0 {
		a.Hint("%s ran there, and stay there", display.Count(int64(in.Running), "task"))
	}
	a.Hint("thinking that its model sealed is good for the account that it was made with, and may be refused for another: --model on the next run leaves it out")
}

// size reads a number of bytes as 500M or 64G; empty is 0, the usual bound.
func size(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, unit := text, int64(1)
	for suffix, n := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(text), suffix); ok {
			number, unit = rest, n
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > (1<<56)/unit {
		return 0, app.UsageError("--max-size %q: use a size as 500M or 64G", text)
	}
	return n * unit, nil
}

// maxMissing bounds the paths that are named.
const maxMissing = 10

// tellMissing names what of a session's files is not in the directory. Git's own is not among its files.
func tellMissing(a *app.App, missing []restore.Kept) {
	n := 0
	for _, k := range missing {
		if path.Base(k.Path) == ".git" {
			continue
		}
		if n++; n <= maxMissing {
			why := string(k.Why)
			if k.With != "" {
				why += ": " + k.With
			}
			a.Hint("not written: %s: %s", display.Line(k.Path, 200), display.Line(why, 300))
		}
	}
	if n > maxMissing {
		a.Hint("and %d more that are not written", n-maxMissing)
	}
}
