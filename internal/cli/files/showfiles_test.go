package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// touch and story are what show --files --json says of a file.
type touch struct {
	Did, By, Act, About string
	Digest              string
	Before              string `json:"digest_before"`
	Size, Seq           int64
	Time                string
	Tasks               []string
}

type story struct {
	Path, Did string
	Touches   []touch
}

type told struct {
	Captured    bool
	Why         string
	Missing     int
	Outside     int
	Files       []story
	NotKept     []struct{ Path, Why string } `json:"not_kept"`
	Points      []struct{ Moment, Tree string }
	Checkpoints []struct{ Moment string }
	Artifacts   []struct{ Name, Act string }
}

func (p *project) told(id string) (out told, by map[string]story) {
	p.T.Helper()
	if err := json.Unmarshal([]byte(p.OK("show", id, "--files", "--json")), &out); err != nil {
		p.T.Fatal(err)
	}
	by = map[string]story{}
	for _, s := range out.Files {
		by[strings.TrimPrefix(s.Path, p.dir+"/")] = s
	}
	return out, by
}

func sum(text string) string { return store.Sum([]byte(text)).String() }

const worksOnFiles = `{"turns":[{"match":"first","steps":[
	{"tools":[{"name":"Read","input":{"file_path":"old.txt"}},{"name":"Write","input":{"file_path":"new.txt","content":"hello\n"}}]},
	{"tools":[{"name":"Bash","input":{"command":"rm gone.txt; echo y >> old.txt; mkdir node_modules; touch node_modules/a; echo t > tmp.txt"}}]},
	{"tools":[{"name":"Edit","input":{"file_path":"new.txt","old_string":"hello","new_string":"bye"}}]},
	{"tools":[{"name":"Bash","input":{"command":"rm tmp.txt; chmod 700 run.sh"}}]},{"text":"done"}]},
	{"match":"second","steps":[{"tools":[{"name":"Bash","input":{"command":"true"}}]},{"text":"done"}]}]}`

// Each file that the session touched is listed with what became of it, by which act, with both digests: also what shell
// commands changed and deleted, which no tool has told of.
func TestShowFilesNamesEachActAndDigest(t *testing.T) {
	p := newProject(t)
	p.write("old.txt", "a\n")
	p.write("gone.txt", "g\n")
	p.write("run.sh", "s\n")
	m := p.Scripted(worksOnFiles)
	p.run(m, "first")
	p.OK("checkpoint", "s", "--name", "good")
	p.OK("artifact", "add", "s", filepath.Join(p.dir, "new.txt"))
	all, by := p.told("s")
	if !all.Captured || all.Why != "" || all.Missing != 0 || all.Outside != 0 || len(all.Points) != 1 || len(all.Checkpoints) != 1 || len(all.Artifacts) != 1 ||
		len(all.NotKept) != 1 || all.NotKept[0].Path != "node_modules" || all.NotKept[0].Why == "" {
		t.Errorf("%+v", all)
	}
	for _, want := range []struct {
		path, did string
		touches   []touch
	}{
		{"gone.txt", "deleted", []touch{{Did: "deleted", By: "Bash", Act: "t1.s2.b1.a1", Before: sum("g\n")}}},
		{"new.txt", "created", []touch{
			{Did: "created", By: "Write", Act: "t1.s1.b2.a1", Digest: sum("hello\n"), Size: 6},
			{Did: "modified", By: "Edit", Act: "t1.s3.b1.a1", Digest: sum("bye\n"), Before: sum("hello\n"), Size: 4},
		}},
		{"old.txt", "modified", []touch{
			{Did: "read", By: "Read", Act: "t1.s1.b1.a1", Digest: sum("a\n"), Size: 2},
			{Did: "modified", By: "Bash", Act: "t1.s2.b1.a1", Digest: sum("a\ny\n"), Before: sum("a\n"), Size: 4},
		}},
		{"run.sh", "modified", []touch{{Did: "mode", By: "Bash", Act: "t1.s4.b1.a1", Digest: sum("s\n"), Before: sum("s\n"), Size: 2}}},
		{"tmp.txt", "temporary", []touch{
			{Did: "created", By: "Bash", Act: "t1.s2.b1.a1", Digest: sum("t\n"), Size: 2}, {Did: "deleted", By: "Bash", Act: "t1.s4.b1.a1", Before: sum("t\n")},
		}},
	} {
		got := by[want.path]
		if got.Did != want.did || len(got.Touches) != len(want.touches) {
			t.Errorf("%s: %+v", want.path, got)
			continue
		}
		for i, w := range want.touches {
			g := got.Touches[i]
			if g.Seq == 0 || g.Time == "" || w.By == "Bash" && !strings.Contains(g.About, "tmp.txt") {
				t.Errorf("%s: %+v", want.path, g)
			}
			g.Seq, g.Time, g.About = 0, "", ""
			if g.Did != w.Did || g.By != w.By || g.Act != w.Act || g.Digest != w.Digest || g.Before != w.Before || g.Size != w.Size {
				t.Errorf("%s: touch %d\n%+v, want\n%+v", want.path, i+1, g, w)
			}
		}
	}
	if len(by) != 5 {
		t.Errorf("%d files: %v", len(by), by)
	}
	if out := p.OK("show", "s"); !strings.Contains(out, "1 point, 1 checkpoint, 1 artifact") {
		t.Errorf("show: %s", out)
	}
	p.Fails(2, "two views", "show", "s", "--files", "--context")
}

