package homes

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/permission"
)

// startupVariables name files or directories that programs execute from, or take credentials from.
var startupVariables = []string{
	"BASH_ENV", "ENV", "ZDOTDIR", "INPUTRC", "PYTHONSTARTUP", "GIT_CONFIG_GLOBAL", "GNUPGHOME", "KUBECONFIG", "DOCKER_CONFIG",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "NPM_CONFIG_USERCONFIG", "PIP_CONFIG_FILE", "GOENV", "NETRC", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
}

// startupPaths are the start-up files of this user whose names alone do not tell: those that variables name, those of an
// XDG configuration directory elsewhere, and the targets of symbolic links (dotfiles are often kept so).
func startupPaths(getenv func(string) string) []string {
	var out []string
	user, xdg := getenv("HOME"), getenv("XDG_CONFIG_HOME")
	dirs := map[string]string{}            // directories by their own names: many files share one
	add := func(path string, known bool) { // known: its own name is protected anyway
		if !filepath.IsAbs(path) || path == user { // ZDOTDIR may be the home directory itself
			return
		}
		dir, base := filepath.Dir(filepath.Clean(path)), filepath.Base(path)
		real, ok := dirs[dir]
		if !ok {
			real = resolved(dir)
			dirs[dir] = real
		}
		real = filepath.Join(real, base)
		if info, err := os.Lstat(real); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			out = append(out, real)
			real = resolved(real)
		}
		if path = filepath.Clean(path); !known || real != path {
			out = append(out, path, real)
		}
	}
	for _, name := range startupVariables {
		for p := range strings.SplitSeq(getenv(name), string(filepath.ListSeparator)) {
			add(p, false)
		}
	}
	if filepath.IsAbs(user) {
		for _, dir := range []string{"bin", ".local/share/systemd", ".local/share/dbus-1", ".local/share/applications"} {
			add(filepath.Join(user, dir), false)
		}
		for _, name := range permission.StartupFiles() {
			add(filepath.Join(user, name), true)
		}
	}
	for _, config := range []string{filepath.Join(user, ".config"), xdg} { // either may be a link of its own
		for _, name := range []string{"config.toml", "allowed.toml", "trusted.toml"} {
			add(filepath.Join(config, "perdure", name), true)
		}
	}
	for _, name := range permission.StartupFiles() {
		if rest, ok := strings.CutPrefix(name, ".config/"); ok && filepath.IsAbs(xdg) {
			add(filepath.Join(xdg, rest), false)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(p string) bool { return p == "/" })
}

// programPaths are the directories where programs are found by their names: what PATH has now, and the known places of
// this user, also where symbolic links lead.
func programPaths(getenv func(string) string) []string {
	dirs := strings.Split(getenv("PATH"), string(filepath.ListSeparator))
	for _, variable := range []string{"GOPATH", "CARGO_HOME", "PNPM_HOME", "ASDF_DATA_DIR", "PYENV_ROOT", "RBENV_ROOT", "NODENV_ROOT", "VOLTA_HOME", "BUN_INSTALL", "DENO_INSTALL"} {
		for dir := range strings.SplitSeq(getenv(variable), string(filepath.ListSeparator)) {
			dirs = append(dirs, filepath.Join(dir, "bin"), filepath.Join(dir, "shims"))
		}
	}
	dirs = append(dirs, getenv("GOBIN"), getenv("PNPM_HOME"))
	for _, place := range permission.ProgramPlaces() {
		dirs = append(dirs, filepath.Join(getenv("HOME"), place))
	}
	known := resolver{}
	var out []string
	for _, dir := range dirs {
		if dir = filepath.Clean(dir); filepath.IsAbs(dir) {
			out = append(out, dir, known.resolved(dir))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resolver keeps where directories lead: many paths share one, and each is looked at once.
type resolver map[string]string

// resolved is as the function of that name, for a clean absolute path.
func (r resolver) resolved(path string) string {
	dir := filepath.Dir(path)
	if path == dir {
		return path
	}
	if real, known := r[path]; known {
		return real
	}
	real := filepath.Join(r.resolved(dir), filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		real = resolved(real)
	}
	r[path] = real
	return real
}

// resolved follows the symbolic links of a path, as far as it exists.
func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if dir := filepath.Dir(path); err != nil && dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return real
}
