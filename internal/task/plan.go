//go:build linux || darwin

package task

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// execPlan is what shim and exec stage need to know, kept outside JSON: none of it has to be UTF-8, and a process that
// has just started reads it in no time.
type execPlan struct {
	BootID    string
	KeepBytes int64
	TimeoutMS int64
	GraceMS   int64 // of the timeout's kill
	Capture   bool
	Cwd       string
	Argv      []string
	Env       []string

	// What later versions added: "key=number" after all else.
	QuotaBytes int64 // of all output that the session keeps; 0 means no bound
	FloorBytes int64 // of free disk that output leaves alone; 0 means none
	Stdin      int64 // 1: input can be written
	Rows, Cols int64 // of a terminal; 0 means none
	Limits     command.Limits
}

// extras are the fields that later versions added, by key. Zero is not written.
func (p *execPlan) extras() map[string]*int64 {
	return map[string]*int64{
		"quota": &p.QuotaBytes, "floor": &p.FloorBytes, "stdin": &p.Stdin, "rows": &p.Rows, "cols": &p.Cols,
		"cpu": &p.Limits.CPUSeconds, "memory": &p.Limits.MemoryBytes, "files": &p.Limits.OpenFiles, "wall": &p.Limits.WallMS,
	}
}

// actKey names the environment variable that tells every process of a command to which act it belongs: the path of
// the act directory.
const actKey = "PERDURE_ACT"

// newPlan also says whether the script, if there is one, has to be a file.
func (d actDir) newPlan(spec command.Spec, boot string, grace time.Duration) (plan execPlan, asFile bool) {
	env := slices.DeleteFunc(slices.Clone(spec.Env), func(kv string) bool { return strings.HasPrefix(kv, actKey+"=") })
	plan = execPlan{
		BootID: boot, KeepBytes: spec.KeepBytes, TimeoutMS: spec.TimeoutMS, GraceMS: grace.Milliseconds(),
		Cwd: spec.Cwd, Argv: spec.Argv, Env: append(env, actKey+"="+string(d)),
	}
	if plan.Limits = spec.Limits; spec.Stdin {
		plan.Stdin = 1
	}
	if spec.TTY != nil {
		plan.Rows, plan.Cols = int64(spec.TTY.Rows), int64(spec.TTY.Cols)
	}
	if spec.Script != "" {
		asFile = d.planShell(&plan, spec)
	}
	return plan, asFile
}

// encode writes the version and all fields in order, lists after their length, each string ended by a NUL, which none
// of them can contain. Later versions append.
func (p execPlan) encode() []byte {
	var b bytes.Buffer
	put := func(s string) { b.WriteString(s); b.WriteByte(0) }
	put(strconv.Itoa(formatVersion))
	put(p.BootID)
	put(strconv.FormatInt(p.KeepBytes, 10))
	put(strconv.FormatInt(p.TimeoutMS, 10))
	put(strconv.FormatInt(p.GraceMS, 10))
	put(strconv.FormatBool(p.Capture))
	put(p.Cwd)
	for _, list := range [][]string{p.Argv, p.Env} {
		put(strconv.Itoa(len(list)))
		for _, s := range list {
			put(s)
		}
	}
	extras := p.extras()
	for _, key := range slices.Sorted(maps.Keys(extras)) {
		if n := *extras[key]; n != 0 {
			put(key + "=" + strconv.FormatInt(n, 10))
		}
	}
	return b.Bytes()
}

// decodePlan is the inverse of encode.
func decodePlan(b []byte) (execPlan, error) {
	ok := true
	next := func() string {
		s, rest, found := bytes.Cut(b, []byte{0})
		ok, b = ok && found, rest
		return string(s)
	}
	number := func() int64 {
		n, err := strconv.ParseInt(next(), 10, 64)
		ok = ok && err == nil && n >= 0
		return n
	}
	list := func() []string {
		n := number()
		if !ok || n > int64(len(b)) {
			ok = false
			return nil
		}
		out := make([]string, 0, n)
		for range n {
			out = append(out, next())
		}
		return out
	}
	next() // the version
	p := execPlan{BootID: next(), KeepBytes: number(), TimeoutMS: number(), GraceMS: number()}
	p.Capture, p.Cwd = next() == "true", next()
	p.Argv, p.Env = list(), list()
	if !ok || len(p.Argv) == 0 || p.Argv[0] == "" {
		return execPlan{}, fmt.Errorf("plan: %w", errDamaged)
	}
	for extras := p.extras(); len(b) > 0 && ok; {
		key, value, _ := strings.Cut(next(), "=")
		if field := extras[key]; field != nil {
			*field, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return p, nil
}

// readPlan reads the plan of an act.
func (d actDir) readPlan() (execPlan, error) {
	b, err := readBounded(d.path(planName))
	if err != nil {
		return execPlan{}, err
	}
	return decodePlan(b)
}
