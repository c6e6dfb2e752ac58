package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/handoff"
)

// handed is a session's handoff.
func handed(session string, seq int64, goal string) []byte {
	return handoff.Render(handoff.Document{Session: session, Seq: seq, Written: testTime.Add(time.Duration(seq) * time.Second), Goal: goal})
}

func byOf(session string, seq int64) By { return By{Session: session, Seq: seq, Source: SourceModel} }

func (w *world) hand(session string, seq int64, goal, over string) WrittenHandoff {
	w.Helper()
	out, err := w.open().Handoffs().Write(context.Background(), handed(session, seq, goal), over, byOf(session, seq))
	if err != nil {
		w.Fatal(err)
	}
	return out
}

func (w *world) lies() []HandoffFile {
	w.Helper()
	all, err := w.open().Handoffs().All()
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func (w *world) archive(read ...HandoffFile) []string {
	w.Helper()
	paths, err := w.open().Handoffs().Archive(context.Background(), read...)
	if err != nil {
		w.Fatal(err)
	}
	return paths
}

// texts is everything that any handoff of a world says, in the history too, wherever it lies.
func (w *world) texts() string {
	w.Helper()
	var b strings.Builder
	for _, dir := range []string{w.cfg.Home, w.cfg.Dir} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				b.WriteString(path + "\n" + cmp.Or(fileText(path), "(empty)") + "\n")
			}
			return err
		})
		if err != nil {
			w.Fatal(err)
		}
	}
	return b.String()
}

func consenting(t *testing.T) *world {
	w := newWorld(t)
	w.cfg.InProject = true
	return w
}

// Goal: what a session leaves the next one reads and puts away, in the home or, with consent, in the project; the history
// keeps the newest ten and overwrites nothing.
func TestHandoffIsWrittenReadAndArchived(t *testing.T) {
	for _, shared := range []bool{false, true} {
		w := newWorld(t)
		w.cfg.InProject = shared
		if f, ok, err := w.open().Handoffs().Read(); ok || err != nil {
			t.Fatalf("%+v, %v", f, err)
		}
		dir := filepath.Join(w.cfg.Home, "knowledge", Key(w.cfg.Dir))
		if shared {
			dir = filepath.Join(w.cfg.Dir, ".agent")
		}
		for i := range 13 {
			session := fmt.Sprint("s", i)
			out := w.hand(session, 5, "goal "+session, "")
			if out.Path != filepath.Join(dir, "HANDOFF.md") || len(out.Archived)+len(out.Beside) != 0 {
				t.Fatalf("%+v", out)
			}
			f, ok, err := w.open().Handoffs().Read()
			if err != nil || !ok || f.Path != out.Path || f.Digest != out.Digest || f.Session != session || f.Seq != 5 || !f.Intact || f.Foreign || f.Known || !f.Ours() {
				t.Fatalf("%+v, %v", f, err)
			}
			paths := w.archive(f)
			want := filepath.Join(dir, "handoff-history", "2026-04-08-1200.md")
			if i > 0 {
				want = filepath.Join(dir, "handoff-history", fmt.Sprintf("2026-04-08-1200-%d.md", i+1))
			}
			if len(paths) != 1 || paths[0] != want || len(w.lies()) != 0 {
				t.Fatalf("%q, want %q", paths, want)
			}
		}
		past, err := w.open().Handoffs().History()
		if err != nil || len(past) != 10 || past[0].Session != "s12" || past[9].Session != "s3" {
			t.Errorf("%d in the history, %v", len(past), err)
		}
		w.hand("s20", 1, "again", "")
		w.write(filepath.Join(dir, "handoff-history", "notes.md"), "mine")
		w.write(filepath.Join(dir, "handoff-history", "2026-04-09-0000.md"), "a later one, by hand")
		w.archive()
		if text := w.texts(); !strings.Contains(text, "mine") || !strings.Contains(text, "by hand") || !strings.Contains(text, "again") {
			t.Errorf("something is gone:\n%s", text)
		}
	}
}

