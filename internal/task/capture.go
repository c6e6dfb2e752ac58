//go:build linux || darwin

package task

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/command"
)

// readCapture returns the shell's last working directory and how its exported variables differ from those the command
// was given. A missing or torn report, as after exec or a kill, gives neither and is not an error.
func (d actDir) readCapture() (string, command.EnvDelta, error) {
	b, err := readBounded(d.path(captureName))
	if err != nil {
		return "", nil, ignoreMissing(err)
	}
	parts := bytes.Split(b, []byte{0})
	if len(parts) != 4 || string(parts[0]) != "perdure 1" || string(parts[3]) != "end" {
		return "", nil, nil
	}
	plan, err := d.readPlan()
	if err != nil {
		return "", nil, err
	}
	after, err := parseExports(string(parts[2]))
	if err != nil {
		return "", nil, err
	}
	cwd := strings.TrimSuffix(string(parts[1]), "\n")
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() || !filepath.IsAbs(cwd) || !utf8.ValidString(cwd) {
		cwd = "" // it was removed meanwhile: the next command could not start there
	}
	return cwd, envDelta(plan.Env, after), nil
}

// envDelta compares a complete environment with the variables a shell exported at its end. Names that a shell cannot
// hold were passed through unseen and count as unchanged; values that are not UTF-8 cannot be recorded.
func envDelta(before []string, after map[string]string) command.EnvDelta {
	old := make(map[string]string, len(before))
	for _, kv := range before {
		if k, v, ok := strings.Cut(kv, "="); ok && shellName(k) && !perCommand(k) {
			old[k] = v
		}
	}
	delta := command.EnvDelta{}
	for k, v := range after {
		if was, ok := old[k]; (!ok || was != v) && !perCommand(k) && utf8.ValidString(v) {
			delta[k] = &v
		}
	}
	for k := range old {
		if _, ok := after[k]; !ok {
			delta[k] = nil
		}
	}
	return delta
}

// perCommand names what is set anew for each command and never carried from one to the next.
func perCommand(key string) bool {
	switch key {
	case "TMPDIR", "SHLVL", "_", "PWD", "OLDPWD":
		return true
	}
	return strings.HasPrefix(key, "PERDURE_") || strings.HasPrefix(key, "__perdure_") || steersShell(key)
}

func shellName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

var errExports = errors.New("unreadable list of exported variables")

// parseExports reads what bash's "export -p" prints: lines of "declare -x NAME=VALUE", or "export NAME=VALUE" in posix
// mode, where VALUE is in double quotes or in $'…' and may span lines. Exported names without a value, and arrays,
// which no environment can hold, are left out.
func parseExports(s string) (map[string]string, error) {
	vars := map[string]string{}
	for s != "" {
		word, rest, ok := strings.Cut(s, " ")
		if ok && word == "declare" {
			_, rest, ok = strings.Cut(rest, " ")
		} else if word != "export" {
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("%w: at %.40q", errExports, s)
		}
		n := 0
		for n < len(rest) && rest[n] != '=' && rest[n] != '\n' {
			n++
		}
		name := rest[:n]
		if rest = rest[n:]; strings.HasPrefix(rest, "\n") || rest == "" {
			s = strings.TrimPrefix(rest, "\n")
			continue
		}
		value, rest, err := unquote(rest[1:])
		if err != nil {
			return nil, fmt.Errorf("%w: value of %.40s", err, name)
		}
		if shellName(name) && !strings.HasPrefix(value, arrayMark) {
			vars[name] = value
		}
		s = rest
	}
	return vars, nil
}

// arrayMark cannot begin a value: no environment holds a NUL.
const arrayMark = "\x00array"

// unquote reads one value and the newline after it.
func unquote(s string) (value, rest string, err error) {
	var b strings.Builder
	for s != "" && s[0] != '\n' {
		var part string
		switch {
		case s[0] == '(':
			end := strings.Index(s, ")\n")
			if end < 0 {
				return "", "", errExports
			}
			return arrayMark, s[end+2:], nil
		case s[0] == '"':
			part, s, err = unquoteDouble(s[1:])
		case strings.HasPrefix(s, "$'"):
			part, s, err = unquoteANSI(s[2:])
		case s[0] == '\\' && len(s) > 1:
			part, s = s[1:2], s[2:]
		default:
			part, s = s[:1], s[1:]
		}
		if err != nil {
			return "", "", err
		}
		b.WriteString(part)
	}
	return b.String(), strings.TrimPrefix(s, "\n"), nil
}

func unquoteDouble(s string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errExports
}

// unquoteANSI reads the escapes that bash itself writes: letters, quotes and three octal digits.
func unquoteANSI(s string) (value, rest string, err error) {
	const letters, bytesOf = `abefnrtvE\'"?`, "\a\b\x1b\f\n\r\t\v\x1b\\'\"?"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\'' {
			return b.String(), s[i+1:], nil
		}
		if c != '\\' || i+1 == len(s) {
			b.WriteByte(c)
			continue
		}
		i++
		if j := strings.IndexByte(letters, s[i]); j >= 0 {
			b.WriteByte(bytesOf[j])
			continue
		}
		n := i
		for n < len(s) && n < i+3 && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		octal, perr := strconv.ParseUint(s[i:n], 8, 8)
		if perr != nil {
			return "", "", fmt.Errorf("%w: escape %.4q", errExports, s[i-1:])
		}
		b.WriteByte(byte(octal))
		i = n - 1
	}
	return "", "", errExports
}
