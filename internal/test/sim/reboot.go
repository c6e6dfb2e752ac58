package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// Rebooted is a script of a person's task, of its end by a reboot and after it by a kill.
func Rebooted() *Script {
	const late = 20 * time.Millisecond
	return &Script{
		Prompts: []Prompt{
			{Turn: "before", Task: "run service"},
			{Turn: "after", Reboot: true},
			{Turn: "killed", Kill: "bash_1"},
		},
		Commands: map[string]Behaviour{
			"run service": {Output: "serving\n", Forever: true, Late: late, Twice: true},
			"run helper":  {Output: "helping\n", Forever: true},
			"run after":   {Output: "after\n"},
		},
		Turns: map[string][]Reply{
			"before": {say("helper", background("run helper")), say("look", output("bash_1"), output("bash_2")), say("looked")},
			"after":  {say("look again", output("bash_2"), bash("run after")), say("seen")},
			"killed": {say("look last", bash("run after")), say("end")},
		},
	}
}

func (w *World) bootID() string { return fmt.Sprintf("boot-%d", w.reboots.Load()+1) }

// reboot restarts the machine under a process.
func (w *World) reboot(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rebootLocked()
	p.dieLocked()
}

// rebootLocked ends every command with nobody to see it. Of what was only prepared it can no longer be told whether it
// ran.
func (w *World) rebootLocked() {
	w.reboots.Add(1)
	for _, c := range w.commands {
		lost := command.State{Status: command.Lost, Reason: command.ReasonReboot}
		switch {
		case c.void || c.why != "":
		case c.state.Status == "":
			close(c.claimed)
			close(c.ended)
			c.state = lost
		case c.state.Status == command.Running:
			lost.PID, lost.StartTicks, lost.BootID, lost.Started = c.state.PID, c.state.StartTicks, c.state.BootID, c.state.Started
			c.state = lost
			close(c.ended)
		}
	}
}

// runsOf is how often a command may run in all, by what the runs are counted under.
func (w *World) runsOf(what string) int {
	_, script, _ := strings.Cut(what, ": ")
	switch {
	case !w.script.Commands[script].Twice:
		return 1
	case w.cfg.Reboots:
		return int(w.reboots.Load()) + 1
	}
	return 2
}

// tend is a human who sees to tasks before the next prompt.
func (h *human) tend(st *session.State, p Prompt) (wish, bool) {
	w := h.w
	if p.Task != "" {
		if acted := h.startTask(st, p.Task); acted {
			return wish{}, true
		}
	}
	if p.Reboot && w.reboots.Load() == 0 {
		return wish{reboot: true}, false
	}
	if t := st.Task(p.Kill); t != nil && t.Live() {
		h.send("kill-"+p.Kill, &session.TaskSignalled{Task: t.ID, Signal: "SIGTERM", By: command.ByUser})
		return wish{}, true
	}
	return wish{}, false
}

// startTask asks for a task, and again for one whose start was interrupted.
func (h *human) startTask(st *session.State, script string) bool {
	for i := range st.Tasks {
		t := &st.Tasks[i]
		if t.Command != script {
			continue
		}
		if t.Reason == command.ReasonNeverStarted {
			h.send(fmt.Sprintf("task-%s-%d", script, t.Attempt), &session.TaskRequested{Task: t.ID})
			return true
		}
		return false
	}
	h.send("task-"+script, &session.TaskRequested{Command: script, Cwd: "/w", Restart: session.RestartOnReboot})
	return true
}

// anyAttempt leaves out of a note which attempt it is about.
func anyAttempt(note string) string {
	before, rest, found := strings.Cut(note, ", as attempt ")
	if !found {
		return note
	}
	_, after, _ := strings.Cut(rest, " ")
	return before + ", as attempt N " + after
}
