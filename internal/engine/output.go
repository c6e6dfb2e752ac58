package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/tools"
)

// Bounds of what is read of a command's output: as much as a result may quote from each end, and as much as is kept.
const (
	quoteBytes = 64 << 10
	keepBytes  = 64 << 20
	readChunk  = 1 << 20
)

// output reads what was kept of a command's output: both ends for the result, and all of it into a file of its own
// when the ends are not all.
func (f commandFlight) output(st command.State) (tools.Output, error) {
	out, whole, err := f.quote(st)
	if err == nil && !whole && f.s.eng.cfg.OutDir != "" {
		out.Path, err = f.keep(st)
	}
	return out, err
}

// quote reads both ends of what is kept of a command's output, and reports whether they are all of it.
func (f commandFlight) quote(st command.State) (out tools.Output, whole bool, err error) {
	head, next, gap, err := f.s.eng.cfg.Commands.Read(f.s.lease.Session, f.act, 0, quoteBytes)
	if gap > 0 { // a disk that was full took the beginning: only the end is quoted
		head, next = nil, 0
	}
	out = tools.Output{Head: head, Total: st.Output}
	if err != nil || next >= st.Output {
		return out, true, err
	}
	// A value that lies across a cut is shown in no part.
	secrets := f.s.eng.cfg.Secrets
	torn := secrets.Partial(head)
	out.Head, next = head[:len(head)-torn], next-int64(torn)
	from := max(next, st.Output-quoteBytes)
	for from < st.Output {
		b, n, gap, err := f.s.eng.cfg.Commands.Read(f.s.lease.Session, f.act, from, quoteBytes)
		if err != nil {
			return out, false, err
		}
		out.Omitted += gap
		if n <= from {
			break
		}
		if torn := secrets.Torn(b); gap > 0 || len(out.Tail) == 0 && from > next {
			b, out.Omitted = b[torn:], out.Omitted+int64(torn)
		}
		out.Tail, from = append(out.Tail, b...), n
	}
	out.Omitted += max(0, st.Output-quoteBytes-next)
	return out, false, nil
}

// keep writes the kept output to a file of its own, durably, each gap named in its place. Writing it again gives the
// same file.
func (f commandFlight) keep(st command.State) (string, error) {
	out := f.s.eng.cfg.OutDir
	dir, name := filepath.Join(out, f.s.lease.Session), f.act+".out"
	root, err := realdir.Make(filepath.Dir(out), filepath.Base(out), f.s.lease.Session)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	_ = root.Remove(name + ".tmp") // of a run that died, or whatever stands there
	tmp, err := root.OpenFile(name+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	err = f.copyOutput(tmp, st)
	if err == nil {
		err = f.s.eng.cfg.Sync(tmp)
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = root.Rename(name+".tmp", name)
	}
	if err != nil {
		_ = root.Remove(name + ".tmp")
		return "", err
	}
	return filepath.Join(dir, name), errors.Join(f.s.eng.syncDir(dir), f.s.eng.syncDir(f.s.eng.cfg.OutDir))
}

func (f commandFlight) copyOutput(w *os.File, st command.State) error {
	secrets := f.s.eng.cfg.Secrets
	written := int64(0)
	for from := int64(0); from < st.Output && written < keepBytes+readChunk; {
		b, next, gap, err := f.s.eng.cfg.Commands.Read(f.s.lease.Session, f.act, from, readChunk)
		if err != nil {
			return err
		}
		if gap > 0 {
			if _, err := fmt.Fprintf(w, "\n[%d bytes omitted]\n", gap); err != nil {
				return err
			}
			b = b[secrets.Torn(b):]
		}
		if next <= from {
			return nil
		}
		if keep := secrets.Partial(b); next < st.Output && keep < len(b) {
			b, next = b[:len(b)-keep], next-int64(keep)
		}
		if _, err := w.Write(secrets.Replace(b)); err != nil {
			return err
		}
		written, from = written+int64(len(b)), next
	}
	return nil
}

func (e *Engine) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(e.cfg.Sync(d), d.Close())
}
