package permission

import "strings"

// steers reports a variable that makes a program run another one, or other text, than its name says. A prefix rule
// speaks of a program as it was when the session began.
func steers(name string) bool {
	switch name {
	case "PATH", "HOME", "SHELL", "IFS", "ENV", "BASH_ENV", "LANG", "LESSOPEN", "LESSCLOSE", "LESS", "VISUAL", "BROWSER", "MAKEFLAGS", "GOFLAGS", "GOROOT", "GOENV", "GOPROXY",
		"CC", "CXX", "AR", "FCEDIT", "SUDO_ASKPASS", "SSH_ASKPASS", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "CDPATH", "GLOBIGNORE",
		"POSIXLY_CORRECT", "XDG_CONFIG_HOME", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "BASHOPTS", "SHELLOPTS", "PS4", "PROMPT_COMMAND", "GCONV_PATH", "LOCPATH", "NLSPATH", "TERMINFO", "TERMINFO_DIRS",
		"TZDIR", "TZ", "MAGIC":
		return true
	}
	for _, begin := range []string{"LD_", "DYLD_", "GIT_", "LC_", "PYTHON", "PERL5", "RUBY", "npm_config_", "CARGO_", "RUSTC", "BASH_FUNC_"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR")
}

// steered says why a prefix rule must not allow a command in this environment, or "".
func (j *judge) steered() string {
	first := ""
	for _, name := range j.p.Changed {
		if steers(name) && (first == "" || name < first) {
			first = name
		}
	}
	if first == "" {
		return ""
	}
	return first + " is not what it was when the session began, so a command may be another than its name says; its exact text can be allowed"
}

// foreignCharset reports that bash may read the command in a character set in which a byte of one of the shell's
// signs is the second half of a character.
func foreignCharset(env map[string]string) bool {
	if env == nil {
		return true
	}
	locale := env["LANG"]
	for _, name := range []string{"LC_CTYPE", "LC_ALL"} {
		if env[name] != "" {
			locale = env[name]
		}
	}
	name, charset, _ := strings.Cut(locale, ".")
	charset, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(charset, "-", "")), "@")
	return charset != "utf8" && locale != "" && name != "C" && name != "POSIX"
}

// swallows reports that the second half of a character may be a sign of the shell.
func swallows(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i-1] >= 0x80 && strings.IndexByte("\\|`{}[]^~@", text[i]) >= 0 {
			return true
		}
	}
	return false
}

// charset marks a text that may mean something else in the locale of the command, or in one that the text sets.
func (s *script) charset() {
	sets := strings.Contains(s.text, "LC_") || strings.Contains(s.text, "LANG")
	if swallows(s.text) && (sets || foreignCharset(s.env)) {
		s.unknown = true
		s.odd("it has characters that the shell may read otherwise in this locale; in a UTF-8 locale it would not")
	}
}
