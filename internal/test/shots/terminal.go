package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The size of the pictures, in cells.
const (
	columns = 92
	rows    = 28
)

// patience bounds each wait for the screen.
const patience = 60 * time.Second

// terminal is a person at a terminal: what is typed, and what is seen.
type terminal struct {
	socket string
	dir    string // of the example
	out    string
	ran    int // command lines
}

// open starts a shell in the example's project, with nothing of the surrounding world but the tools.
func open(bin, dir string) (*terminal, error) {
	t := &terminal{socket: filepath.Join(dir, "tmux")}
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // the example's tests are no test of a compiler's speed
	if err != nil {
		return nil, err
	}
	env := []string{
		"HOME=" + dir, "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "PERDURE_HOME=" + dir + "/home",
		"XDG_CONFIG_HOME=" + dir + "/config", "PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"),
		"HISTFILE=", "GOCACHE=" + strings.TrimSpace(string(cache)), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local",
	}
	cmd := t.command(append([]string{"new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "-c", dir + "/almanac", "env", "-i"},
		append(env, "bash", "--noprofile", "--norc")...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tmux: %w: %s", err, out)
	}
	return t, nil
}

func (t *terminal) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", t.socket, "-f", "/dev/null"}, args...)...) //nolint:gosec // own words
}

func (t *terminal) close() { _ = t.command("kill-server").Run() }

// line types a line and Enter.
func (t *terminal) line(text string) {
	_ = t.command("send-keys", "-l", text).Run()
	<-time.After(300 * time.Millisecond) // what is completed as one types is there before Enter
	t.keys("Enter")
}

// keys presses keys, one after the other, as a person does.
func (t *terminal) keys(names ...string) {
	for _, name := range names {
		_ = t.command("send-keys", name).Run()
		<-time.After(600 * time.Millisecond)
	}
}

func (t *terminal) screen() string {
	out, _ := t.command("capture-pane", "-p", "-e").Output()
	return strings.ReplaceAll(string(out), t.dir, place)
}

// see waits until the screen shows all words.
func (t *terminal) see(words ...string) error {
	for end := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		plain, _ := t.command("capture-pane", "-p").Output()
		missing := ""
		for _, w := range words {
			if !bytes.Contains(plain, []byte(w)) {
				missing = w
			}
		}
		if missing == "" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%q is not seen", missing)
		}
	}
}

// run runs a command line and waits for its end.
func (t *terminal) run(line string) error {
	t.ran++
	t.line(fmt.Sprintf("clear; %s; echo %d-done-$?", line, t.ran))
	if err := t.see(fmt.Sprintf("%d-done-0", t.ran)); err != nil {
		return err
	}
	t.line("clear")
	return nil
}

// take keeps the picture of the screen, as a dark terminal shows it.
func (t *terminal) take(name string) error { return t.draw(name, dark) }

func (t *terminal) draw(name string, p palette) error {
	<-time.After(time.Second) // what moves has come to rest
	text := strings.TrimRight(t.screen(), "\n")
	return os.WriteFile(filepath.Join(t.out, name+".svg"), picture(text, columns, rows, p), 0o644) //nolint:gosec // pictures are for all
}
