package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/plain"
)

// place is where a file says a setting, as offsets.
type place struct {
	key   int // where its line begins
	value int
	end   int // of the value
}

// findKey finds where a file says a setting. It is not found where it is written in a way that cannot be changed by
// itself, as in a table on one line.
func findKey(text []byte, name string) (at place, ok bool) {
	eachKey(text, func(path []string, p place) {
		if strings.Join(path, ".") == name {
			at, ok = p, true
		}
	})
	return at, ok
}

// eachKey walks the assignments of a file that the decoder has accepted.
func eachKey(text []byte, do func(path []string, p place)) {
	var table []string
	for i := 0; i < len(text); {
		begin := i
		i = skip(text, i, " \t")
		switch {
		case i >= len(text):
			return
		case text[i] == '\n' || text[i] == '\r':
			i++
		case text[i] == '#':
			i = lineEnd(text, i)
		case text[i] == '[':
			depth := skip(text, i, "[") - i
			table, i = keyParts(text, i+depth)
			i = lineEnd(text, i)
		default:
			path, at := keyParts(text, i)
			if at >= len(text) || text[at] != '=' {
				return // no file that the decoder has accepted
			}
			value := skip(text, at+1, " \t")
			end := valueEnd(text, value)
			do(append(table[:len(table):len(table)], path...), place{begin, value, end})
			i = lineEnd(text, end)
		}
	}
}

func skip(text []byte, i int, what string) int {
	for i < len(text) && strings.IndexByte(what, text[i]) >= 0 {
		i++
	}
	return i
}

// lineEnd is the beginning of the line after i.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[min(i, len(text)):], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// keyParts reads a key with dots and quotes, up to what ends it.
func keyParts(text []byte, i int) (parts []string, end int) {
	for i < len(text) {
		i = skip(text, i, " \t")
		if i >= len(text) {
			break
		}
		from := i
		switch c := text[i]; c {
		case '"', '\'':
			i = stringEnd(text, i)
			part := string(text[from+1 : max(from+1, i-1)])
			if c == '"' {
				if s, err := strconv.Unquote(string(text[from:i])); err == nil {
					part = s
				}
			}
			parts = append(parts, part)
		default:
			for i < len(text) && strings.IndexByte(" \t.=]\n#", text[i]) < 0 {
				i++
			}
			parts = append(parts, string(text[from:i]))
		}
		i = skip(text, i, " \t")
		if i >= len(text) || text[i] != '.' {
			break
		}
		i++
	}
	return parts, i
}

// stringEnd is behind the string that begins at i.
func stringEnd(text []byte, i int) int {
	quote := text[i : i+1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(text[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case bytes.HasPrefix(text[i:], quote):
			i += len(quote)
			for len(quote) == 3 && i < len(text) && text[i] == quote[0] {
				i++ // quotes may stand before those that end it
			}
			return i
		}
	}
	return len(text)
}

// valueEnd is behind the value that begins at i.
func valueEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			i = stringEnd(text, i)
			if depth == 0 {
				return i
			}
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '#' && depth > 0:
			i = lineEnd(text, i)
			continue
		case depth == 0 && strings.IndexByte(" \t\r\n#,", c) >= 0:
			return i
		}
		i++
	}
	return i
}

func countLines(b []byte) int { return bytes.Count(b, []byte("\n")) }

// UnknownKeyError says that there is no such setting.
type UnknownKeyError struct{ Name, Near string }

func (e *UnknownKeyError) Error() string {
	if e.Near != "" {
		return fmt.Sprintf("unknown setting %q: did you mean %q?", plain.Shown(e.Name, 100), e.Near)
	}
	return fmt.Sprintf("unknown setting %q", plain.Shown(e.Name, 100))
}

// CheckKey gives the error of a name that is no setting.
func CheckKey(name string) error {
	if _, _, ok := FindKey(name); ok {
		return nil
	}
	general, about := generalName(name)
	near := plain.Nearest(general, generalNames())
	if about != "" {
		near = strings.Replace(near, Any, about, 1)
	}
	return &UnknownKeyError{name, near}
}

func generalNames() (out []string) {
	for _, k := range keys {
		out = append(out, k.Name)
	}
	return out
}

// ErrByHand says that a setting is written in a way that only a person can change.
var ErrByHand = errors.New("it is written in a way that is changed by hand")

// Set has the user's file say a setting, and leaves everything else in it as it is: comments, order, blank lines. The
// value is given as people write it on a command line; lists have commas between their parts, or are written as in the
// file. A file that would not be understood afterwards is not written. Errors: *UnknownKeyError, ErrConfig, ErrByHand.
func Set(file, name, value string) error {
	k, t, ok := FindKey(name)
	if !ok {
		return CheckKey(name)
	}
	if name == "permission_mode" && value == "bypassPermissions" {
		return fmt.Errorf("%w: a file cannot set bypassPermissions: only a flag of each run does", ErrConfig)
	}
	text, err := literal(k, t, value)
	if err != nil {
		return err
	}
	return edit(file, name, func(b []byte) ([]byte, error) { return setIn(b, name, text) })
}

