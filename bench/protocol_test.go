package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/learn"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
	"github.com/perdure/perdure/store"
)

// The target of a session that begins with all that earlier ones left: from the start of the process to its first request.
const maxProtocol = 120 * time.Millisecond

// protocol is a project of 1,000 commits in which earlier sessions left everything that a later one may begin with.
type protocol struct {
	home, config, root, sub string
	commits                 []string // the newest ten
	seq                     int64
}

func newProtocol(t *testing.T) *protocol {
	t.Helper()
	base := t.TempDir()
	p := &protocol{home: filepath.Join(base, "home"), config: filepath.Join(base, "config"), root: project(t)}
	p.sub = filepath.Join(p.root, "internal", "part")
	for dir, text := range map[string]string{
		filepath.Join(p.config, "perdure"): "Speak plainly.\n", p.root: "# Rules\n\nRun the tests of what you change.\n", p.sub: "Here, nothing is exported.\n",
	} {
		put(t, filepath.Join(dir, "AGENTS.md"), strings.Repeat(text, 40))
	}
	put(t, filepath.Join(p.config, "perdure", "config.toml"), "[knowledge]\nproject = \"on\"\nmin_session = \"0s\"\n")
	var stream strings.Builder
	for i := range 1000 {
		text, words := fmt.Sprintf("package part // %d\n", i), fmt.Sprintf("part %d: what is done here", i)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\nM 644 inline internal/part/f%d.go\ndata %d\n%s\n",
			time.Now().Unix()-100_000+int64(i), len(words), words, i%50, len(text), text)
	}
	p.git(t, "", "init", "-q", "-b", "main")
	p.git(t, stream.String(), "fast-import", "--quiet")
	p.git(t, "", "reset", "-q", "--hard")
	p.commits = strings.Fields(p.git(t, "", "log", "-10", "--format=%h"))
	p.remember(t)
	return p
}

func put(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p *protocol) git(t *testing.T, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = p.root, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func (p *protocol) knows() knowledge.Config {
	return knowledge.Config{Home: p.home, Dir: p.sub, InProject: true, Now: time.Now}
}

// remember notes 200 entries, 50 of them the user's, 200 lines of the journal, 100 proposals and a plan of 30 steps.
func (p *protocol) remember(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	m, err := knowledge.Open(p.knows())
	if err != nil {
		t.Fatal(err)
	}
	var found []learn.Found
	for i := range 200 {
		text, scope := fmt.Sprintf("Package number%d needs the server number%d", i, i*7), m.Project
		if i >= 150 {
			scope = m.User
		}
		_, err := scope.Add(ctx, knowledge.Addition{Text: text, Topic: fmt.Sprintf("Topic %d", i%8)}, knowledge.By{Source: knowledge.SourceUser})
		if err == nil {
			_, err = m.Journal().Add(ctx, fmt.Sprintf("Completed: part %d", i), time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			found = append(found, learn.Found{Tag: learn.Gotcha, Text: fmt.Sprintf("the parser number%d reads its input twice", i), Source: knowledge.SourceModel})
		}
	}
	if _, err := learn.Propose(ctx, p.knows(), found); err != nil {
		t.Fatal(err)
	}
	st := &session.State{ID: "earlier", Cwd: p.sub, Created: time.Now().UnixMilli(), Head: store.Head{Seq: 9}}
	for i := range 30 {
		st.Plan = append(st.Plan, session.Step{Content: fmt.Sprintf("step %d", i), Status: session.StepPlanned})
	}
	if written, err := workflow.Save(p.knows(), st); err != nil || !written {
		t.Fatalf("%v, %v", written, err)
	}
}

// leave puts a handoff down that names 20 files and ten commits.
func (p *protocol) leave(t *testing.T) {
	t.Helper()
	p.seq++
	d := handoff.Document{Session: "earlier", Seq: p.seq, Written: time.Now(), Directory: p.sub, Branch: "main", Goal: "to go on", NextStep: "go on"}
	for i := range 20 {
		d.State.Changed = append(d.State.Changed, filepath.Join(p.sub, fmt.Sprintf("f%d.go", i)))
	}
	for _, c := range p.commits {
		d.State.Commits = append(d.State.Commits, c+" what was done")
	}
	m, err := knowledge.Open(p.knows())
	if err == nil {
		_, err = m.Handoffs().Write(t.Context(), handoff.Render(d), "", knowledge.By{Session: "earlier", Seq: p.seq})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Goal: a session that begins with everything that earlier ones left reaches the model quickly.
func TestProtocolFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	exe, p := buildPerdure(t), newProtocol(t)
	bare, empty := filepath.Join(t.TempDir(), "home"), t.TempDir()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	type arrival struct {
		at   time.Time
		size int64
	}
	seen := make(chan arrival, 256)
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- arrival{time.Now(), r.ContentLength}
		w.WriteHeader(http.StatusUnauthorized)
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	start := func(home, config, dir string) (time.Duration, int64) {
		cmd := exec.CommandContext(context.Background(), exe, "-p", "hello")
		cmd.Env = []string{"PERDURE_HOME=" + home, "HOME=" + empty, "XDG_CONFIG_HOME=" + config, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=none-at-all", "ANTHROPIC_BASE_URL=http://" + l.Addr().String()}
		cmd.Dir = dir
		began := time.Now()
		_ = cmd.Run() // the server refuses the key
		select {
		case a := <-seen:
			return a.at.Sub(began), a.size
		default:
			t.Fatal("no request came")
			return 0, 0
		}
	}
	var full, none []time.Duration
	var sizes [2]int64
	for range 21 { // in turn
		p.leave(t)
		took, n := start(p.home, p.config, p.sub)
		full, sizes[0] = append(full, took), n
		took, n = start(bare, empty, empty)
		none, sizes[1] = append(none, took), n
	}
	if sizes[0] < sizes[1]+8000 {
		t.Errorf("the full request has %d bytes, the bare one %d: the session did not begin with what was left", sizes[0], sizes[1])
	}
	ratio := float64(median(full)) / float64(median(none))
	t.Logf("%s: to the first request, with all that was left (%d bytes) %v, without (%d bytes) %v; ratio %.2f", load(), sizes[0], median(full), sizes[1], median(none), ratio)
	if median(full) > maxProtocol {
		t.Errorf("target: %v", maxProtocol)
	}
}
