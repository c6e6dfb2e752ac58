package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No file that makes other programs run something, the user's own configuration of perdure first of all, is written
// because edits are allowed, wherever the configuration lies.
func TestStartupFilesAreNotWritten(t *testing.T) {
	for name, env := range map[string][]string{
		".config/perdure/config.toml": nil, "conf/perdure/config.toml": {"XDG_CONFIG_HOME=conf"}, "conf/fish/config.fish": {"XDG_CONFIG_HOME=conf"},
		"linked/perdure/config.toml": {"XDG_CONFIG_HOME=link"}, "dotfiles/bashrc": nil, "my/env.sh": {"BASH_ENV=my/env.sh"}, "my/gitconfig": {"GIT_CONFIG_GLOBAL=my/gitconfig"},
		".bash_aliases": nil, ".config/systemd/user/x.service": nil, ".config/environment.d/x.conf": nil, ".config/autostart/x.desktop": nil, ".pam_environment": nil,
		".xprofile": nil, ".xsessionrc": nil, ".local/bin/git": nil, ".vimrc": nil, ".config/nvim/init.lua": nil, ".tmux.conf": nil, ".cargo/config.toml": nil, ".config/go/env": nil,
		".npmrc": nil, ".claude/settings.json": nil, ".claude/settings.local.json": nil, ".cursor/mcp.json": nil, ".husky/pre-commit": nil, ".gnupg/gpg.conf": nil, ".netrc": nil,
		".pypirc": nil, ".docker/config.json": nil, ".kube/config": nil, ".aws/config": nil, ".config/gcloud/x": nil, ".vscode/tasks.json": nil, ".vscode/settings.json": nil,
		"project/AGENTS.md": nil, "project/.github/workflows/ci.yml": nil, "project/.idea/workspace.xml": nil, "project/sitecustomize.py": nil, ".local/share/systemd/user/x.service": nil,
		".cargo/bin/git": nil, "go/bin/gofmt": nil, ".asdf/shims/node": nil, ".pyenv/shims/python": nil, "tools/x/git": {"PATH=tools/x"}, "linked/git": {"PATH=link"},
		"project/.envrc": nil, "project/.vscode/tasks.json": nil, "project/.husky/pre-push": nil, ".Rprofile": nil, "Library/LaunchAgents/x.plist": nil, "bin/tool": nil, "zdot/.zshrc": {"ZDOTDIR=zdot"}, "zdot/functions/x": {"ZDOTDIR=zdot"},
	} {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			w := newWorld(t)
			for _, dir := range []string{"conf", "linked", "dotfiles", "my", "project", "bin", "zdot"} {
				if err := os.Mkdir(filepath.Join(w.user, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			w.write(filepath.Join(w.user, "dotfiles/bashrc"), "x\n")
			for link, target := range map[string]string{"link": "linked", ".bashrc": "dotfiles/bashrc"} {
				if err := os.Symlink(target, filepath.Join(w.user, link)); err != nil {
					t.Fatal(err)
				}
			}
			for _, kv := range env {
				k, v, _ := strings.Cut(kv, "=")
				if v = filepath.Join(w.user, v); k == "PATH" {
					v += ":" + os.Getenv("PATH")
				}
				w.env = append(w.env, k+"="+v)
			}
			cmd := w.command(run1("s", w.model(calls(call{"Write", map[string]any{"file_path": filepath.Join(w.user, name), "content": "x"}})), "--permission-mode", "acceptEdits")...)
			cmd.Dir = w.user
			if o := w.finish(cmd); o.code != 3 {
				t.Errorf("it was written: %s", o)
			}
			o := w.perdure(run1("b", w.model(calls(bash("echo x > "+filepath.Join(w.user, name)))), bypass)...)
			if o.code != 3 {
				t.Errorf("a command wrote it: %s", o)
			}
		})
	}
}