// Two sessions that end at the same time in one directory: neither replaces what the other left, and each says that the
// other is there.
func TestSessionsDoNotReplaceEachOthersHandoffs(t *testing.T) {
	w := newWorld(t)
	first := w.hand("one", 5, "goal of one", "")
	second := w.hand("01890000-0000-7000-8000-0000deadbeef", 9, "goal of two", "")
	if filepath.Base(second.Path) != "HANDOFF-deadbeef.md" || !slices.Equal(second.Beside, []string{first.Path}) {
		t.Errorf("%+v", second)
	}
	if text := fileText(first.Path); !strings.Contains(text, "goal of one") || !strings.Contains(text, "Other handoffs beside this one: HANDOFF-deadbeef.md\n") {
		t.Errorf("%s", text)
	}
	if text := fileText(second.Path); !strings.Contains(text, "goal of two") || !strings.Contains(text, "Other handoffs beside this one: HANDOFF.md\n") {
		t.Errorf("%s", text)
	}
	again := w.hand("one", 6, "goal of one, later", first.Digest)
	if again.Path != first.Path || len(again.Archived) != 0 || len(w.lies()) != 2 || !strings.Contains(fileText(again.Path), "HANDOFF-deadbeef.md") {
		t.Errorf("%+v", again)
	}
	if _, err := w.open().Handoffs().Write(context.Background(), handed("one", 5, "an old one"), "", byOf("one", 5)); !errors.Is(err, ErrChanged) {
		t.Errorf("an older one replaces a later one: %v", err)
	}
	all := w.lies()
	if all[0].Session != "01890000-0000-7000-8000-0000deadbeef" || all[0].Intact != true {
		t.Errorf("the newest is not first: %+v", all[0])
	}
	w.archive(all[1])
	if text := fileText(second.Path); strings.Contains(text, "Other handoffs") {
		t.Errorf("it names what is no longer there: %s", text)
	}
	moved := w.hand("01890000-0000-7000-8000-0000deadbeef", 10, "goal of two, later", "")
	if filepath.Base(moved.Path) != "HANDOFF.md" || len(w.lies()) != 1 {
		t.Errorf("%+v: the same handoff lies there twice", moved)
	}
}

// What a session has read it may replace, and it is in the history then; what a person wrote or changed is never lost.
func TestWhatPeopleWroteIsKept(t *testing.T) {
	w := consenting(t)
	at := filepath.Join(w.cfg.Dir, ".agent", "HANDOFF.md")
	w.write(at, "# By hand\n\n## Next Step\ncall Ada\n")
	f, ok, err := w.open().Handoffs().Read()
	if err != nil || !ok || f.Ours() || f.Intact || f.Foreign {
		t.Fatalf("%+v, %v", f, err)
	}
	if out := w.hand("one", 1, "not read it", ""); filepath.Base(out.Path) != "HANDOFF-one.md" || !strings.Contains(fileText(at), "call Ada") {
		t.Errorf("%+v", out)
	}
	out := w.hand("one", 2, "read it", f.Digest)
	if out.Path != at || len(out.Archived) != 1 || !strings.Contains(fileText(out.Archived[0]), "call Ada") || len(w.lies()) != 1 {
		t.Errorf("%+v", out)
	}
	w.write(at, strings.Replace(fileText(at), "read it", "read it, says Ada", 1))
	if f, _, _ := w.open().Handoffs().Read(); f.Intact || f.Session != "one" {
		t.Errorf("%+v", f)
	}
	if _, err := w.open().Handoffs().Archive(context.Background(), HandoffFile{Path: at, Digest: out.Digest}); !errors.Is(err, ErrChanged) {
		t.Errorf("what changed since it was read was moved: %v", err)
	}
	out = w.hand("one", 3, "later", out.Digest)
	if out.Path != at || len(out.Archived) != 1 || !strings.Contains(fileText(out.Archived[0]), "says Ada") {
		t.Errorf("%+v", out)
	}
	w.write(at, "   \n")
	if len(w.lies()) != 0 {
		t.Error("an empty file is a handoff")
	}
	if out = w.hand("two", 1, "in an empty file", ""); out.Path != at {
		t.Errorf("%+v", out)
	}
}

