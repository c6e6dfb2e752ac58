package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// glass is a terminal that writes down what it is sent, and when. It answers what programs ask of it, as a modern one does,
// and draws nothing.
type glass struct {
	t             *testing.T
	master, slave *os.File
	before        unix.Termios
	rows          uint16

	mu    sync.Mutex
	bytes []byte
	at    []arrival
}

// arrival is when the bytes up to a place had come.
type arrival struct {
	end  int
	when time.Time
}

func newGlass(t *testing.T, cols, rows uint16) *glass {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := &glass{t: t, rows: rows, master: os.NewFile(uintptr(fd), "master")}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if g.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.slave.Close(); _ = g.master.Close() })
	if err := unix.IoctlSetWinsize(int(g.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
		t.Fatal(err)
	}
	g.before = g.modes()
	go g.read()
	return g
}

// answers are what a terminal says when it is asked.
var answers = map[string]string{
	"\x1b[?u": "\x1b[?0u", "\x1b[c": "\x1b[?62;22c", "\x1b[?2026$p": "\x1b[?2026;2$y", "\x1b[?2027$p": "\x1b[?2027;0$y",
	"\x1b]11;?\a": "\x1b]11;rgb:0000/0000/0000\x1b\\",
}

func (g *glass) read() {
	b := make([]byte, 64<<10)
	for {
		n, err := g.master.Read(b)
		now := time.Now()
		g.mu.Lock()
		g.bytes = append(g.bytes, b[:n]...)
		g.at = append(g.at, arrival{len(g.bytes), now})
		g.mu.Unlock()
		for asked, answer := range answers {
			if bytes.Contains(b[:n], []byte(asked)) {
				_, _ = g.master.WriteString(answer)
			}
		}
		if err != nil {
			return
		}
	}
}

func (g *glass) modes() unix.Termios {
	m, err := unix.IoctlGetTermios(int(g.slave.Fd()), unix.TCGETS)
	if err != nil {
		g.t.Fatal(err)
	}
	return *m
}

// start starts a command line of a desk on it.
func (g *glass) start(d *desk, args ...string) *exec.Cmd {
	g.t.Helper()
	cmd := exec.Command(d.exe, args...)
	cmd.Dir, cmd.Env = d.dir, append(d.env[:len(d.env):len(d.env)], "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = g.slave, g.slave, g.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if g.t.Failed() {
			all := g.text(0)
			g.t.Logf("the terminal of %q was sent …%q", args, all[max(len(all)-1500, 0):])
		}
	})
	return cmd
}

func (g *glass) types(keys string) {
	g.t.Helper()
	if _, err := g.master.WriteString(keys); err != nil {
		g.t.Fatal(err)
	}
}

// size is how much it was sent until now.
func (g *glass) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.bytes)
}

func (g *glass) text(from int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(g.bytes[from:])
}

// sees waits for words in what comes after a place, and says when they had come.
func (g *glass) sees(from int, words string) time.Time {
	g.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		g.mu.Lock()
		i := bytes.Index(g.bytes[from:], []byte(words))
		end := from + i + len(words)
		var when time.Time
		if i >= 0 {
			k, _ := slices.BinarySearchFunc(g.at, end, func(a arrival, end int) int { return a.end - end })
			when = g.at[k].when
		}
		g.mu.Unlock()
		if i >= 0 {
			return when
		}
	}
	g.t.Fatalf("never: %q. It was sent:\n%q", words, g.text(from))
	return time.Time{}
}

// left waits until a command has ended, and demands the terminal as it was.
func (g *glass) left(cmd *exec.Cmd, code int) {
	g.t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		g.t.Fatal("it never leaves")
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		g.t.Errorf("exit %d, want %d", got, code)
	}
	if got := g.modes(); got != g.before {
		g.t.Errorf("the line discipline is left as %+v, it was %+v", got, g.before)
	}
	mark := "the end of all bytes"
	_, _ = g.slave.WriteString(mark)
	g.sees(0, mark)
	if on := leftOn(g.text(0), g.rows); len(on) > 0 {
		g.t.Errorf("left switched on: %q", on)
	}
}

var switches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[([?>=<]?)([0-9;]*)([ ]?)([hlutmqr])|\x1b(\]0;|\]2;|\]1[0-2];#)([^\x07\x1b]*)`)
})

// leftOn names what a stream of bytes switches on in a terminal and does not switch off again.
func leftOn(text string, rows uint16) []string {
	whole := fmt.Sprint("1;", rows) // margins that are the whole screen are none
	on := map[string]bool{}
	keyboard, titles := 0, 0
	for _, m := range switches().FindAllStringSubmatch(text, -1) {
		mark, args, space, end, osc := m[1], m[2], m[3], m[4], m[5]
		switch {
		case osc != "":
			on["osc "+osc] = m[6] != ""
		case mark == "?" && (end == "h" || end == "l"):
			for mode := range strings.SplitSeq(args, ";") {
				on["mode "+mode] = (end == "h") != (mode == "25" || mode == "7")
			}
		case mark == ">" && end == "u":
			keyboard++
		case mark == "<" && end == "u":
			keyboard--
		case mark == "=" && end == "u":
			on["keyboard flags"] = args != "0" && !strings.HasPrefix(args, "0;")
		case mark == ">" && end == "m":
			on["other keys "+args[:1]] = strings.HasSuffix(args, ";1") || strings.HasSuffix(args, ";2")
		case mark == "" && end == "t" && strings.HasPrefix(args, "22"):
			titles++
		case mark == "" && end == "t" && strings.HasPrefix(args, "23"):
			titles--
			on["osc ]0;"], on["osc ]2;"] = false, false
		case space == " " && end == "q":
			on["shape of the cursor"] = args != "" && args != "0"
		case mark == "" && end == "m":
			on["colours"] = args != "" && args != "0"
		case mark == "" && space == "" && end == "r":
			on["margins"] = args != "" && args != whole
		}
	}
	if keyboard != 0 {
		on[fmt.Sprint("keyboard stack ", keyboard)] = true
	}
	if titles != 0 {
		on[fmt.Sprint("title stack ", titles)] = true
	}
	var out []string
	for name, is := range on {
		if is {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Goal: the harness sees what is left on.
func TestModesThatAreLeftOnAreSeen(t *testing.T) {
	all := "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004;1006h\x1b[>1u\x1b[22;0t\x1b]2;title\x07\x1b[1;31m\x1b[>4;2m\x1b[4 q\x1b[2;5r"
	if on := leftOn(all, 24); len(on) != 12 {
		t.Errorf("%d: %q", len(on), on)
	}
	if on := leftOn(all + "\x1b[?1004;1006;2004l\x1b[?25h\x1b[?1049l\x1b[<1u\x1b[23;0t\x1b[m\x1b[>4;0m\x1b[ q\x1b[r", 24); len(on) > 0 {
		t.Errorf("%q", on)
	}
}

// settles waits until nothing has come for a while.
func (g *glass) settles() {
	for n := -1; n != g.size(); <-time.After(150 * time.Millisecond) {
		n = g.size()
	}
}
