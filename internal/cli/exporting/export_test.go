package exporting_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

func TestExportGolden(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	w.Golden("export_md", w.OK("export", "one", "--format", "md"))
	w.Golden("export_html", w.OK("export", "one", "--format", "html"))
	w.Golden("export_jsonl", w.OK("export", "one", "--format", "jsonl"))
}

var user = store.Actor{Type: store.ActorUser, ID: "tester"}

// prompts gives a session messages, each the prompt of a turn.
func prompts(w *clitest.World, id string, content ...[]model.Part) {
	w.T.Helper()
	w.Create(id)
	for i, c := range content {
		o := w.Run("log", id, "--json")
		head := int64(strings.Count(o.Stdout, "\n"))
		w.Append(id, user, &session.MessageReceived{Content: c})
		seq := head + 1
		for _, l := range clitest.Lines(w.T, w.OK("log", id, "--json")) {
			if l["kind"] == "message.received" {
				seq = int64(l["seq"].(float64))
			}
		}
		w.Append(id, user, &session.TurnStarted{N: i + 1, Message: seq}, &session.TurnEnded{N: i + 1, Stop: session.TurnEndTurn})
	}
}

func text(s string) []model.Part { return []model.Part{model.TextPart(s)} }

// A key that the environment names, one of a well-known shape and a private key are in no format, and are counted.
func TestSecretsAreHidden(t *testing.T) {
	w := clitest.New(t)
	shaped, known := "sk-"+"ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7xY9z", "tr0ub4dor-and-more"
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\"IBAAKC\n-----END RSA PRIVATE KEY-----"
	prompts(w, "one", text("use "+shaped+" and\n"+pem+"\nand <"+known+">"))
	w.App.Environ = append(w.App.Environ, "DEPLOY_TOKEN="+known) // it was not known when it was written
	for _, format := range []string{"md", "html", "jsonl"} {
		o := w.Run("export", "one", "--format", format)
		for _, secret := range []string{shaped, known, "MIIEow"} {
			if o.Code != 0 || strings.Contains(o.Stdout, secret) {
				t.Errorf("%s, exit %d: %q is in it\n%s", format, o.Code, secret, o.Stdout)
			}
		}
		if !strings.Contains(o.Stderr, "3 secrets hidden; --with-secrets leaves what they stand for") || !strings.Contains(o.Stdout, "DEPLOY") {
			t.Errorf("%s: %s\n%s", format, o.Stderr, o.Stdout)
		}
		bare := w.Run("export", "one", "--format", format, "--with-secrets")
		if !strings.Contains(bare.Stdout, shaped) || !strings.Contains(bare.Stdout, known) || !strings.Contains(bare.Stderr, "keep it as you keep them") {
			t.Errorf("%s with secrets: %s\n%s", format, bare.Stderr, bare.Stdout)
		}
	}
}

// Lines are the events as log prints them, after a head; a fork's begin with those of its parent.
func TestLinesAreTheLog(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	w.OK("fork", "one", "--id", "two")
	head, events, _ := strings.Cut(w.OK("export", "two", "--format", "jsonl"), "\n")
	var h map[string]any
	if err := json.Unmarshal([]byte(head), &h); err != nil || h["format"] != "perdure.events" || h["version"] != 1.0 || h["redacted"] != true {
		t.Errorf("%v: %s", err, head)
	}
	if want := w.OK("log", "two", "--json", "--ancestors"); events != want {
		t.Errorf("%s\nwant\n%s", events, want)
	}
}

// The page holds nothing that runs or loads, and says so to the browser.
func TestPageIsClosed(t *testing.T) {
	w := clitest.New(t)
	png := []byte("\x89PNG\r\n\x1a\nrest")
	prompts(w, "one", append(text("</title><script>alert(1)</script> <img src=http://x/> [a](javascript:b) \x1b]0;title\a"),
		model.Part{Type: model.BlockImage, Media: "image/png", Data: png},
		model.Part{Type: model.BlockImage, Media: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")},
		model.Part{Type: model.BlockImage, Media: "image/png", Data: []byte("<svg onload=alert(2)>")},
		model.Part{Type: model.BlockImage, Media: `image/png" onerror="alert(3)`, Data: png},
		model.Part{Type: model.BlockImage, Media: "image/png", Data: append(png, make([]byte, 3<<20)...)},
	))
	w.OK("rename", "one", "</title><script>alert(0)</script>")
	page := w.OK("export", "one", "--format", "html")
	if !strings.Contains(page, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-`) {
		t.Error("no policy")
	}
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) {
		name := regexp.MustCompile(`^</?([a-zA-Z0-9!]+)`).FindStringSubmatch(tag)
		if name == nil || slices.Contains([]string{"script", "svg", "iframe", "object", "embed", "link", "form", "base"}, name[1]) ||
			regexp.MustCompile(`\son\w+=`).MatchString(strings.ReplaceAll(tag, "&#34;", "")) && !strings.Contains(tag, "&#34;") {
			t.Errorf("tag %s", tag)
		}
	}
	if n := strings.Count(page, "<img "); n != 1 || !strings.Contains(page, `src="data:image/png;base64,iVBORw0KGgpyZXN0">`) {
		t.Errorf("%d images", n)
	}
	for _, want := range []string{"image/svg+xml, 21 B", "image/png, 3.0 MiB", "&lt;/title&gt;&lt;script&gt;alert(0)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.ContainsAny(page, "\x1b\a") || strings.Contains(page, "javascript:b\"") {
		t.Error("what a terminal or a browser obeys is in it")
	}
}

// A file is written whole, for its owner alone, and never over another one unasked.
func TestFileIsNew(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	o := w.Run("export", "one", "-o", "out.html")
	file := filepath.Join(w.Dir, "out.html")
	info, err := os.Stat(file)
	if err != nil || o.Code != 0 || info.Mode().Perm() != 0o600 || o.Stdout != "" || !strings.Contains(o.Stderr, "wrote ~/out.html, ") {
		t.Fatalf("%v %d %s", err, o.Code, o.Stderr)
	}
	if b, _ := os.ReadFile(file); !strings.HasPrefix(string(b), "<!DOCTYPE html>") {
		t.Error("the name of the file does not choose the format")
	}
	clitest.WriteFile(t, file, "mine")
	w.Fails(2, "is there already: it is left alone", "export", "one", "-o", "out.html")
	if b, _ := os.ReadFile(file); string(b) != "mine" {
		t.Errorf("%q", b)
	}
	w.OK("export", "one", "-o", file, "--force", "--format", "md")
	if b, _ := os.ReadFile(file); !strings.HasPrefix(string(b), "# ") {
		t.Errorf("%q", b)
	}
	if err := os.Symlink("/dev/null", filepath.Join(w.Dir, "null")); err != nil {
		t.Fatal(err)
	}
	w.Fails(2, "no regular file", "export", "one", "-o", "null", "--force")
	w.Fails(1, "no such file or directory", "export", "one", "-o", "gone/out.md")
	w.Fails(4, "no session", "export", "nobody", "-o", "other.md")
	if left, _ := filepath.Glob(filepath.Join(w.Dir, ".perdure-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestExportRefusesNonsense(t *testing.T) {
	w := clitest.New(t)
	w.Fails(2, `format "pdf": use one of bundle, md, html, jsonl`, "export", "one", "--format", "pdf")
	w.Fails(2, "--force goes with -o", "export", "one", "--force")
	w.Fails(2, "want a session", "export")
}
