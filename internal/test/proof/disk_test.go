package proof_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// under starts an agent through another program, such as strace.
func (k *talk) under(t *testing.T, wrap []string, args ...string) *agent {
	t.Helper()
	a, err := startUnder(wrap, k.dir, k.env, args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// strace makes a system call fail from its nth time on, for the database's files only.
func (p *place) strace(call, fault string, n int) []string {
	wrap := []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d+", call, fault, n)}
	for _, name := range []string{"perdure.db", "perdure.db-wal"} {
		wrap = append(wrap, "-P", filepath.Join(p.dir, name))
	}
	return wrap
}

// failing opens a session that is done, and then lets an agent of another one meet a disk that fails from its nth call
// on. It returns the agent's words, empty if it did not notice.
func failing(t *testing.T, call, fault string, n int, env ...string) (stderr string, refused bool) {
	t.Helper()
	p := newPlace(t)
	other := newTalk(t, p, "other", say("untouched"))
	other.run(t, 0, other.first()...)
	k := newTalk(t, p, "failing", say("one", "echo a >> %LOG"), say("two", "echo b >> %LOG"), say("done"))
	k.env = append(k.env, env...)
	a := k.under(t, p.strace(call, fault, n), k.first(bypass, "--output-format", "stream-json")...)
	code, err := a.wait()
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 && code != 1 {
		t.Errorf("exit code %d: %s", code, &a.stderr)
	}
	// The next process reads what was kept: everything that was acknowledged, and goes on.
	if out, _ := other.verb(t, 0, "verify", other.id); out != "ok\n" {
		t.Errorf("the other session: %s", out)
	}
	log := map[int64]store.Digest{}
	if _, err := p.home.State(t.Context(), k.id); !absent(err) {
		for ev, err := range p.home.Events(t.Context(), k.id, 1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			log[ev.Seq] = ev.Hash
		}
	}
	for _, x := range a.acks {
		if log[x.seq] != x.hash {
			t.Errorf("acknowledged event %d is lost", x.seq)
		}
	}
	k.finish(t)
	k.sound(t, "a b")
	return a.stderr.String(), code == 1
}

// finish does what a user does after a failure: the same command again, or a resume.
func (k *talk) finish(t *testing.T) {
	t.Helper()
	st, err := k.home.State(t.Context(), k.id)
	switch {
	case absent(err):
		k.run(t, 0, k.first(bypass)...)
	case err != nil:
		t.Fatal(err)
	case st.Turns == 0 && k.pending(t) == 0:
		k.run(t, 0, k.again(bypass, k.prompt)...)
	default:
		k.run(t, 0, k.again(bypass)...)
	}
}

func (k *talk) pending(t *testing.T) int64 {
	t.Helper()
	info, err := k.home.Store().Get(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	st, err := k.home.State(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	return info.Pending + int64(len(st.Queue))
}

// A sync that fails makes the outcome of a commit uncertain: the agent ends at once with the remedy, and the next one
// reads what the log holds. Nothing acknowledged is lost, and no command runs twice.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	at := []int{1, 2, 4, 7, 11, 16}
	noticed := 0
	for _, n := range at {
		errs, refused := failing(t, "fdatasync,fsync", "EIO", n)
		if refused {
			noticed++
			if !strings.Contains(errs, "check the disk, then run the command again") {
				t.Errorf("sync %d: the remedy is missing: %s", n, errs)
			}
		}
	}
	if noticed < len(at)/2 { // the calls are counted by thread, and spread over several
		t.Errorf("only %d of %d agents noticed", noticed, len(at))
	}
}

// A full disk is named with its remedy, and nothing acknowledged is lost.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	at := []int{5, 12, 25}
	noticed := 0
	for _, n := range at {
		errs, refused := failing(t, "pwrite64", "ENOSPC", n)
		if refused {
			noticed++
			if !strings.Contains(errs, "free") || !strings.Contains(errs, "space") {
				t.Errorf("write %d: the remedy is missing: %s", n, errs)
			}
		}
	}
	if noticed < len(at)/2 { // the calls are counted by thread, and spread over several
		t.Errorf("only %d of %d agents noticed", noticed, len(at))
	}
}

// A home that is read-only is named with its remedy; a session in another home is not affected.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	k := newTalk(t, p, "frozen", say("done"), say("again"))
	k.run(t, 0, k.first()...)
	wrap := readOnly(t, p)
	a := k.under(t, wrap, k.again("go on")...)
	code, err := a.wait()
	if err != nil || code != 1 {
		t.Errorf("exit code %d, %v", code, err)
	}
	for _, want := range []string{"read-only", "PERDURE_HOME"} {
		if !strings.Contains(a.stderr.String(), want) {
			t.Errorf("stderr without %q: %s", want, &a.stderr)
		}
	}
	if err := os.Chmod(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k.run(t, 0, k.again("go on")...)
	k.sound(t, "")
}

// readOnly makes the home read-only for a program: by a mount where that is allowed, else by its mode.
func readOnly(t *testing.T, p *place) []string {
	t.Helper()
	mount := []string{"unshare", "-rm", "sh", "-c", `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`, p.dir}
	if exec.Command(mount[0], append(slices.Clone(mount[1:]), "true")...).Run() == nil {
		return mount
	}
	if err := os.Chmod(p.dir, 0o500); err != nil {
		t.Fatal(err)
	}
	return []string{"env"}
}

// One corrupt byte in the body of an event is found and named, wherever it is; other sessions open and run.
func TestCorruptByte(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	other := newTalk(t, p, "other", say("untouched"), say("still untouched"))
	other.run(t, 0, other.first()...)
	k := newTalk(t, p, "corrupt", say("one", "echo a >> %LOG"), say("done"), say("never asked for"))
	k.run(t, 0, k.first(bypass)...)
	n := k.head(t).Seq
	if err := p.home.Close(); err != nil {
		t.Fatal(err)
	}
	caught := 0
	db := openDatabase(t, filepath.Join(p.dir, "perdure.db"))
	for seq := int64(1); seq <= n; seq++ {
		flip(t, db, k.id, seq)
		out, _ := k.verb(t, 1, "verify", k.id)
		if strings.Contains(out, fmt.Sprintf("event %d ", seq)) {
			caught++
		} else {
			t.Errorf("event %d: verify says %s", seq, out)
		}
		if seq == n/2 {
			_, errs := k.verb(t, 1, k.again(bypass, "go on")...)
			if !strings.Contains(errs, "perdure verify "+k.id) {
				t.Errorf("the remedy is missing: %s", errs)
			}
			if r := other.run(t, 0, other.again("go on")...); r.Result != "still untouched" {
				t.Errorf("the other session: %+v", r)
			}
		}
		flip(t, db, k.id, seq)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	p.home = p.open(homes.Config{})
	k.sound(t, "a")
	other.sound(t, "")
	planted("verify", "one bit flipped in the body of each event of a log", int(n), caught)
}
