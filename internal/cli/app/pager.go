package app

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// maxPaged bounds what is kept to see whether it fits the screen, in bytes; what is longer goes to the pager at once.
const maxPaged = 1 << 20

// Paged runs print with a stdout that goes through a pager, if stdout is a terminal and the text is longer than it. The
// pager is $PERDURE_PAGER, else $PAGER, else less; an empty variable or "cat" is none, and so is --no-pager. A pager
// that does not start, or that a person leaves early, is no error.
func (a *App) Paged(print func() error) error {
	_, rows := a.Window()
	pager := a.pager()
	if rows == 0 || pager == "" {
		return print()
	}
	stdout := a.Stdout
	p := &pageWriter{app: a, stdout: stdout, pager: pager, rows: rows - 1}
	a.Stdout = p
	err := print()
	a.Stdout = stdout
	if perr := p.close(); err == nil {
		err = perr
	}
	return err
}

// pager is the command to page with; empty is none. What a session runs has none: a variable would name a program.
func (a *App) pager() string {
	if a.NoPager || a.Getenv("PERDURE_SESSION_ID") != "" {
		return ""
	}
	for _, name := range []string{"PERDURE_PAGER", "PAGER"} {
		if i := slices.IndexFunc(a.Environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }); i >= 0 {
			if v := strings.TrimSpace(a.Environ[i][len(name)+1:]); v != "cat" {
				return v
			}
			return ""
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// pageWriter keeps what is printed until it is longer than the screen, and starts the pager then.
type pageWriter struct {
	app    *App
	stdout io.Writer
	pager  string
	rows   int
	kept   bytes.Buffer
	to     io.WriteCloser // the pager's stdin, once it runs
	cmd    *exec.Cmd
	plain  bool // no pager after all
}

func (p *pageWriter) Write(b []byte) (int, error) {
	switch {
	case p.plain:
		return p.stdout.Write(b)
	case p.to != nil:
		_, _ = p.to.Write(b) // whoever leaves the pager early has seen enough
		return len(b), nil
	}
	p.kept.Write(b)
	if p.kept.Len() > maxPaged || bytes.Count(p.kept.Bytes(), []byte("\n")) > p.rows {
		p.start()
	}
	return len(b), nil
}

// start runs the pager on what was kept.
func (p *pageWriter) start() {
	p.cmd = exec.Command("sh", "-c", p.pager)
	p.cmd.Stdout, p.cmd.Stderr = os.Stdout, os.Stderr
	p.cmd.Env = append(slices.Clone(p.app.Environ), lessOptions(p.app)...)
	to, err := p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.plain = true
		_, _ = p.stdout.Write(p.kept.Bytes())
		return
	}
	p.to = to
	_, _ = p.to.Write(p.kept.Bytes())
}

// lessOptions are what less is told unless its user told it something: leave when the text fits, keep it on screen.
func lessOptions(a *App) []string {
	if a.Getenv("LESS") != "" {
		return nil
	}
	return []string{"LESS=FRX"}
}

func (p *pageWriter) close() error {
	switch {
	case p.to != nil:
		_ = p.to.Close()
		_ = p.cmd.Wait() // its exit code says nothing of ours
		return nil
	case p.plain:
		return nil
	}
	_, err := p.stdout.Write(p.kept.Bytes())
	return err
}
