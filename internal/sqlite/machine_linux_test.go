package sqlite

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// A process is known by its pid and by when it started: another one under the same pid is not taken for it.
func TestAProcessIsMoreThanItsPID(t *testing.T) {
	me := thisMachine()
	if me.ticks == 0 || me.boot == "" || me.pid != os.Getpid() {
		t.Fatalf("%+v", me)
	}
	if stat, err := os.ReadFile("/proc/self/stat"); err != nil || strings.Fields(string(stat))[21] != strconv.FormatUint(me.ticks, 10) {
		t.Errorf("this process started at %d: %s, %v", me.ticks, stat, err)
	}
	if state, ticks := stateOf("1"); me.pid != 1 && (state == 0 || ticks >= me.ticks) {
		t.Errorf("process 1: state %q, started at %d, this one at %d", state, ticks, me.ticks)
	}
	for ticks, want := range map[uint64]bool{me.ticks: false, me.ticks - 1: true, me.ticks + 1: true, 0: true} {
		if got := ended(me.pid, ticks); got != want {
			t.Errorf("of pid %d that started at %d (this one: %d): ended %t", me.pid, ticks, me.ticks, got)
		}
	}
	if state, ticks := stateOf("0"); state != 0 || ticks != 0 || !ended(0, 0) {
		t.Errorf("no process: %q, %d", state, ticks)
	}
}

// A process for which a SIGKILL waits, of its own or of its thread, runs no more code; other signals say nothing.
func TestKilledIsSeen(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tx\nSigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\n":                            true,
		"Name:\tx\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n":                            true,
		"Name:\tx\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000004102\n":                            true,
		"Name:\tx\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000100\n": false,
		"Name:\tx\nSigPnd:\tfffffffffffffeff\nShdPnd:\tfffffffffffffeff\n":                            false,
		"": false,
	} {
		if got := killed(status); got != want {
			t.Errorf("%q: %t", status, got)
		}
	}
}
