package sys

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What does not work on a system is named, and the system, and what it would need.
func TestARefusalNamesTheThingAndTheSystem(t *testing.T) {
	err := refusal("commands", false, "Linux or macOS", "windows")
	if err == nil || err.Error() != "commands need Linux or macOS; this is windows" || !errors.Is(err, ErrSystem) {
		t.Errorf("commands on Windows: %v", err)
	}
	if err := refusal("commands", true, "Linux or macOS", "linux"); err != nil {
		t.Errorf("commands on Linux: %v", err)
	}
}

// Here everything works, or each refusal is one that callers can tell.
func TestWhatWorksHereIsNotRefused(t *testing.T) {
	for _, err := range []error{Commands(), Captures()} {
		if whole != (err == nil) || err != nil && !errors.Is(err, ErrSystem) {
			t.Errorf("refused: %v", err)
		}
	}
	if err := Files(); unixFiles != (err == nil) {
		t.Errorf("files: %v", err)
	}
}

// A lock goes with the opening of a file, is changed and given back, and keeps nobody from reading.
func TestAFileIsLockedByItsOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := Shareable(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	a, b := open(), open()
	do := func(f *os.File, how int, want error) {
		t.Helper()
		if err := Flock(f, how|Try); !errors.Is(err, want) {
			t.Fatalf("lock %#x: %v, want %v", how, err, want)
		}
	}
	do(a, Shared, nil)
	do(b, Shared, nil)
	do(a, Exclusive, ErrLocked)
	do(b, Exclusive, nil)
	do(a, Shared, ErrLocked)
	if _, err := b.WriteString("text"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "text" {
		t.Errorf("read beside the lock: %q, %v", got, err)
	}
	do(b, Unlock, nil)
	do(a, Exclusive, nil)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	do(b, Exclusive, nil)
}

// Whoever has a file open sees that it was removed.
func TestAFileWithoutANameIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := Shareable(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := Names(f); err != nil || n != 1 {
		t.Errorf("with its name: %d, %v", n, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if n, err := Names(f); err != nil || n != 0 {
		t.Errorf("without its name: %d, %v", n, err)
	}
}
