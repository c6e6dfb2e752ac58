package homes

import (
	"slices"
	"testing"
)

// Goal: commands do not learn which terminal the session was started in, which it outlives, nor the keys of models;
// everything else of the environment is theirs, the agent of ssh included.
func TestWhatCommandsInherit(t *testing.T) {
	kept := []string{"PATH=/bin", "SSH_AUTH_SOCK=/tmp/agent", "TERM=xterm", "TMUX_TMPDIR=/tmp", "STYLE=x", "HOME=/h"}
	gone := []string{"TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%1", "STY=1.pts", "KITTY_LISTEN_ON=unix:x", "WEZTERM_PANE=1", "ANTHROPIC_API_KEY=k"}
	if got := forCommands(slices.Concat(kept, gone)); !slices.Equal(got, kept) {
		t.Errorf("commands inherit %q, want %q", got, kept)
	}
}
