package engine

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// The variables that tell a command which ports are its session's: the range, and each port by its number, from 1.
const (
	portsVariable = "PERDURE_PORTS"
	portVariable  = "PERDURE_PORT_"
)

// tellPorts sets the variables. They are not another session's, in which this program may have been started.
func (s *world) tellPorts(vars map[string]string) {
	maps.DeleteFunc(vars, func(name, _ string) bool { return name == portsVariable || strings.HasPrefix(name, portVariable) })
	if s.eng.cfg.Ports == nil {
		return
	}
	first, last, err := s.eng.cfg.Ports(s.state.ID, s.idle())
	if err != nil {
		s.eng.cfg.Log.Info("commands are told no ports", "session", s.state.ID, "error", err)
		return
	}
	vars[portsVariable] = fmt.Sprintf("%d-%d", first, last)
	for p := first; p <= last; p++ {
		vars[portVariable+strconv.Itoa(p-first+1)] = strconv.Itoa(p)
	}
}

// idle reports whether nothing of the session runs that could listen on a port.
func (s *world) idle() bool {
	for i := range s.state.Tasks {
		if t := &s.state.Tasks[i]; t.Session == "" && t.Live() {
			return false
		}
	}
	for c := range s.openCalls() {
		if c.State == session.ActExecuting {
			return false
		}
	}
	return true
}
