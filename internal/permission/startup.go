package permission

import (
	"slices"
)

// Names are in lower case here, for letter case is ignored: some filesystems
// ignore it.

// protectedNames are files and directories, at any depth and with everything
// below them, that programs execute from, obey when they start, or take
// credentials from.
var protectedNames = []string{
	".git", ".hg", ".jj", ".sl", ".perdure", ".ssh", ".gnupg", ".aws", ".azure", ".husky", ".githooks", ".devcontainer", ".emacs.d", ".vim",
	".bashrc.d", ".profile.d", ".zshrc.d", ".bash_completion.d", ".zsh", ".zfunc", ".oh-my-zsh", ".oh-my-bash", ".ipython", ".jupyter",
	".mcp.json", ".claude.json", ".devcontainer.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
	".bash_aliases", ".bash_completion", ".profile", ".inputrc", ".envrc", ".direnvrc", ".zshrc", ".zshenv",
	".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout",
	".pam_environment", ".xprofile", ".xsession", ".xsessionrc", ".xinitrc", ".xserverrc", ".forward", ".procmailrc",
	".rhosts", ".k5login", ".gitconfig", ".hgrc", ".netrc", ".pypirc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmrc",
	".condarc", ".gemrc", ".irbrc", ".pryrc", ".rprofile", ".ghci", ".ocamlinit", ".guile", ".perldb", ".pdbrc",
	".gdbinit", ".lldbinit", ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".ideavimrc", ".emacs", ".nanorc", ".tmux.conf", ".screenrc",
	".wezterm.lua", ".mailcap", ".lessfilter", ".lesskey", ".curlrc", ".wgetrc", ".psqlrc", ".sqliterc", ".my.cnf",
	".terraformrc",
}

// protectedPairs are the same within a directory of a certain name.
var protectedPairs = []struct {
	dir   string
	names []string
}{
	{".config", []string{
		"perdure", "git", "fish", "systemd", "environment.d", "autostart", "nvim", "vim", "emacs", "go", "gcloud", "gh",
		"direnv", "tmux", "zsh", "bash", "nushell", "starship.toml", "pip", "npm", "yarn", "hg", "i3", "sway", "hypr",
		"kitty", "alacritty", "ghostty", "wezterm", "user-dirs.dirs", "plasma-workspace", "pulse", "containers", "helm",
		"code", "code-insiders", "vscodium", "cursor", "jetbrains", "elvish", "powershell", "zellij", "lazygit", "bat", "openbox", "awesome", "bspwm", "sxhkd", "niri",
		"github-copilot", "opencode", "codex", "zed", "mise", "op", "rclone",
	}},
	{".local", []string{"bin"}},
	{".cargo", []string{"config", "config.toml", "env", "credentials", "credentials.toml"}},
	{".claude", []string{"settings.json", "settings.local.json", "commands", "agents", "hooks", "plugins", "skills"}},
	{".cursor", []string{"mcp.json", "hooks.json"}},
	{".codex", []string{"config.toml", "auth.json"}},
	{".gemini", []string{"settings.json", ".env"}},
	{".vscode", []string{"settings.json", "tasks.json", "launch.json", "mcp.json"}},
	{".docker", []string{"config.json", "cli-plugins"}},
	{".kube", []string{"config"}},
	{".pip", []string{"pip.conf"}},
	{".m2", []string{"settings.xml"}},
	{".gradle", []string{"init.gradle", "init.d", "gradle.properties"}},
	{".bundle", []string{"config"}},
	{".julia", []string{"config"}},
	{".subversion", []string{"config"}},
	{"library", []string{"launchagents", "launchdaemons"}},
	{"cron", []string{"crontabs", "tabs"}},
	{"etc", []string{
		"profile", "profile.d", "environment", "bash.bashrc", "bashrc", "zsh", "zshenv", "zshrc", "fish", "csh.cshrc",
		"csh.login", "cron.d", "cron.daily", "cron.hourly", "cron.weekly", "cron.monthly", "crontab", "anacrontab",
		"sudoers", "sudoers.d", "ld.so.preload", "pam.d", "gitconfig", "rc.local", "init.d", "systemd",
	}},
}

// StartupFiles are the paths, relative to a user's home directory, of what is
// protected there: for a caller that knows where symbolic links lead, or that
// another directory stands for one of them.
func StartupFiles() []string {
	out := slices.Clone(protectedNames)
	for _, p := range protectedPairs {
		for _, name := range p.names {
			if p.dir != "etc" && p.dir != "cron" {
				out = append(out, p.dir+"/"+name)
			}
		}
	}
	return out
}

// protectedName reports that a path segment, alone or together with the next
// one, is protected; first tells that it is the path's first.
func protectedName(seg, next string, first, glob bool) bool {
	if glob = glob && (isPattern(seg) || isPattern(next)); !glob {
		if seg[0] == '.' && slices.Contains(protectedNames, seg) {
			return true
		}
	} else if slices.ContainsFunc(protectedNames, func(name string) bool { return segMatches(seg, name, true) }) {
		return true
	}
	for _, p := range protectedPairs {
		// Any directory may be meant by a star: of those without a dot only the name itself counts.
		if next == "" || p.dir == "etc" && !first || !segMatches(seg, p.dir, glob && p.dir[0] == '.') {
			continue
		}
		if slices.ContainsFunc(p.names, func(name string) bool { return segMatches(next, name, glob) }) {
			return true
		}
	}
	return false
}
