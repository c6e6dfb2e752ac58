package permission

import "testing"

// Names are found at any depth, in any letter case and through patterns; what only looks alike is free.
func TestProtectedNames(t *testing.T) {
	for command, want := range map[string]Effect{
		"touch .bash_aliases": Ask, "touch a/b/.BASHRC": Ask, "touch ~/.config/perdure/config.toml": Ask, "touch .config/fish/x": Ask, "touch ~/.local/bin/x": Ask,
		"touch /etc/cron.d/x": Ask, "touch x/etc/cron.d/x": Allow, "touch /var/spool/cron/crontabs/root": Ask, "touch ~/Library/LaunchAgents/x": Ask,
		"touch .vimr?": Ask, "touch .conf[i]g/perdure/x": Ask, "touch .config/sys*/x": Ask, "touch .c*/perdure/x": Ask, "touch .claude/settings.json": Ask,
		"touch .claude/notes.md": Allow, "touch .config/other": Allow, "touch .vscode/extensions.json": Allow, "touch src/*/*": Allow, "touch */*": Allow, "touch *.json": Allow,
		"touch bashrc": Allow, "touch .bashrc.md": Allow, "touch .github/workflows/ci.yml": Ask, "touch Makefile": Allow, "cat /etc/passwd": Allow, "touch library": Allow,
	} {
		d := Decide(Policy{Mode: ModeBypass, Root: "/w", Cwd: "/w", HomeDir: "/home/u"}, bash(command))
		if d.Effect != want {
			t.Errorf("%s: %s (%s), want %s", command, d.Effect, d.Reason, want)
		}
	}
}
