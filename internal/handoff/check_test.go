package handoff

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A handoff that names deleted files or rewritten code is worse than none: what is gone or changed is marked, with the
// document's age, before anybody reads it.
func TestStaleThingsAreMarked(t *testing.T) {
	d := Document{
		Session: "s-1", Written: written, Directory: "/work/shop", Branch: "main", Commit: "1f9c1f9",
		Goal:       "Serve POST /v1/charges and GET /v1/refunds, either/or, see https://example.com/a/b.html",
		Done:       []string{"/work/shop/kept.py:12 and payments/gone.py:45 (`payments/gone.py`), in a1b2c3d."},
		NotWorking: []string{"/work/shop/changed.py fails after commit 7654321; 1234567 rows, defaced, github.com/a/b.go"},
		State:      State{Commits: []string{"0badc0d the schema"}, Created: []string{"/work/shop/with blank.py", "/work/shop/line\nbreak"}, Changed: []string{"/work/shop/changed.py"}},
	}
	gone := []string{"/work/shop/payments/gone.py", "/work/shop/with blank.py", "/work/shop/line\nbreak", "/v1/charges", "/v1/refunds", "/v1"}
	var asked []string
	look := func(path string) (bool, bool) {
		asked = append(asked, path)
		return !slices.Contains(gone, path), path == "/work/shop/changed.py"
	}
	commit := func(hash string) bool { return hash == "1f9c1f9" }
	text := string(Render(d))
	for _, d := range []Document{d, parsed(t, text)} {
		s := Check(d, look, commit, written.Add(50*time.Hour))
		want := []Thing{
			{`"/work/shop/line\nbreak"`, KindFile, Gone},
			{"/work/shop/changed.py", KindFile, Changed},
			{"/work/shop/with blank.py", KindFile, Gone},
			{"0badc0d", KindCommit, Gone},
			{"7654321", KindCommit, Gone},
			{"a1b2c3d", KindCommit, Gone},
			{"payments/gone.py", KindFile, Gone},
		}
		got := slices.SortedFunc(slices.Values(s.Things), func(a, b Thing) int { return strings.Compare(a.Name, b.Name) })
		if s.Age != "2 days old" || !slices.Equal(got, want) {
			t.Errorf("%+v", s)
		}
		marked := Mark(text, s)
		if first, _, _ := strings.Cut(marked, "\n"); first != "[This handoff is 2 days old. Of what it names, 6 are gone and 1 has changed since it was written: look before you rely on it.]" {
			t.Errorf("%q", first)
		}
		has(t, marked, "/work/shop/kept.py:12 and payments/gone.py:45 [gone] (`payments/gone.py [gone]`), in a1b2c3d [gone].\n",
			"- /work/shop/changed.py [changed since] fails after commit 7654321 [gone]; 1234567 rows", "- Changed: /work/shop/changed.py [changed since]\n",
			"- Created: /work/shop/with blank.py [gone]\n", `- Created: "/work/shop/line\nbreak" [gone]`+"\n", "- Commit: 0badc0d [gone] the schema\n")
		if strings.Count(marked, "[gone]")+strings.Count(marked, "[changed since]") != 9 {
			t.Errorf("too many marks:\n%s", marked)
		}
	}
	paths, commits := Named(d)
	if !slices.Contains(paths, "/work/shop/payments/gone.py") || !slices.Equal(commits, []string{"1f9c1f9", "a1b2c3d", "7654321", "0badc0d"}) {
		t.Errorf("%q, %q", paths, commits)
	}
	if slices.ContainsFunc(asked, func(p string) bool { return !strings.HasPrefix(p, "/") }) {
		t.Errorf("asked: %q", asked)
	}
}

func parsed(t *testing.T, text string) Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Goal: where nothing can be looked up nothing is said to be gone, and a document without a date is of no known age.
func TestCheckWithoutSight(t *testing.T) {
	d := parsed(t, handWritten)
	if s := Check(d, nil, nil, written); len(s.Things) != 0 || s.Age != "just written" {
		t.Errorf("%+v", s)
	}
	has(t, Mark("x\n", Stale{}), "[Nobody knows how old this handoff is.]\n\nx\n")
	for at, want := range map[time.Duration]string{
		-time.Hour: "dated in the future", 30 * time.Second: "just written", time.Minute: "1 minute old", 59 * time.Minute: "59 minutes old",
		time.Hour: "1 hour old", 3*time.Hour + time.Minute: "3 hours old", 24 * time.Hour: "1 day old", 1000 * time.Hour: "41 days old",
	} {
		if got := age(written, written.Add(at)); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
	d.Directory = "/work"
	s := Check(d, func(path string) (bool, bool) { return path == "/work", false }, nil, written)
	if len(s.Things) != 2 || s.Things[0].Name != "payments/webhooks/subscription.py" {
		t.Errorf("%+v", s)
	}
}

// Goal: whatever stands in a text, marks are added to it and nothing of it is lost.
func FuzzMark(f *testing.F) {
	f.Add(handWritten)
	f.Add(string(Render(Of(input()))))
	f.Add("## State\n- Created: /a b\n- Changed: \"/a\\n\"\r\n** `/x/y.go:1` **(a/b.c)#L4")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse([]byte(text))
		if err != nil {
			return
		}
		d.Directory = "/work"
		for _, gone := range []bool{true, false} {
			s := Check(d, func(string) (bool, bool) { return !gone, !gone }, func(string) bool { return false }, written)
			_, marked, _ := strings.Cut(Mark(text, s), "\n\n")
			clean := strings.NewReplacer(" ["+Gone+"]", "", " ["+Changed+"]", "")
			if clean.Replace(marked) != clean.Replace(text) {
				t.Errorf("%q became %q", text, marked)
			}
		}
	})
}
