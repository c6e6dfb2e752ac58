package permission

import "strings"

// profile says why a prefix rule alone must not allow a command, or "". Exact
// rules and a bare Bash rule do not ask it.
func profile(c command) string {
	name, known := c.name()
	if !known {
		return "the name of the command is not literal"
	}
	if _, ok := wrapper(name); ok {
		return name + " runs other commands"
	}
	if interpreter(name) || shellBuiltin(name) || writer(name) {
		return name + " can run programs or write files by its options; only its exact text, or all of Bash, can be allowed"
	}
	switch name {
	case "git":
		return gitProfile(c.argv)
	case "go":
		return goProfile(c.argv)
	case "test", "[", "printf":
		return subscriptProfile(name, c.argv[1:])
	}
	return ""
}

// subscriptProfile asks for the options that take a variable's name: it may hold a subscript, which is evaluated.
func subscriptProfile(name string, args []word) string {
	if name == "printf" {
		format := args
		if len(args) > 0 && args[0].text == "--" {
			format = args[1:]
		}
		if len(format) > 0 && (format[0].glob || !format[0].known || countsBytes(format[0].text)) {
			return "the format of printf may have %n, which sets a variable, PATH for instance"
		}
	}
	options := true // of printf, which has them before its format only
	for _, w := range args {
		if w.text == "-R" || strings.HasPrefix(w.text, "-v") {
			return name + " " + clip(w.text) + " evaluates a variable's subscript"
		}
		if isPattern(w.form) && (name != "printf" || options) {
			form := formTokens(w.form, false)
			if overlap(form, literalTokens("-v")) || overlap(form, literalTokens("-R")) || name == "printf" && leadingGlob(w) {
				return "a file pattern may turn into an option of " + name
			}
		}
		options = options && strings.HasPrefix(w.text, "-") && w.text != "--"
	}
	return ""
}

// interpreter reports a program whose words, files or targets are programs.
func interpreter(name string) bool { return language(name) || builder(name) }

// language lists interpreters that read a program from standard input when they
// get no file.
func language(name string) bool {
	if i := strings.IndexFunc(name, func(c rune) bool { return c >= '0' && c <= '9' || c == '.' }); i > 0 && strings.Trim(name[i:], "0123456789.-") == "" {
		name = name[:i] // python3.13, perl5.40
	}
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "pwsh", "elvish", "nu",
		"python", "pypy", "ipython", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish",
		"Rscript", "R", "julia", "swift", "scala", "groovy", "java", "jshell", "erl", "elixir", "ghci", "runghc", "ocaml", "guile",
		"osascript", "ts-node", "tsx",
		"awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "view", "emacs", "nano", "m4", "dc", "bc",
		"sqlite", "psql", "mysql", "mariadb", "mongo", "mongosh", "redis-cli", "gdb", "lldb",
		"ftp", "sftp", "scp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "openssl", "gpg", "ldd", "ld.so":
		return true
	}
	return false
}

// builder lists programs that run what a project's files say.
func builder(name string) bool {
	switch name {
	case "make", "gmake", "bmake", "ninja", "cmake", "ctest", "just", "task", "rake", "ant", "mvn", "gradle", "gradlew", "bazel",
		"npm", "npx", "yarn", "pnpm", "pnpx", "bunx", "corepack", "pip", "pipx", "uv", "uvx", "poetry", "gem", "bundle", "bundler",
		"composer", "conda", "tox", "nox", "pre-commit", "ansible", "ansible-playbook", "terraform", "vagrant":
		return true
	}
	return false
}

// writer lists programs that look harmless, and run or write by an option.
func writer(name string) bool {
	switch name {
	case "find", "gfind", "rg", "ag", "ack", "sort", "gsort", "uniq", "split", "csplit", "tee", "dd", "tar", "gtar", "bsdtar", "cpio",
		"zip", "unzip", "7z", "7za", "ar", "man", "info", "less", "more", "most", "pager", "lynx", "w3m", "curl", "wget", "aria2c",
		"base64", "base32", "xxd", "yq", "tree", "install", "file", "ip", "nmap", "tcpdump", "git-shell", "hg", "svn", "gh", "glab",
		"systemctl", "journalctl", "apt", "apt-get", "dpkg", "rpm", "yum", "dnf", "snap", "brew", "date", "hostname", "mount", "umount",
		"ln", "iconv", "patch", "pr", "shuf", "diff3", "sdiff", "look":
		return true
	}
	return false
}

// shellBuiltin lists builtins that run text, define names, or evaluate the
// subscript of a variable's name.
func shellBuiltin(name string) bool {
	switch name {
	case "eval", "exec", "command", "builtin", "source", ".", "trap", "alias", "unalias", "enable", "hash", "set", "shopt", "read",
		"mapfile", "readarray", "getopts", "unset", "bind", "complete", "compgen", "compopt", "fc", "wait", "history", "let",
		"declare", "typeset", "local", "export", "readonly", "coproc":
		return true
	}
	return false
}

// goProfile asks for what makes the go command run another program or write to a
// place of the caller's choice.
func goProfile(argv []word) string {
	if len(argv) < 2 {
		return ""
	}
	if !argv[1].known {
		return "the subcommand of go is not literal"
	}
	switch sub := argv[1].text; sub {
	case "build", "test", "vet", "fmt", "list", "mod", "version", "doc", "help", "clean", "work":
	case "env":
		if len(argv) > 2 {
			for _, w := range argv[2:] {
				if strings.HasPrefix(w.text, "-") && w.text != "-json" {
					return "go env " + clip(w.text) + " changes go's configuration"
				}
			}
		}
	default:
		return "go " + clip(sub) + " runs or installs programs"
	}
	for _, w := range argv[2:] {
		if leadingGlob(w) {
			return "a file pattern may turn into an option of go"
		}
		if opt, is := strings.CutPrefix(w.text, "-"); is && goOption(opt) {
			return "go's option " + clip(w.text) + " runs a program or writes where it says"
		}
	}
	return ""
}

// goOption reports an option, without its first dash, that runs a program or writes where it says. Those of a test
// binary may carry its prefix.
func goOption(opt string) bool {
	opt, _, _ = strings.Cut(strings.TrimPrefix(opt, "-"), "=")
	switch strings.TrimPrefix(opt, "test.") {
	case "exec", "toolexec", "vettool", "overlay", "o", "c", "C", "modfile", "pkgdir", "outputdir", "http",
		"ldflags", "gcflags", "asmflags", "gccgoflags", "compiler", "fuzzcachedir", "cpuprofile", "memprofile",
		"blockprofile", "mutexprofile", "coverprofile", "trace", "testlogfile", "gocoverdir", "fix":
		return true
	}
	return strings.HasPrefix(opt, "debug-")
}

// leadingGlob reports that the shell may replace the word by an option.
func leadingGlob(w word) bool {
	return w.glob && (w.text == "" || strings.IndexByte("*?[-", w.text[0]) >= 0)
}
