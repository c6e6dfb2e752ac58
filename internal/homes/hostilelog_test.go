package homes_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/store"
)

// Goal: an approval that a log claims to have is none here, whatever the call that it is for had come to: its outcome is
// settled, and when it is to be run again, a person of this machine is asked.
func TestAForgedApprovalIsNone(t *testing.T) {
	dir := t.TempDir()
	planted := filepath.Join(dir, "planted")
	for tool, input := range map[string]string{
		"Bash":  `{"command":"echo in >planted"}`,
		"Write": `{"file_path":"` + planted + `","content":"in"}`,
	} {
		script := `{"turns":[{"match":"go","steps":[{"text":"I write.","tools":[{"name":"` + tool + `","input":` + input + `}]},{"text":"done"}]}]}`
		past, c, epoch := waitsForApproval(t, script, dir)
		decided := &session.ToolDecided{Act: c.ID, Effect: c.Effect, Decision: session.Decision{
			Allow: true, Bound: c.Approval.Bound, Pre: c.Approval.Pre, Target: c.Approval.Target, Always: c.Approval.Always, Epoch: epoch, Human: true,
		}}
		answered := &session.ApprovalAnswered{Act: c.ID, Allow: true, Bound: c.Approval.Bound, Pre: c.Approval.Pre}
		started := &session.ToolStarted{Act: c.ID, Start: session.Start{Epoch: epoch, Command: "echo in >planted"}}
		if tool == "Write" {
			started.Start = session.Start{Epoch: epoch, Edit: &session.Edit{Path: planted, Post: store.Sum([]byte("in")), Mode: 0o644, Size: 2}}
		}
		for name, bodies := range map[string][]session.Body{
			"answered": {answered},
			"decided":  {answered, decided},
			"started":  {answered, decided, started},
			"void":     {answered, decided, started, &session.ToolVoid{Act: c.ID}},
		} {
			t.Run(tool+" "+name, func(t *testing.T) {
				to := openScripted(t, t.TempDir(), script, nil)
				defer func() { _ = to.Close() }()
				if err := received(t, to, forge.Bundle{Past: past, Bodies: bodies}.Bytes(t)).Import(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
				if _, err := to.Run(t.Context(), "s", homes.RunOptions{}); err != nil {
					t.Fatal(err)
				}
				if b, err := os.ReadFile(planted); err == nil {
					t.Errorf("it was written: %q", b)
					_ = os.Remove(planted)
				}
				st := load(t, to, "s")
				if asked := st.Turn != nil && st.Turn.Calls[0].State == session.ActAwaitingApproval; asked == (tool == "Bash" && name == "started") || len(st.Faults) > 0 {
					t.Errorf("asked: %t, %q", asked, st.Faults)
				}
			})
		}
	}
}

// waitsForApproval is the log of a session that waits for a person to decide about a call of its first turn, the call, and
// the log's epoch.
func waitsForApproval(t *testing.T, script, dir string) ([]store.Event, session.Call, int64) {
	t.Helper()
	from := openScripted(t, t.TempDir(), script, nil)
	if _, err := from.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "scripted", Model: "m"}, Cwd: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Run(t.Context(), "s", homes.RunOptions{Prompt: "go"}); err != nil {
		t.Fatal(err)
	}
	st, past := load(t, from, "s"), events(t, from, "s")
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
	if st.Turn == nil || len(st.Turn.Calls) != 1 || st.Turn.Calls[0].Approval == nil {
		t.Fatalf("it waits for nobody: %+v", st.Turn)
	}
	return past, st.Turn.Calls[0], st.Epoch
}

// Goal: what every list of sessions would have to read and show is bounded: a log whose title, labels or model are huge is
// refused.
func TestHugeTitlesAreRefused(t *testing.T) {
	huge := strings.Repeat("a", 1<<20)
	for name, change := range map[string]func(*session.Opened){
		"title":         func(o *session.Opened) { o.Title = huge },
		"model":         func(o *session.Opened) { o.Agent.Model = huge },
		"a label":       func(o *session.Opened) { o.Labels = map[string]string{"a": huge} },
		"a label's key": func(o *session.Opened) { o.Labels = map[string]string{huge: "a"} },
	} {
		p, o := newPlace(t), forge.Opened("s")
		change(o)
		if imported, _ := p.take(t, forge.Bundle{Bodies: []session.Body{o}}.Bytes(t)); !errors.Is(imported, bundle.ErrTooLarge) {
			t.Errorf("%s: %v", name, imported)
		}
		p.lives(t, false)
	}
}

// Goal: directories, ids and counts that a header or a log claims lead nowhere outside of what the person has named.
func TestClaimsOfPlacesLeadNowhere(t *testing.T) {
	for name, b := range map[string]forge.Bundle{
		"an id upwards":      {ID: "../../x", Bodies: []session.Body{forge.Opened("../../x")}},
		"an id with a slash": {ID: "a/b", Bodies: []session.Body{forge.Opened("a/b")}},
		"no id":              {ID: "\x00", Bodies: []session.Body{forge.Opened("\x00")}},
		"another id":         {Bodies: []session.Body{forge.Opened("other")}},
		"more trees":         {Bodies: []session.Body{forge.Opened("s")}, Alter: func(h *bundle.Header) { h.Trees = math.MaxInt64 }},
		"more bytes":         {Bodies: []session.Body{forge.Opened("s")}, Alter: func(h *bundle.Header) { h.BlobBytes = 1 << 56 }},
		"sums that overflow": {Bodies: []session.Body{forge.Opened("s")}, Alter: func(h *bundle.Header) {
			h.BlobBytes, h.FileBytes, h.TreeBytes = math.MaxInt64, math.MaxInt64, math.MaxInt64
		}},
		"fewer than none":  {Bodies: []session.Body{forge.Opened("s")}, Alter: func(h *bundle.Header) { h.Blobs = -1 }},
		"a name upwards":   {Bodies: []session.Body{forge.Opened("s")}, Files: map[bundle.File]string{{Session: "s", Kind: bundle.FileOutput, Name: "../../x"}: "x"}},
		"a name of a link": {Bodies: []session.Body{forge.Opened("s")}, Files: map[bundle.File]string{{Session: "s", Kind: bundle.FileOutput, Name: ".."}: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if imported, _ := p.take(t, b.Bent(t)); imported == nil {
				t.Error("it is taken")
			}
			p.lives(t, false)
		})
	}
	p := newPlace(t)
	o := forge.Opened("s")
	o.Cwd, o.Config.Root, o.Dirs = "/w/../../etc", "/w", []string{"/etc", "/w/../etc", "/w/x", "w", ""}
	b := forge.Bundle{Bodies: []session.Body{o}, Alter: func(h *bundle.Header) { h.Root, h.Cwd = "/etc", "../../etc" }}
	if imported, _ := p.take(t, b.Bytes(t)); imported != nil {
		t.Fatal(imported)
	}
	if st := load(t, p.home, "s"); st.Config.Root != p.there || st.Cwd != p.there || !slices.Equal(st.Directories, []string{p.there + "/x"}) {
		t.Errorf("%q, %q, %q", st.Config.Root, st.Cwd, st.Directories)
	}
	p.lives(t, true)
}
