package homes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/realdir"
)

func (h *Home) getenv(name string) string {
	for _, kv := range h.cfg.Environ {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// terminalVariables lead to the terminal that a session was started or resumed in, by the server that can type into it. A
// session outlives its terminal, and has none of its own.
var terminalVariables = []string{
	"TMUX", "TMUX_PANE", "STY", "KITTY_LISTEN_ON", "KITTY_WINDOW_ID", "WEZTERM_UNIX_SOCKET", "WEZTERM_PANE", "ZELLIJ",
	"ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME",
}

// forCommands is what commands inherit: the environment without provider keys and without what leads to a terminal.
func forCommands(environ []string) []string {
	keys := connect.KeyVariables()
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(keys, k) || slices.Contains(terminalVariables, k)
	})
}

// gitCeiling ends git's search for a repository: it goes up into none of these directories.
const gitCeiling = "GIT_CEILING_DIRECTORIES"

// belowCeiling has git find no repository around the directories of sessions' own: one that is a copy without git would
// else be a part of whatever repository the home lies in, such as one of the person's whole home directory.
func (h *Home) belowCeiling(environ []string) []string {
	ceiling := filepath.Dir(h.ownTop("x"))
	for i, kv := range environ {
		if k, v, _ := strings.Cut(kv, "="); k == gitCeiling {
			environ = slices.Clone(environ)
			environ[i] = gitCeiling + "=" + ceiling + string(filepath.ListSeparator) + v
			return environ
		}
	}
	return append(environ[:len(environ):len(environ)], gitCeiling+"="+ceiling)
}

// secrets gathers the values that must not reach model and log: keys of model APIs, what the caller names, and whatever
// else of the environment is a credential by its name and looks like one. The last stay in the environment of commands,
// which need them (gh, aws); only what they print of them is replaced.
func secrets(cfg Config) map[string]string {
	out := map[string]string{}
	keys := connect.KeyVariables()
	for _, kv := range cfg.Environ {
		if k, v, _ := strings.Cut(kv, "="); slices.Contains(keys, k) {
			out[k] = strings.TrimSpace(v) // what is sent, and printed, has no white space around it
		} else if v = strings.TrimSpace(v); credential(k) && looksSecret(v) {
			out[k] = v
		}
	}
	for k, v := range cfg.Secrets {
		out[k] = strings.TrimSpace(v)
	}
	return out
}

// tempDir is a session's TMPDIR. It is kept until the session is deleted.
func (h *Home) tempDir(sessionID string) (string, error) {
	dir := filepath.Join(h.dir, "tmp", sessionID)
	if err := realdir.Check(h.dir, "tmp"); err != nil {
		return "", err
	}
	// A command may have put a link in its place, to a directory that the files of others are not meant for.
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		if err := os.Remove(dir); err != nil {
			return "", err
		}
	}
	root, err := realdir.Make(h.dir, "tmp", sessionID)
	if err != nil {
		return "", err
	}
	return dir, root.Close()
}

// credential reports whether a variable holds a credential, by its name.
func credential(name string) bool {
	name = strings.ToUpper(name)
	for _, end := range []string{
		"_API_KEY", "_APIKEY", "_TOKEN", "_SECRET", "_SECRET_KEY", "_SECRET_ACCESS_KEY", "_PRIVATE_KEY", "_ACCESS_KEY",
		"_PASSWORD", "_PASSWD", "_PASSPHRASE", "PGPASSWORD", "_PWD",
	} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// looksSecret keeps words that stand in ordinary texts (a password "postgres", a path) from being replaced there: a
// secret has a letter and a digit, or 16 bytes, and is no path.
func looksSecret(v string) bool {
	letter := strings.ContainsFunc(v, unicode.IsLetter)
	digit := strings.ContainsFunc(v, unicode.IsDigit)
	path := filepath.IsAbs(v) && strings.Count(v, "/") > 1 && !strings.ContainsAny(v, "+=")
	return !path && (letter && digit || len(v) >= 16)
}
