package notify

import "strings"

// terminal is what is known of a terminal by its environment.
type terminal struct {
	title, bell bool
	osc         bool // it takes sequences that it does not know for nothing
	osc777      bool // it knows notifications of this form rather than those of OSC 9
	tmux        bool
}

// terminalOf tells what a terminal understands. The console of Linux takes the rest of a title for text, and what is dumb
// shows everything. Of the two forms of notifications one is chosen, since many terminals know both and would show two.
func terminalOf(getenv func(string) string) terminal {
	term := getenv("TERM")
	t := terminal{title: true, bell: true, osc: true, tmux: getenv("TMUX") != ""}
	switch {
	case term == "" || term == "dumb" || term == "unknown" || strings.HasPrefix(term, "vt") || term == "emacs":
		return terminal{}
	case term == "linux" || term == "cons25" || strings.HasPrefix(term, "sun"):
		return terminal{bell: true}
	}
	t.osc777 = strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot") || getenv("VTE_VERSION") != ""
	return t
}
