package permission

import (
	"path"
	"slices"
	"strings"
)

// ProgramPlaces are directories, relative to a user's home, whose files are run by their names when they stand in PATH:
// where tools install programs, and the shims of version managers.
func ProgramPlaces() []string {
	return []string{
		"bin", ".local/bin", ".cargo/bin", "go/bin", ".go/bin", ".asdf/bin", ".asdf/shims", ".pyenv/bin", ".pyenv/shims", ".rbenv/bin", ".rbenv/shims", ".nodenv/bin", ".nodenv/shims",
		".goenv/bin", ".goenv/shims", ".jenv/bin", ".jenv/shims", ".plenv/shims", ".phpenv/shims", ".tfenv/bin", ".rvm/bin", ".nvm/versions", ".fnm", ".n/bin", ".volta/bin", ".proto/bin", ".proto/shims",
		".local/share/mise/shims", ".local/share/mise/installs", ".local/share/rtx/shims", ".local/share/fnm", ".local/share/pnpm", ".local/share/aquaproj-aqua/bin", ".local/share/uv/tools",
		".local/share/pipx/venvs", ".pnpm", ".npm-global/bin", ".npm-packages/bin", ".yarn/bin", ".config/yarn/global/node_modules/.bin", ".bun/bin", ".deno/bin", ".nix-profile/bin", ".linuxbrew/bin",
		".sdkman/candidates", ".krew/bin", ".dotnet/tools", ".composer/vendor/bin", ".config/composer/vendor/bin", ".luarocks/bin", ".cabal/bin", ".ghcup/bin", ".stack/programs", ".juliaup/bin",
		".elan/bin", ".swiftly/bin", ".foundry/bin", ".opam", ".rd/bin", ".orbstack/bin", ".pub-cache/bin", ".flutter/bin", ".fly/bin", ".tiup/bin", ".wasmer/bin", ".wasmtime/bin", "perl5/bin", "miniconda3/bin",
		"anaconda3/bin", "miniforge3/bin", "library/pnpm",
	}
}

// programPath reports a path in a directory of Policy.Programs that lies below the home or inside the session's
// directories. One that holds the whole home or the whole workspace is no such place.
func programPath(p Policy, abs string, glob bool) bool {
	clean := cleanForm(abs)
	if _, own := relative(p.TempDir, clean); own && strings.HasPrefix(p.TempDir, "/") {
		return false
	}
	return underAny(segmentsOf(clean), p.searches, glob)
}

func (p Policy) foundByName(dir string) bool {
	if !strings.HasPrefix(dir, "/") {
		return false
	}
	for _, whole := range append([]string{p.HomeDir, p.root()}, p.Dirs...) {
		if _, holds := relative(dir, whole); strings.HasPrefix(whole, "/") && holds {
			return false
		}
	}
	if slices.ContainsFunc(respelled(p.Links, path.Clean(dir)), func(other string) bool { return p.own(other) }) {
		return true
	}
	return p.own(dir)
}

// own reports a directory below the home or inside the session's directories.
func (p Policy) own(dir string) bool {
	_, below := relative(p.HomeDir, dir)
	return below && strings.HasPrefix(p.HomeDir, "/") || inside(p, dir)
}

// runWord gives the place of the word, of a command, that is run and not written: the program's name, the one behind a
// wrapper, or what an interpreter or the shell reads.
func runWord(argv []word) []int {
	if len(argv) == 0 {
		return nil
	}
	name, known := command{argv: argv}.name()
	if !known {
		return []int{0}
	}
	if f, ok := wrapper(name); ok && f.before >= 0 {
		in := unwrapFlags(name, f, argv[1:])
		if len(in.commands) == 1 && !in.program && !in.unknown && len(in.texts) == 0 {
			from := len(argv) - len(in.commands[0])
			out := []int{0}
			for _, i := range runWord(in.commands[0]) {
				out = append(out, from+i)
			}
			return out
		}
	}
	switch {
	case len(argv) < 2 || strings.HasPrefix(argv[1].text, "-"):
	case name == "source" || name == "." || name == "node" || name == "ruby" || name == "perl" || name == "bash" || name == "sh" || strings.HasPrefix(name, "python"):
		return []int{0, 1}
	}
	return []int{0}
}

// simplePath reports a word of nothing but the letters of a plain path.
func simplePath(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+~", c))
	})
}
