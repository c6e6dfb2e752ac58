package run_test

import "testing"

// Goal: who was given the flag that skips permissions, and forks or goes back on the screen, goes on in that mode,
// which is said; who has set another mode since, or goes to another session, has it not, and neither has a fork of a
// session that another process holds with that flag. A mode that was given by a flag is not lost, and a fork is never
// allowed more than its parent.
func TestTheFlagThatSkipsPermissionsGoesAlongToAForkOnTheScreenAndNoFurther(t *testing.T) {
	p := newProject(t)
	p.App.Environ = append(p.App.Environ, "TERM=xterm-256color")

	ann := p.Sit(100, 30, "-r", "s", "--dangerously-skip-permissions")
	ann.Sees("what is to be done")
	ann.Types("/fork conversation\r")
	ann.Sees("the mode is bypassPermissions here, too, by the flag")
	ann.Types("work\r")
	ann.Sees("worked")
	ann.Types("/mode default\r")
	ann.Sees("· mode default")
	ann.Types("/rename kin\r")
	ann.Sees("the session is called kin")
	ann.Types("/fork conversation\r")
	ann.Sees("kin (fork)")
	ann.Types("work\r")
	ann.Sees("waits for you")
	ann.Types("\x03\x03")
	ann.Left(0)

	held := p.Sit(100, 30, "-r", "s", "--dangerously-skip-permissions")
	held.Sees("what is to be done")
	bob := p.Sit(100, 30, "attach", "s")
	bob.Sees("what is to be done")
	bob.Types("/fork conversation\r")
	bob.Sees("the mode is default here: bypassPermissions is for the process that was given its flag")
	bob.Types("\x03\x03")
	bob.Left(0)
	held.Types("\x03\x03")
	held.Left(0)
}
