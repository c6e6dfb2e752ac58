package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/perdure/perdure/session"
)

// formatVersion is written into every record. A reader accepts newer records as far as it understands them, so that
// shims and agents of neighbouring versions work with each other.
const formatVersion = 1

// maxRecord bounds every record that is read back, in bytes.
const maxRecord = 16 << 20

// specRecord is spec.json. Env and Script are empty in it: they are raw bytes in files of their own.
type specRecord struct {
	session.CommandSpec
	BootID  string `json:"boot_id"`
	Created int64  `json:"created"`
}

// runRecord is run.json: the identity of the command and of its shim.
type runRecord struct {
	Version    int    `json:"version"`
	PID        int    `json:"pid"`
	PGID       int    `json:"pgid"`
	SID        int    `json:"sid"`
	StartTicks uint64 `json:"start_ticks"`
	BootID     string `json:"boot_id"`
	Shim       int    `json:"shim_pid"`
	ShimTicks  uint64 `json:"shim_ticks"`
	Started    int64  `json:"started"`
}

// exitRecord is exit.json. Exactly one of Code and Signal is set.
type exitRecord struct {
	Version    int              `json:"version"`
	Code       *int             `json:"code,omitempty"`
	Signal     string           `json:"signal,omitempty"`
	By         string           `json:"by,omitempty"`
	Output     int64            `json:"output_bytes"`
	Started    int64            `json:"started"`
	Ended      int64            `json:"ended"`
	Stragglers int              `json:"stragglers,omitempty"`
	Cwd        string           `json:"cwd,omitempty"`
	Env        session.EnvDelta `json:"env,omitempty"`
}

// intentRecord is intent.json: the first request to end the command.
type intentRecord struct {
	Version int    `json:"version"`
	By      string `json:"by"`
	Time    int64  `json:"time"`
	GraceMS int64  `json:"grace_ms"`
}

// shimRecord is the content of lock: the process that holds it.
type shimRecord struct {
	Version int    `json:"version"`
	PID     int    `json:"pid"`
	Ticks   uint64 `json:"start_ticks"`
}

// errDamaged says that a record exists and cannot be understood.
var errDamaged = errors.New("damaged record")

// readRecord decodes a JSON record into v. It returns fs.ErrNotExist when there is none and errDamaged when it makes
// no sense, an empty file included.
func readRecord(path string, v any) error {
	b, err := readBounded(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w: %w", path, errDamaged, err)
	}
	return nil
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, fmt.Errorf("%s: %w: %d bytes, mode %v", path, errDamaged, info.Size(), info.Mode())
	}
	return os.ReadFile(path)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// execPlan is what the exec stage needs, kept outside JSON because none of it has to be UTF-8.
type execPlan struct {
	Cwd  string
	Argv []string
	Env  []string
}

// encode writes version, cwd, both counts and all strings, each ended by a NUL, which none of them can contain.
func (p execPlan) encode() []byte {
	var b bytes.Buffer
	put := func(s string) { b.WriteString(s); b.WriteByte(0) }
	put(strconv.Itoa(formatVersion))
	put(p.Cwd)
	for _, list := range [][]string{p.Argv, p.Env} {
		put(strconv.Itoa(len(list)))
		for _, s := range list {
			put(s)
		}
	}
	return b.Bytes()
}

// decodeExecPlan is the inverse of encode.
func decodeExecPlan(b []byte) (execPlan, error) {
	ok := true
	next := func() string {
		s, rest, found := bytes.Cut(b, []byte{0})
		ok, b = ok && found, rest
		return string(s)
	}
	list := func() []string {
		n, err := strconv.Atoi(next())
		if err != nil || n < 0 || n > len(b) {
			ok = false
			return nil
		}
		out := make([]string, 0, n)
		for range n {
			out = append(out, next())
		}
		return out
	}
	next() // the version: later ones only append
	p := execPlan{Cwd: next()}
	p.Argv, p.Env = list(), list()
	if !ok || len(p.Argv) == 0 {
		return execPlan{}, fmt.Errorf("exec plan: %w", errDamaged)
	}
	return p, nil
}
