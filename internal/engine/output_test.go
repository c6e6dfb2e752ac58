package engine

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// kept is a command of which the output from a place on is there, up to the end or less.
type kept struct {
	Commands
	all  string
	from int64 // what is before it is not kept any more
	lost int64 // bytes at the end that were counted and cannot be read
	ends bool  // it has ended
	fail error // of every look
	poor error // of a read that is not the first
	t    *testing.T
	read *int // reads so far
}

func (k kept) State(string, string) (command.State, error) {
	st := command.State{Status: command.Running, Output: int64(len(k.all))}
	if k.ends {
		st.Status = command.Exited
	}
	return st, k.fail
}

func (k kept) Read(_, _ string, from int64, limit int) (b []byte, next, gap int64, err error) {
	if *k.read++; *k.read > 5000 {
		k.t.Fatal("it is read again and again")
	}
	if k.fail != nil {
		return nil, 0, 0, k.fail
	}
	if k.poor != nil && *k.read > 1 {
		return nil, 0, 0, k.poor
	}
	if from < k.from {
		gap, from = k.from-from, k.from
	}
	end := min(from+int64(limit), int64(len(k.all))-k.lost)
	if end <= from {
		return nil, from, gap, nil
	}
	return []byte(k.all[from:end]), end, gap, nil
}

const token = "tok_canary_90b1c2d3e4f5a6b7"

// following is a command that is followed, and a session that keeps outputs.
func following(t *testing.T, k kept) commandFlight {
	k.t, k.read = t, new(int)
	s := at(Config{Commands: k, OutDir: t.TempDir(), Secrets: redact.New(map[string]string{"TOK": token}), Sync: (*os.File).Sync}, session.New("s"))
	s.lease = store.Lease{Session: "s"}
	return commandFlight{s: &s.toolCalls, act: "a", start: session.Start{Task: "bash_1"}}
}

// What is quoted of an output is its two ends, with as many bytes said to be omitted as are: in all it is the whole.
func TestBothEndsAndTheOmittedAreTheWhole(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		k    kept
		head int // bytes of it
		tail int
		all  bool
	}{
		"nothing":                    {kept{}, 0, 0, true},
		"short":                      {kept{all: "short"}, 5, 0, true},
		"as long as one end":         {kept{all: x(quoteBytes)}, quoteBytes, 0, true},
		"one byte more":              {kept{all: x(quoteBytes + 1)}, quoteBytes, 1, false},
		"as long as both":            {kept{all: x(2 * quoteBytes)}, quoteBytes, quoteBytes, false},
		"longer":                     {kept{all: x(2*quoteBytes + 7)}, quoteBytes, quoteBytes, false},
		"much longer":                {kept{all: x(9 * quoteBytes)}, quoteBytes, quoteBytes, false},
		"a value across the cut":     {kept{all: x(quoteBytes-3) + token + x(3*quoteBytes)}, quoteBytes - 3, quoteBytes, false},
		"a value across the end":     {kept{all: x(3*quoteBytes) + token + x(quoteBytes-3)}, quoteBytes, quoteBytes - 3, false},
		"a value across one cut":     {kept{all: x(quoteBytes-3) + token + x(100)}, quoteBytes - 3, len(token) + 100, false},
		"its end is gone":            {kept{all: x(3 * quoteBytes), lost: 10}, quoteBytes, quoteBytes - 10, false},
		"its end is gone altogether": {kept{all: x(3 * quoteBytes), lost: quoteBytes}, quoteBytes, 0, false},
	} {
		k := following(t, c.k)
		out, all, err := k.quote(command.State{Output: int64(len(c.k.all))})
		if err != nil || all != c.all || len(out.Head) != c.head || len(out.Tail) != c.tail || out.Total != int64(len(c.k.all)) {
			t.Errorf("%s: head %d, tail %d, of %d, all %v, %v", name, len(out.Head), len(out.Tail), out.Total, all, err)
		}
		if sum := int64(len(out.Head)+len(out.Tail)) + out.Omitted + c.k.lost; sum != out.Total {
			t.Errorf("%s: %d bytes in all, %d of them omitted, of %d", name, sum, out.Omitted, out.Total)
		}
	}
}