// Goal: a handoff in the project's root keeps its place, also after it was archived; a session's files of that name
// pattern there are handoffs, other people's are not.
func TestHandoffInTheRoot(t *testing.T) {
	w := consenting(t)
	top := filepath.Join(w.cfg.Dir, "HANDOFF.md")
	w.write(top, "by hand")
	w.write(filepath.Join(w.cfg.Dir, "HANDOFF-notes.md"), "of somebody")
	f, ok, err := w.open().Handoffs().Read()
	if err != nil || !ok || f.Path != top || f.Foreign || len(w.lies()) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	if paths := w.archive(f); len(paths) != 1 || paths[0] != filepath.Join(w.cfg.Dir, ".agent", "handoff-history", "2026-04-08-1200.md") {
		t.Errorf("%q", paths)
	}
	first := w.hand("one", 1, "in the root", "")
	second := w.hand("two", 1, "beside it", "")
	if first.Path != top || second.Path != filepath.Join(w.cfg.Dir, "HANDOFF-two.md") || len(w.lies()) != 2 {
		t.Errorf("%+v, %+v", first, second)
	}
	w.archive()
	if len(w.lies()) != 0 || fileText(filepath.Join(w.cfg.Dir, "HANDOFF-notes.md")) != "of somebody" {
		t.Errorf("%+v", w.lies())
	}
	w.write(filepath.Join(w.cfg.Dir, ".agent", "HANDOFF.md"), "moved by hand")
	if out := w.hand("three", 1, "there", ""); out.Path != filepath.Join(w.cfg.Dir, ".agent", "HANDOFF-three.md") {
		t.Errorf("%+v", out)
	}
}

// Without consent a project's own handoff is read, and nothing in the project is written or moved.
func TestWithoutConsentTheProjectIsOnlyRead(t *testing.T) {
	for _, rel := range []string{"HANDOFF.md", ".agent/HANDOFF.md"} {
		w := newWorld(t)
		at := filepath.Join(w.cfg.Dir, rel)
		w.write(at, "of the project")
		before := listed(t, w.cfg.Dir)
		f, ok, err := w.open().Handoffs().Read()
		if err != nil || !ok || !f.Foreign || f.Known || f.Path != at {
			t.Fatalf("%+v, %v", f, err)
		}
		paths := w.archive(f)
		if len(paths) != 1 || !strings.HasPrefix(paths[0], w.cfg.Home) || fileText(paths[0]) != "of the project" {
			t.Errorf("%q", paths)
		}
		if f, _, _ = w.open().Handoffs().Read(); !f.Known {
			t.Errorf("nobody knows that it was read: %+v", f)
		}
		if again := w.archive(f); len(again) != 1 || again[0] != paths[0] {
			t.Errorf("%q: it is in the history twice", again)
		}
		out := w.hand("one", 1, "in the home", f.Digest)
		if !strings.HasPrefix(out.Path, w.cfg.Home) || len(out.Beside) != 0 {
			t.Errorf("%+v", out)
		}
		if f, _, _ = w.open().Handoffs().Read(); f.Session != "one" {
			t.Errorf("what was read before comes first: %+v", f)
		}
		if after := listed(t, w.cfg.Dir); after != before || fileText(at) != "of the project" {
			t.Errorf("the project was changed: %s, %s", before, after)
		}
	}
}

