package composer

import (
	"net/url"
	"path"
	"strings"
)

// Bounds of paths.
const (
	maxPath  = 4096 // bytes
	maxPaths = 20   // at once
)

// named is a path as it was written, and what it means.
type named struct{ raw, path string }

// pastedPaths are the paths of images that a text consists of, as terminals paste what is dropped on them: quoted, with
// backslashes before blanks, as a URL, or as it is; nil: it is something else.
func pastedPaths(text string) []named {
	text = strings.TrimSpace(text)
	if len(text) > maxPath*maxPaths {
		return nil
	}
	var out []named
	for rest := text; rest != ""; {
		n, value := token(rest)
		p, ok := imagePath(value)
		if !ok || len(out) == maxPaths {
			out = nil
			break
		}
		out = append(out, named{rest[:n], p})
		rest = strings.TrimLeft(rest[n:], " \t\n")
	}
	if p, ok := imagePath(text); out == nil && ok && rooted(text) && !strings.Contains(text, "\n") {
		return []named{{text, p}} // with blanks, and nothing said so
	}
	return out
}

// token is the length of the first word of a text, and what it says without quotes and backslashes.
func token(s string) (n int, value string) {
	if q := s[0]; q == '\'' || q == '"' {
		if end := strings.IndexByte(s[1:], q); end >= 0 {
			return end + 2, s[1 : end+1]
		}
	}
	var b strings.Builder
	for n < len(s) {
		switch c := s[n]; {
		case c == ' ' || c == '\t' || c == '\n':
			return n, b.String()
		case c == '\\' && n+1 < len(s) && s[n+1] != '\n':
			n++
			b.WriteByte(s[n])
		default:
			b.WriteByte(c)
		}
		n++
	}
	return n, b.String()
}

// lastToken is where the last word of a line begins, and what it says; ok is false if the line ends with a blank.
func lastToken(s string) (from int, value string, ok bool) {
	for at := 0; at < len(s); {
		if s[at] == ' ' || s[at] == '\t' {
			at++
			continue
		}
		n, value := token(s[at:])
		if at+n == len(s) {
			return at, value, true
		}
		at += n
	}
	return 0, "", false
}

// imagePath is the path that a word means, if it may be one of an image.
func imagePath(s string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, "file://"); ok {
		u, err := url.Parse("file://" + rest)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" {
			return "", false
		}
		s = u.Path
	}
	if len(s) == 0 || len(s) > maxPath || strings.ContainsAny(s, "\n\x00") || strings.Contains(s, "://") || strings.ContainsFunc(s, isChip) {
		return "", false
	}
	switch strings.ToLower(path.Ext(s)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return s, true
	}
	return "", false
}

// rooted reports a path that says where it begins, as one that is meant to be a path does.
func rooted(s string) bool {
	for _, begin := range []string{"/", "~/", "./", "../", "file://"} {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	return false
}