// Of an output whose beginning, or middle, was not kept the gap is said to be omitted, and a value that lies across its end
// is shown in no part.
func TestAGapOfAnOutputIsOmitted(t *testing.T) {
	for _, end := range []string{strings.Repeat("y", 100), strings.Repeat("y", 3*quoteBytes)} {
		all := strings.Repeat("x", 2*quoteBytes) + token + end
		k := following(t, kept{all: all, from: int64(2*quoteBytes + 8)}) // in the value
		out, whole, err := k.quote(command.State{Output: int64(len(all))})
		if want := end[max(0, len(end)-quoteBytes):]; err != nil || whole || len(out.Head) > 0 || string(out.Tail) != want {
			t.Errorf("head %.40q, tail %d bytes %.40q, %v", out.Head, len(out.Tail), out.Tail, err)
		}
		if sum := int64(len(out.Tail)) + out.Omitted; sum != out.Total {
			t.Errorf("%d bytes in all, %d of them omitted, of %d", sum, out.Omitted, out.Total)
		}
	}
}

// What cannot be read of an output is an error of the command's outcome, and no empty output.
func TestAnOutputThatCannotBeRead(t *testing.T) {
	broken := errors.New("input/output error")
	long := strings.Repeat("line\n", quoteBytes)
	for name, k := range map[string]kept{"at all": {all: long, fail: broken}, "to the end": {all: long, poor: broken}} {
		if _, _, err := following(t, k).quote(command.State{Output: int64(len(long))}); !errors.Is(err, broken) {
			t.Errorf("%s: quoted: %v", name, err)
		}
		if _, err := following(t, k).output(command.State{Output: int64(len(long))}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := following(t, k).soFar(); !errors.Is(err, broken) {
			t.Errorf("%s: so far: %v", name, err)
		}
		f := following(t, k)
		if path, err := f.keep(command.State{Output: int64(len(long) + readChunk)}); !errors.Is(err, broken) && k.fail != nil || path != "" && err != nil {
			t.Errorf("%s: kept as %q: %v", name, path, err)
		}
		if l, err := os.ReadDir(f.s.eng.cfg.OutDir + "/s"); k.fail != nil && (err != nil || len(l) > 0) {
			t.Errorf("%s: left %v, %v", name, l, err)
		}
	}
}

// The file of an output holds all of it, with the gaps named in their place and the values of secrets by their names,
// also where a value lies across what is read at a time.
func TestTheFileOfAnOutput(t *testing.T) {
	across := strings.Repeat("x", readChunk-5) + token + "\nend"
	gone := strings.Repeat("x", 100) + token + "\nend"
	for name, c := range map[string]struct {
		k    kept
		want string
	}{
		"across two reads": {kept{all: across}, strings.Replace(across, token, "[secret:TOK]", 1)},
		"after a gap":      {kept{all: gone, from: 110}, "\n[110 bytes omitted]\n\nend"},
		"cut short":        {kept{all: "begin and end", lost: 4}, "begin and"},
		"half a value":     {kept{all: "it is " + token[:10]}, "it is " + token[:10]}, // that is all of it: no more comes
	} {
		f := following(t, c.k)
		path, err := f.keep(command.State{Output: int64(len(c.k.all))})
		b, readErr := os.ReadFile(path)
		if err != nil || readErr != nil || string(b) != c.want {
			t.Errorf("%s: %d bytes, %.60q, want %.60q: %v %v", name, len(b), string(b[max(0, len(b)-60):]), c.want[max(0, len(c.want)-60):], err, readErr)
		}
		if again, err := f.keep(command.State{Output: int64(len(c.k.all))}); err != nil || again != path {
			t.Errorf("%s: kept again as %q, %v", name, again, err)
		}
	}
}

// A tool that reads a task's output is shown no part of a value: the end of one behind a gap is dropped and counted as
// missing, the beginning of one waits while the rest can still come.
func TestOutputOfATask(t *testing.T) {
	whole := "ready " + token + " and"
	for name, c := range map[string]struct {
		k    kept
		from int64
		want string
		next int64
		gap  int64
	}{
		"whole":            {kept{all: whole}, 0, "ready [secret:TOK] and", int64(len(whole)), 0},
		"from within":      {kept{all: whole}, 6, "[secret:TOK] and", int64(len(whole)), 0},
		"after a gap":      {kept{all: whole, from: 20}, 0, " and", int64(len(whole)), int64(len(whole) - 4)},
		"no gap":           {kept{all: whole}, 20, token[14:] + " and", int64(len(whole)), 0}, // what was cut there is shown elsewhere
		"half, running":    {kept{all: whole[:16]}, 0, "ready ", 6, 0},
		"half, ended":      {kept{all: whole[:16], ends: true}, 0, whole[:16], 16, 0},
		"nothing":          {kept{}, 0, "", 0, 0},
		"all of it a half": {kept{all: whole[6:16]}, 0, "", 0, 0},
	} {
		f := following(t, c.k)
		st := session.New("s")
		st.Tasks = []session.Task{{ID: "bash_1", Act: "a"}}
		b, next, gap, _, err := tasks{s: f.s.world, view: st}.Output(t.Context(), "bash_1", c.from, 1<<20)
		if err != nil || string(b) != c.want || next != c.next || gap != c.gap {
			t.Errorf("%s: %q up to %d, %d missing, %v", name, b, next, gap, err)
		}
	}
	f := following(t, kept{})
	if _, _, _, _, err := (tasks{s: f.s.world, view: session.New("s")}).Output(t.Context(), "bash_1", 0, 1); !errors.Is(err, tools.ErrNoTask) {
		t.Errorf("of no task: %v", err)
	}
	broken := errors.New("input/output error")
	st := session.New("s")
	st.Tasks = []session.Task{{ID: "bash_1", Act: "a"}}
	if _, _, _, _, err := (tasks{s: following(t, kept{fail: broken}).s.world, view: st}).Output(t.Context(), "bash_1", 0, 1); !errors.Is(err, broken) {
		t.Errorf("of a broken disk: %v", err)
	}
}

// The last output of a lost task is told as far as it was kept, without a part of a value, and of no other task any.
func TestLastOutputOfALostTask(t *testing.T) {
	cut := token + strings.Repeat("x\n", (lastWindow-8)/2)
	for name, c := range map[string]struct {
		k      kept
		status command.Status
		by     string
		want   string
	}{
		"lost":              {kept{all: "one\ntwo\n"}, command.Lost, "", "one\ntwo"},
		"ended by the boot": {kept{all: "one\n"}, command.Killed, command.BySystem, "one"},
		"ended":             {kept{all: "one\n"}, command.Exited, "", ""},
		"killed":            {kept{all: "one\n"}, command.Killed, command.ByUser, ""},
		"silent":            {kept{}, command.Lost, "", ""},
		"with a value":      {kept{all: "it is " + token + "\n"}, command.Lost, "", "it is [secret:TOK]"},
		"long":              {kept{all: strings.Repeat("y\n", lastWindow) + "end\n"}, command.Lost, "", strings.Repeat("y\n", lastLines-1) + "end"},
		"a value at a cut":  {kept{all: "y\n" + cut}, command.Lost, "", strings.TrimSuffix(strings.Repeat("x\n", lastLines), "\n")},
		"unreadable":        {kept{all: "one\n", fail: errors.New("broken")}, command.Lost, "", ""},
		"gone":              {kept{all: "one\n", lost: 4}, command.Lost, "", ""},
		"of one line":       {kept{all: strings.Repeat("z", 3*lastWindow)}, command.Lost, "", strings.Repeat("z", lastBytes)},
	} {
		f := following(t, c.k)
		got := f.s.lastOutput(session.Task{ID: "bash_1", Act: "a"}, command.State{Status: c.status, By: c.by, Output: int64(len(c.k.all))})
		if got != c.want {
			t.Errorf("%s: %.80q, want %.80q", name, got, c.want)
		}
	}
}
