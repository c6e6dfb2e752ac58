package task

import (
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepsEnds makes this process the one that inherits what a dead shim leaves, where the kernel forgets how a process
// ended once somebody else has reaped it (before Linux 6.15). Nobody reaps it here, so its row in the process table
// tells, as in a container whose first process does not reap: the exit codes that the tests demand can be known then.
func keepsEnds() {
	if !kernelTells() {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
}

// inheritOrphans makes this process, instead of process 1, the parent of those whose shim dies, and the one that reaps
// them: some systems' process 1 does so at once and others' never.
func inheritOrphans(t *testing.T) {
	t.Helper()
	var before int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&before)), 0, 0, 0)
	if err == nil {
		err = becomeSubreaper()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(before), 0, 0, 0) })
}

// kernelTells says whether the kernel remembers for a handle how a process ended that was reaped.
func kernelTells() bool {
	c := exec.Command("sh", "-c", "exit 42")
	if c.Start() != nil {
		return false
	}
	fd, err := unix.PidfdOpen(c.Process.Pid, 0)
	_ = c.Wait()
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	return unix.IoctlPidfdInfo(fd, &info) == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0 && unix.WaitStatus(info.Exit_code).ExitStatus() == 42
}
