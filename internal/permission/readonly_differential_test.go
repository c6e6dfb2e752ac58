package permission

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readingWorld is a repository with links that lead out of it, beside a directory
// whose files hold a word that must never be seen.
type readingWorld struct{ root, work, outside, bash string }

const canary = "CANARY-OUTSIDE"

func newReadingWorld(t *testing.T) *readingWorld {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &readingWorld{root: root, work: filepath.Join(root, "work"), outside: filepath.Join(root, "outside")}
	if w.bash, err = exec.LookPath("bash"); err != nil {
		t.Fatalf("the differential tests need bash: %v", err)
	}
	setup := `set -e; mkdir outside work; cd outside; echo ` + canary + ` >secret; mkdir dir; echo ` + canary + ` >dir/x; cd ../work
git init -q -b main .; rm -rf .git/hooks; git config user.email a@b; git config user.name a; mkdir src other -- '-R'
echo one >README; echo two >src/a.go; echo three >src/x; echo four >other/x; printf '../outside/secret\0' >names; git add .; git commit -qm 'first one'; git tag v1; git branch side
echo more >>README; git add README; git commit -qm second; echo dirty >>src/a.go
ln -s ../outside/secret out; ln -s ../outside/dir up; ln -s ../../outside/secret src/out; ln -s ../../outside/dir/x other/y; echo y >src/y; echo rm >-delete; echo x >--files0-from=names`
	cmd := exec.Command(w.bash, "--noprofile", "--norc", "-c", setup)
	cmd.Dir, cmd.Env = root, w.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v: %s", err, out)
	}
	return w
}

func (w *readingWorld) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.outside, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + w.root}
}

// look is Policy.Look on the real files.
func (w *readingWorld) look(at string, glob bool) ([]Place, bool) {
	paths := []string{at}
	if glob {
		found, err := filepath.Glob(at)
		if err != nil {
			return nil, false
		}
		paths = append(paths, found...)
	}
	var out []Place
	for _, p := range paths {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			real = p
		}
		info, err := os.Stat(real)
		out = append(out, Place{Path: real, Dir: err == nil && info.IsDir(), Missing: err != nil})
	}
	return out, true
}

// state is what is on disk, but for git's index, which looking refreshes.
func (w *readingWorld) state(t *testing.T) [32]byte {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(p, ".git/index") {
			return err
		}
		h.Write([]byte(p + "\x00" + d.Type().String()))
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			h.Write(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}

// run says what a command did that a command which only reads inside does not.
func (w *readingWorld) run(t *testing.T, command string, before [32]byte) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.bash, "--noprofile", "--norc", "-c", command)
	cmd.Dir, cmd.Env = w.work, w.env()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	_ = cmd.Run() // most fail, which is no matter
	switch {
	case bytes.Contains(out.Bytes(), []byte(canary)):
		return "it shows a file outside"
	case w.state(t) != before:
		return "it changed something"
	}
	return ""
}

// readingPieces are words for each program, the dangerous ones among them.
func readingPieces(outside string) (programs []string, words []string) {
	programs = []string{
		"ls", "cat", "head", "tail -n 3", "wc", "grep", "grep -r", "rg", "find", "find .", "stat", "file", "du", "sort", "uniq", "cut -c1-", "tr a b <README", "diff", "cmp", "tree", "date", "test", "echo", "printf", "basename",
		"git status", "git log", "git diff", "git show", "git branch", "git tag", "git rev-parse", "git ls-files", "git blame", "git describe", "git remote", "git shortlog HEAD", "git stash", "git stash list", "timeout 3 cat", "cat README | sort", "ls | uniq",
	}
	words = []string{
		"README", "src", "other", "src/a.go", "out", "up", "up/x", "src/out", "src/*", "other/*", "*", "o*", "u*/x", "./*", "-*", ".*", "../outside/secret", outside + "/secret", "src/../../outside/secret", "up/../secret", "names", "HEAD", "main..side", "v1", "new", "a", "''", "-", "--", ".",
		"-r", "-R", "-n", "-o", "-of", "-f", "-F", "-l", "-L", "-a", "-c", "-C", "-d", "-D", "-s", "-u", "-p", "-m", "-v", "-e", "-i", "-x", "-X", "-z", "-H", "-O", "-S", "-M", "-t", "-b", "-h", "-q", "-1", "-5", "-3", "-N", "-T", "-y", "-w", "-g", "-k", "-k1", "-rn", "-Rn", "-ru", "-Po", "-Lo", "-Ll", "-LR", "-aIo",
		"--list", "--contains", "--merged", "--points-at", "--sort=refname", "--sort", "--output=f", "--output", "--all", "--stat", "--cached", "--no-index", "--files0-from=names", "--recursive", "--dereference", "--include=*", "--include='*'", "--follow", "--max-count=1", "--files", "--exclude-from=names", "--name-only", "--format=%h", "--graph", "--contents=out", "--unset", "--show-current",
		"-name", "'*.go'", "-type", "f", "-exec", "cat", "{}", "+", "\\;", "-delete", "-print", "-fprint", "-newer", "-maxdepth", "2", "-not", "-follow", "-size", "=", "-nt", "-ef", "+%F", "'%n'", "%s", "-vx", "-I", "-E", "-A", "-B", "-U", "-G", "add", "list", "-S1", "|", "&&", ";", "2>&1", ">/dev/null", ">f", "cat", "ls", "sort",
	}
	return programs, words
}

// Whatever runs because it only reads changes nothing and shows nothing from
// outside, with the real programs.
func TestReadOnlyOnlyReads(t *testing.T) {
	w := newReadingWorld(t)
	p := Policy{Root: w.work, Cwd: w.work, HomeDir: w.outside, Look: w.look, Env: map[string]string{"PATH": os.Getenv("PATH"), "LC_ALL": "C.UTF-8"}}
	before := w.state(t)
	for _, bad := range []string{"cat out", "cat ../outside/secret", "git tag x", "echo x >f", "diff -r src other", "grep -R CANARY ."} {
		if w.run(t, bad, before) == "" {
			t.Fatalf("%q passes for reading: the test proves nothing", bad)
		}
		for _, made := range []string{"f", ".git/refs/tags/x"} {
			_ = os.Remove(filepath.Join(w.work, made))
		}
		if w.state(t) != before {
			t.Fatalf("after %q", bad)
		}
	}
	seed, want := uint64(1), 150
	if os.Getenv("PERDURE_SOAK") != "" {
		seed, want = rand.Uint64(), 20000
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	programs, words := readingPieces(w.outside)
	ran, tries := 0, 0
	for ; ran < want && tries < want*100; tries++ {
		command := programs[rnd.IntN(len(programs))]
		for range rnd.IntN(5) {
			command += " " + words[rnd.IntN(len(words))]
		}
		if Decide(p, bash(command)).Effect != Allow {
			continue
		}
		ran++
		if got := w.run(t, command, before); got != "" {
			t.Fatalf("%q is allowed, but %s", command, got)
		}
	}
	if ran < want {
		t.Errorf("only %d of %d generated commands were allowed and run", ran, want)
	}
	t.Logf("%d commands judged, %d allowed and run", tries, ran)
}