func listed(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			info, _ := d.Info()
			fmt.Fprintln(&b, path, info.Mode(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Goal: no link leads out, whatever of the way is one, and what cannot be read is nobody's to replace.
func TestHandoffFollowsNoLink(t *testing.T) {
	for _, rel := range []string{".agent/HANDOFF.md", ".agent/HANDOFF-one.md", ".agent/handoff-history", ".agent", "HANDOFF.md"} {
		w := consenting(t)
		out := filepath.Join(filepath.Dir(w.cfg.Dir), "outside")
		w.write(filepath.Join(out, "HANDOFF.md"), "outside")
		at := filepath.Join(w.cfg.Dir, rel)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		to := out
		if strings.HasSuffix(rel, ".md") {
			to = filepath.Join(out, "HANDOFF.md")
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		before := listed(t, out)
		f, ok, err := w.open().Handoffs().Read()
		if ok && strings.Contains(string(f.Text), "outside") {
			t.Errorf("%s: the link was read", rel)
		}
		if strings.HasSuffix(rel, "HANDOFF.md") && !errors.Is(err, ErrLink) {
			t.Errorf("%s: nobody is told: %v", rel, err)
		}
		for i, session := range []string{"one", "two"} {
			_, _ = w.open().Handoffs().Write(context.Background(), handed(session, int64(i+1), "x"), "", byOf(session, int64(i+1)))
			_, _ = w.open().Handoffs().Archive(context.Background())
		}
		if after := listed(t, out); after != before {
			t.Errorf("%s: something was done behind the link:\n%s\n%s", rel, before, after)
		}
		if info, err := os.Lstat(at); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is gone", rel)
		}
	}
}

// Goal: a file that is too long, and a directory, stay as they are; the session's lies beside them.
func TestUnreadableHandoffStays(t *testing.T) {
	for name, make := range map[string]func(w *world, at string){
		"too long":  func(w *world, at string) { w.write(at, strings.Repeat("x", handoff.MaxRead+1)) },
		"directory": func(w *world, at string) { w.write(filepath.Join(at, "file"), "x") },
	} {
		t.Run(name, func(t *testing.T) {
			w := consenting(t)
			at := filepath.Join(w.cfg.Dir, ".agent", "HANDOFF.md")
			make(w, at)
			before, _ := os.Lstat(at)
			if _, ok, err := w.open().Handoffs().Read(); ok || err == nil {
				t.Errorf("it is read: %v", err)
			}
			if out := w.hand("one", 1, "x", ""); filepath.Base(out.Path) != "HANDOFF-one.md" {
				t.Errorf("%+v", out)
			}
			w.lies2()
			if after, err := os.Lstat(at); err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
				t.Errorf("it changed: %v", err)
			}
		})
	}
}

// lies2 checks that what can be read is given although something cannot.
func (w *world) lies2() {
	w.Helper()
	all, err := w.open().Handoffs().All()
	if err == nil || len(all) != 1 || all[0].Session != "one" {
		w.Errorf("%+v, %v", all, err)
	}
}

// Goal: the history is in the order of time wherever its owner lives: names are in UTC.
func TestHandoffHistoryIsInTheOrderOfTime(t *testing.T) {
	w := newWorld(t)
	for i, zone := range []int{0, 9, -9, 3} {
		w.cfg.Now = func() time.Time {
			return testTime.Add(time.Duration(i) * time.Hour).In(time.FixedZone("there", zone*3600))
		}
		w.hand(fmt.Sprint("s", i), 1, "x", "")
		if paths := w.archive(); len(paths) != 1 || filepath.Base(paths[0]) != fmt.Sprintf("2026-04-08-%d00.md", 12+i) {
			t.Errorf("%q", paths)
		}
	}
	past, err := w.open().Handoffs().History()
	if err != nil || len(past) != 4 || past[0].Session != "s3" || past[3].Session != "s0" {
		t.Errorf("%d, %v", len(past), err)
	}
}

// What one project's session left is not read in another project, whatever their names are.
func TestHandoffBelongsToItsProject(t *testing.T) {
	w := newWorld(t)
	w.hand("one", 1, "of this project", "")
	other := newWorld(t)
	other.cfg.Home = w.cfg.Home
	if all := other.lies(); len(all) != 0 {
		t.Errorf("another project of the same name reads it: %+v", all)
	}
	if err := os.MkdirAll(filepath.Join(w.cfg.Dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	below := *w
	below.cfg.Dir = filepath.Join(w.cfg.Dir, "below")
	if all := below.lies(); len(all) != 1 {
		t.Errorf("the project's own directories do not: %+v", all)
	}
}

// Goal: what is no handoff of the session that writes it is refused.
func TestHandoffOfAnotherSessionIsRefused(t *testing.T) {
	w := newWorld(t)
	changed := append(handed("one", 1, "x"), "more\n"...)
	for name, c := range map[string]struct {
		text []byte
		by   By
	}{
		"no header": {[]byte("x"), byOf("one", 1)}, "another session": {handed("two", 1, "x"), byOf("one", 1)}, "another seq": {handed("one", 2, "x"), byOf("one", 1)},
		"changed": {changed, byOf("one", 1)}, "a name that leads away": {handed("../x", 1, "x"), byOf("../x", 1)},
	} {
		if _, err := w.open().Handoffs().Write(context.Background(), c.text, "", c.by); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if w.texts() != "" {
		t.Error("something was written")
	}
	if _, err := w.open().Handoffs().Archive(context.Background(), HandoffFile{Path: filepath.Join(w.cfg.Dir, "main.go")}); err == nil {
		t.Error("any file can be archived")
	}
}

// Goal: a document of others does not have its reader told what lies outside of the project.
func TestNothingOutsideOfTheProjectIsLookedAt(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	m, err := Open(Config{Home: t.TempDir(), Dir: dir, InProject: true})
	if err != nil {
		t.Fatal(err)
	}
	text := "## Done\n- " + elsewhere + "/secret.pem is there\n- " + dir + "/gone.go is done\n"
	_, stale, err := m.Handoffs().Look(context.Background(), HandoffFile{Text: []byte(text), Written: time.Now()}, time.Now())
	if err != nil || len(stale.Things) != 1 || stale.Things[0].Name != dir+"/gone.go" {
		t.Errorf("%v, %+v", err, stale)
	}
}