// Unset takes a setting out of the user's file, with its line. Nothing happens if it is not there.
func Unset(file, name string) error {
	if err := CheckKey(name); err != nil {
		return err
	}
	return edit(file, name, func(b []byte) ([]byte, error) {
		at, ok := findKey(b, name)
		if !ok {
			return b, nil
		}
		return append(b[:at.key:at.key], b[lineEnd(b, at.end):]...), nil
	})
}

// edit changes the file, and refuses a change of more than the one setting.
func edit(file, name string, change func([]byte) ([]byte, error)) error {
	if file == "" {
		return fmt.Errorf("%w: there is no place for it: neither XDG_CONFIG_HOME nor HOME is set", ErrConfig)
	}
	before, err := read(file)
	if err != nil {
		return err
	}
	old := said(before.Settings)
	if _, there := old[name]; there {
		if _, ok := findKey(before.text, name); !ok {
			return fmt.Errorf("%s: %s: %w", file, name, ErrByHand)
		}
	}
	text, err := change(bytes.Clone(before.text))
	if err != nil {
		return err
	}
	after := source{file: file, text: text}
	if err := after.decode(); err != nil {
		return err
	}
	if _, err := after.loaded(); err != nil {
		return err
	}
	now := said(after.Settings)
	delete(old, name)
	delete(now, name)
	if !reflect.DeepEqual(old, now) {
		return fmt.Errorf("%s: %s: %w", file, name, ErrByHand)
	}
	if bytes.Equal(text, before.text) {
		return nil
	}
	return replaceFile(file, text)
}

// setIn has a text say a setting.
func setIn(b []byte, name, value string) ([]byte, error) {
	if at, ok := findKey(b, name); ok {
		return append(append(b[:at.value:at.value], value...), b[at.end:]...), nil
	}
	table, key := tableOf(name)
	line := key + " = " + value + "\n"
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	if at := insertAt(b, table); at >= 0 {
		if at == 0 && len(b) > 0 {
			line += "\n"
		}
		return append(append(b[:at:at], line...), b[at:]...), nil
	}
	if len(b) > 0 {
		line = "\n[" + table + "]\n" + line
	} else {
		line = "[" + table + "]\n" + line
	}
	return append(b, line...), nil
}

// tableOf parts a name into its table and its key, as files write them.
func tableOf(name string) (table, key string) {
	general, about := generalName(name)
	switch {
	case about != "" && strings.HasPrefix(general, "windows."):
		return "windows", strconv.Quote(about)
	case about != "":
		return "prices." + strconv.Quote(about), general[strings.LastIndexByte(general, '.')+1:]
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// insertAt is where a new line of a table goes: behind its last assignment. -1: there is no such table.
func insertAt(b []byte, table string) int {
	at, in := -1, table == ""
	if in {
		at = 0
	}
	for i := 0; i < len(b); {
		begin := skip(b, i, " \t")
		switch {
		case begin < len(b) && b[begin] == '[':
			parts, _ := keyParts(b, skip(b, begin, "["))
			want, _ := keyParts([]byte(table), 0)
			in = table != "" && strings.Join(parts, "\x00") == strings.Join(want, "\x00")
			i = lineEnd(b, begin)
			if in {
				at = i
			}
		case begin < len(b) && strings.IndexByte("#\r\n", b[begin]) < 0:
			_, eq := keyParts(b, begin)
			i = lineEnd(b, valueEnd(b, skip(b, eq+1, " \t")))
			if in {
				at = i
			}
		default:
			i = lineEnd(b, begin)
		}
	}
	return at
}

// literal writes a value as files do.
func literal(k Key, t reflect.Type, value string) (string, error) {
	bad := func(want string) (string, error) {
		return "", fmt.Errorf("%w: %s: %q is not %s", ErrConfig, k.Name, plain.Shown(value, 100), want)
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		if value != "true" && value != "false" {
			return bad("true or false")
		}
		return value, nil
	case reflect.Int, reflect.Int64:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return bad("a whole number")
		}
		return value, nil
	case reflect.Float64:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return bad("a number")
		}
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text, nil
	case reflect.Slice:
		return listLiteral(k, value)
	}
	return quoteTOML(value), nil
}

func listLiteral(k Key, value string) (string, error) {
	if strings.HasPrefix(strings.TrimSpace(value), "[") {
		return strings.TrimSpace(value), nil
	}
	var parts []string
	if strings.HasPrefix(k.Name, "permissions.") {
		rules, err := permission.ParseRules(value)
		if err != nil {
			return "", fmt.Errorf("%w: %s: %w", ErrConfig, k.Name, err)
		}
		parts = rules
	} else {
		for _, p := range strings.Split(value, ",") {
			if p = strings.TrimSpace(p); p != "" {
				parts = append(parts, p)
			}
		}
	}
	for i := range parts {
		parts[i] = quoteTOML(parts[i])
	}
	return "[" + strings.Join(parts, ", ") + "]", nil
}

// quoteTOML writes a text in quotes.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
