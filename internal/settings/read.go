package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"github.com/perdure/perdure/internal/plain"
)

// ErrConfig is wrapped by every error about a configuration file.
var ErrConfig = errors.New("configuration")

// fault is an error about a place in a file.
type fault struct {
	file string
	line int // 0 is unknown
	text string
}

func (f *fault) Error() string {
	if f.line > 0 {
		return fmt.Sprintf("configuration %s:%d: %s", f.file, f.line, f.text)
	}
	return fmt.Sprintf("configuration %s: %s", f.file, f.text)
}

func (*fault) Unwrap() error { return ErrConfig }

// source is a file as it was read.
type source struct {
	file string
	text []byte
	Settings
}

// read reads a file; one that is not there says nothing.
func read(file string) (s source, err error) {
	s.file = file
	if file == "" {
		return s, nil
	}
	// A repository may hold a named pipe where the file should be: opening one must not wait for a writer.
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENOTDIR) {
		if link := linkToNothing(file); link != "" {
			return s, &fault{file: file, text: link + " is a link to nothing"}
		}
		return s, nil
	}
	if err != nil {
		return s, errors.Join(&fault{file: file, text: "it cannot be read"}, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return s, errors.Join(&fault{file: file, text: "it is no regular file"}, err)
	}
	if s.text, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return s, errors.Join(&fault{file: file, text: "it cannot be read"}, err)
	}
	if len(s.text) > maxFile {
		return s, &fault{file: file, text: fmt.Sprintf("it is larger than %d bytes", maxFile)}
	}
	return s, s.decode()
}

// decode reads the text, and refuses what means nothing.
func (s *source) decode() error {
	if err := toml.NewDecoder(bytes.NewReader(s.text)).DisallowUnknownFields().Decode(&s.Settings); err != nil {
		return s.explain(err)
	}
	return s.check()
}

// linkToNothing is the link in a path that is not there by which it is not there: what it led to, such as a directory
// that is not mounted, may hold rules. Empty: there is none.
func linkToNothing(path string) string {
	for up := filepath.Dir(path); ; path, up = up, filepath.Dir(up) {
		if info, err := os.Lstat(path); err == nil {
			if _, err := os.Stat(path); info.Mode()&fs.ModeSymlink != 0 && errors.Is(err, fs.ErrNotExist) {
				return path
			}
			return ""
		}
		if up == path {
			return ""
		}
	}
}

// at is an error about the line in which a key is set or, if there is one, a value stands.
func (s *source) at(key, value, format string, args ...any) error {
	f := &fault{file: s.file, text: fmt.Sprintf(format, args...)}
	set := regexp.MustCompile(`(^|[\s.{,])"?` + regexp.QuoteMeta(key) + `"?\s*=`)
	for i, line := range bytes.Split(s.text, []byte("\n")) {
		if value != "" && bytes.Contains(line, []byte(value)) {
			f.line = i + 1
			return f
		}
		if f.line == 0 && set.Match(line) {
			f.line = i + 1
			if value == "" {
				break
			}
		}
	}
	return f
}

// explain words an error of the decoder: what is wrong, and where.
func (s *source) explain(err error) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		first := missing.Errors[0]
		line, _ := first.Position()
		key := strings.Join(first.Key(), ".")
		text := fmt.Sprintf("unknown setting %q", key)
		if near := plain.Nearest(key, names()); near != "" {
			text += fmt.Sprintf(": did you mean %q?", near)
		} else {
			text += ": there are " + strings.Join(names(), ", ")
		}
		return &fault{s.file, line, text}
	}
	var bad *toml.DecodeError
	if !errors.As(err, &bad) {
		return &fault{file: s.file, text: plainWords(err.Error())}
	}
	line, _ := bad.Position()
	text := plainWords(bad.Error())
	if m := mismatch.FindStringSubmatch(bad.Error()); m != nil {
		text = fmt.Sprintf("it must be %s, and is %s", kinds[m[2]], orElse(tomlKinds[m[1]], m[1]))
		if kinds[m[2]] == "" {
			text = "it cannot be " + orElse(tomlKinds[m[1]], m[1])
		}
		if key := strings.Join(bad.Key(), "."); key != "" {
			text = key + ": " + text
		}
	}
	return &fault{s.file, line, text}
}

// mismatch is how the decoder words a value of another kind.
var mismatch = regexp.MustCompile(`cannot decode TOML (\w+) into (?:struct field \S+ of|a value of|a Go value of) type (\S+)`)

var kinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "string": "a text in quotes",
	"[]string": "a list of texts, as in [\"a\", \"b\"]", "settings.Limits": "a table", "settings.Permissions": "a table", "settings.Price": "a table",
	"settings.Context": "a table", "settings.Knowledge": "a table", "settings.UI": "a table", "settings.Files": "a table", "bool": "true or false",
}

var tomlKinds = map[string]string{
	"string": "a text", "integer": "a whole number", "float": "a number", "boolean": "true or false", "array": "a list",
	"inline": "a table", "table": "a table", "date": "a date", "datetime": "a date",
}

func plainWords(text string) string { return strings.TrimPrefix(text, "toml: ") }

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// projectFiles are the configuration files of a directory and of those above it, the nearest first: a rule for a
// directory holds in everything below it.
func projectFiles(dir string) []string {
	var out []string
	for {
		out = append(out, filepath.Join(dir, ".perdure", "config.toml"))
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}
