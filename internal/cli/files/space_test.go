package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/homes"
)

// A file that is kept with a session is written again as it was, over no other file, whatever became of the first.
func TestGoldenArtifacts(t *testing.T) {
	w := clitest.New(t)
	w.Create("keeps")
	file := filepath.Join(w.Dir, "report.txt")
	clitest.WriteFile(t, file, "all is well\n")
	out := w.OK("artifact", "add", "keeps", file, "--note", "of \x1b[31mtoday")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	out += w.OK("artifact", "list", "keeps") + w.OK("artifact", "list", "keeps", "--json") + w.OK("artifact", "get", "keeps", "report.txt")
	w.Golden("artifacts", out)

	there := filepath.Join(w.Dir, "there")
	clitest.WriteFile(t, there, "mine")
	w.Fails(2, "left alone", "artifact", "get", "keeps", "report.txt", "-o", there)
	if b, err := os.ReadFile(there); string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	w.OK("artifact", "get", "keeps", "report.txt", "-o", there, "--force")
	if b, err := os.ReadFile(there); string(b) != "all is well\n" {
		t.Errorf("%q, %v", b, err)
	}
	w.Fails(4, "no such artifact", "artifact", "get", "keeps", "none")
	w.Fails(2, "no regular file", "artifact", "add", "keeps", w.Dir)
	w.Fails(2, "--name", "artifact", "add", "keeps", "-")
	w.Fails(1, "can be printed", "artifact", "add", "keeps", there, "--name", "a\x1b[2J")
	if entries, err := os.ReadDir(w.Dir); err != nil || len(entries) > 3 {
		t.Errorf("%v, %v: what did not work left something", entries, err)
	}
}

// On a screen, an artifact goes into a file of its name only if that is a plain one, in this directory.
func TestAnArtifactsNameLeadsNowhere(t *testing.T) {
	w := clitest.New(t)
	w.Create("keeps")
	file := filepath.Join(w.Dir, "f")
	clitest.WriteFile(t, file, "x")
	names := []string{"../up", "/etc/up", ".bashrc", "-o", "a/b"}
	for _, name := range names {
		w.OK("artifact", "add", "keeps", file, "--name="+name)
	}
	w.App.Screen = true
	for _, name := range names {
		w.Fails(2, "say -o FILE", "artifact", "get", "keeps", "--", name)
	}
}

// What a deleted session kept is told as what can go, and goes; what another one keeps is told as its own.
func TestSpaceIsToldAndGivenBack(t *testing.T) {
	w := clitest.New(t)
	w.Create("stays")
	w.Create("goes")
	small, big := filepath.Join(w.Dir, "small"), filepath.Join(w.Dir, "big")
	clitest.WriteFile(t, small, "small")
	random := strings.Builder{}
	for i, x := 0, uint32(1); i < 1<<20; i++ {
		x = x*1664525 + 1013904223
		random.WriteByte(byte(x >> 24))
	}
	clitest.WriteFile(t, big, random.String())
	w.OK("artifact", "add", "stays", small)
	w.OK("artifact", "add", "goes", big)
	space := func() (s homes.Space) {
		t.Helper()
		if err := json.Unmarshal([]byte(w.OK("du", "--json")), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := space(); len(s.Sessions) != 2 || s.Sessions[0].ID != "goes" || s.Sessions[0].Own < 1<<20 || s.Free > 1<<16 {
		t.Errorf("%+v", s)
	}
	if out := w.OK("du"); !strings.Contains(out, "captured files") || !strings.Contains(out, "stays") {
		t.Error(out)
	}
	if out := w.OK("du", "goes"); !strings.Contains(out, "1.0 MiB") && !strings.Contains(out, "1 MiB") {
		t.Error(out)
	}
	w.Fails(2, "whole home", "du", "goes", "--sweep")
	w.OK("delete", "goes", "--yes")
	if s := space(); len(s.Sessions) != 1 || s.Free < 1<<20 {
		t.Errorf("after the deletion: %+v", s)
	}
	if out := w.OK("du", "--sweep"); !strings.Contains(out, "given back") {
		t.Error(out)
	}
	if s := space(); s.Free > 1<<16 || s.Files > 1<<20 {
		t.Errorf("after the sweep: %+v", s)
	}
	if out := w.OK("artifact", "get", "stays", "small"); out != "small" {
		t.Errorf("what stays: %q", out)
	}
}

// A session whose room is used up is said to be: by the run, du and show, and where a checkpoint is wanted, each time
// with the setting. The session goes on.
func TestASessionsFullRoomIsSaid(t *testing.T) {
	p := newProject(t)
	p.Configure("[files]\nsession_quota_mb = 2\n")
	m := p.Scripted(script(t, map[string]string{"make": "head -c 1500000 /dev/urandom > big"}))
	p.run(m, "make")
	o := p.Run("-p", "--dangerously-skip-permissions", "--model", m, "-r", "s", "make")
	if o.Code != 0 || o.Stdout != "done\n" || !strings.Contains(o.Stderr, "files.session_quota_mb") {
		t.Errorf("the run: %+v", o)
	}
	p.Fails(1, "files.session_quota_mb", "checkpoint", "s", "second")
	for _, args := range [][]string{{"du"}, {"du", "s"}, {"show", "s"}} {
		if o := p.Run(args...); o.Code != 0 || !strings.Contains(o.Stdout+o.Stderr, "used up (files.session_quota_mb") {
			t.Errorf("%q: %+v", args, o)
		}
	}
	p.Fails(1, "files.session_quota_mb", "undo", "s", "--yes") // what is there could not be brought back
	if err := os.Remove(filepath.Join(p.dir, "big")); err != nil {
		t.Fatal(err)
	}
	p.OK("undo", "s", "--yes")
	if out := p.OK("du", "s"); !strings.Contains(out, "of 2.0 MiB") {
		t.Error(out)
	}
}
