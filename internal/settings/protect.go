package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrProtect is wrapped by errors about an entry of protect.
var ErrProtect = errors.New("it names no path that can be protected")

// protectEntries makes each entry an absolute path or one under ~, relative ones below dir; where dir is empty they
// are refused. An entry that would protect nothing is an error: ignoring it would widen.
func protectEntries(entries []string, file, dir string) ([]string, error) {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		p := e
		for _, home := range []string{"$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(p, home); ok && (rest == "" || rest[0] == '/') {
				p = "~" + rest
			}
		}
		under := p == "~" || strings.HasPrefix(p, "~/")
		switch {
		case p == "", !under && strings.HasPrefix(p, "~"), strings.ContainsAny(p, "$*?[\x00"):
			return nil, fmt.Errorf("configuration %s: protect %q: %w", file, e, ErrProtect)
		case under, filepath.IsAbs(p):
		case dir == "":
			return nil, fmt.Errorf("configuration %s: protect %q: %w: it is relative, and this file belongs to no directory", file, e, ErrProtect)
		default:
			p = filepath.Join(dir, p)
		}
		out = append(out, p)
	}
	return out, nil
}