// What others changed between the turns is not the session's doing, and is said beside its own.
func TestShowFilesKeepsOthersWorkApart(t *testing.T) {
	p := newProject(t)
	p.write("old.txt", "a\n")
	p.write("gone.txt", "g\n")
	p.write("run.sh", "s\n")
	m := p.Scripted(worksOnFiles)
	p.run(m, "first")
	p.write("mine.txt", "mine\n")
	p.write("new.txt", "by hand\n")
	p.run(m, "second")
	all, by := p.told("s")
	if _, listed := by["mine.txt"]; listed || all.Outside != 1 {
		t.Errorf("mine.txt is listed as the session's, or not counted: %+v", all)
	}
	if ts := by["new.txt"].Touches; len(ts) != 3 || ts[2].By != "outside" || ts[2].Digest != sum("by hand\n") || ts[2].Act != "" {
		t.Errorf("new.txt: %+v", ts)
	}
	if out := p.OK("show", "s", "--files"); !strings.Contains(out, "1 other file") || !strings.Contains(out, "(changed by others since) t1.s3.b1 Edit") {
		t.Errorf("%s", out)
	}
	p.OK("undo", "s", "--yes")
	_, by = p.told("s")
	if ts := by["gone.txt"].Touches; len(ts) != 2 || ts[1].By != "restore" || ts[1].Did != "created" || ts[1].Digest != sum("g\n") {
		t.Errorf("after an undo: %+v", ts)
	}
}

// A session of a home that keeps no files says so, and lists what its tools told; names cannot reach the terminal.
func TestShowFilesOfASessionWithoutCaptures(t *testing.T) {
	p := newProject(t)
	p.Create("old")
	p.Append("old", store.Actor{Type: store.ActorTool},
		&session.FileSeen{File: session.File{Path: p.dir + "/a\x1b[31m.txt", Use: session.FileCreated, Digest: store.Sum([]byte("x")), Size: 1}},
		&session.FileSeen{File: session.File{Path: "/elsewhere/b", Use: session.FileRead, Digest: store.Sum([]byte("y")), Size: 1}})
	all, by := p.told("old")
	if all.Captured || all.Why == "" || len(all.Files) != 2 || by["/elsewhere/b"].Did != "read" {
		t.Errorf("%+v", all)
	}
	out := p.OK("show", "old", "--files")
	if !strings.Contains(out, "its files were not captured") || !strings.Contains(out, "/elsewhere/b") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
}

// Where captures were lost or thinned, what is between is still told of, once, and nothing fails.
func TestShowFilesWithoutTheBytesOfItsCaptures(t *testing.T) {
	p := newProject(t)
	p.write("old.txt", "a\n")
	p.write("gone.txt", "g\n")
	p.write("run.sh", "s\n")
	p.run(p.Scripted(worksOnFiles), "first")
	if err := os.RemoveAll(filepath.Join(p.Home, "blobs")); err != nil {
		t.Fatal(err)
	}
	all, by := p.told("s")
	if all.Missing == 0 || by["new.txt"].Did != "created" || by["old.txt"].Did != "read" {
		t.Errorf("%+v", all)
	}
	if out := p.OK("show", "s", "--files"); !strings.Contains(out, "not kept any more") {
		t.Errorf("%s", out)
	}
}
