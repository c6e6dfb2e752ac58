package homes

import (
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/view"
)

// Bounds of what is shown of a lost task's output, and of what is read for it.
const (
	lastLines  = 10
	lastBytes  = 2 << 10
	lastWindow = 64 << 10
)

// lastWords adds the end of what a task printed that is lost, or that the system ended: it tells what became of it.
func (h *Home) lastWords(t *view.Task) {
	if t.Status != taskLost && t.By != command.BySystem || t.Output == 0 {
		return
	}
	r := h.commands()
	var out []byte
	for from := max(0, t.Output-lastWindow); len(out) <= lastWindow; {
		b, next, _, err := r.Read(t.SessionID, t.Act, from, lastWindow)
		if err != nil || next <= from {
			break // that it is lost is shown all the same
		}
		out, from = append(out, b...), next
	}
	t.LastOutput = tools.LastLines(h.secret.Replace(out), lastLines, lastBytes)
}

// rebooted tells of a command of which nothing usable is left that it ran before the machine's last start, which took
// it: its records were not synced.
func rebooted(st command.State, boot string) bool {
	nothingLeft := st.Reason == command.ReasonDirMissing || st.Reason == command.ReasonDamaged
	return st.Status == command.Lost && nothingLeft && boot != "" && task.BootID() != "" && boot != task.BootID()
}
