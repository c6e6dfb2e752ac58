package permission

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCommand bounds a command's length in bytes. A longer one cannot be read by
// the human who is asked about it; it belongs in a script file.
const maxCommand = 16 << 10

// maxPath bounds a path's length in bytes, as Linux does.
const maxPath = 4096

// refusedBytes says why a call is refused before parsing, or "".
func refusedBytes(r Request) string {
	if strings.IndexByte(r.Path, 0) >= 0 || strings.IndexByte(r.RawPath, 0) >= 0 || strings.IndexByte(r.Pattern, 0) >= 0 {
		return "the path contains a NUL byte"
	}
	if r.Tool != toolBash {
		return ""
	}
	if len(r.Command) > maxCommand {
		return fmt.Sprintf("the command has %d bytes, the limit is %d: put it in a script file", len(r.Command), maxCommand)
	}
	if strings.TrimSpace(r.Command) == "" {
		return "the command is empty"
	}
	if !utf8.ValidString(r.Command) {
		return "the command is not valid UTF-8"
	}
	for i, c := range r.Command {
		if c < utf8.RuneSelf && c >= ' ' && c != 0x7f || c == '\n' || c == '\t' {
			continue
		}
		if what := deceptive(c); what != "" {
			return fmt.Sprintf("the command contains %s (U+%04X) at byte %d: it would not run as it reads", what, c, i)
		}
	}
	return ""
}

// deceptive names a character that is invisible or looks like another, or "".
// The emoji selectors U+FE0E and U+FE0F and the ideographic space U+3000 are let
// through: they are common in honest text, visible or harmless there, and the
// shell gives them no meaning.
func deceptive(c rune) string {
	switch {
	case c == 0xfe0e || c == 0xfe0f || c == 0x3000:
		return ""
	case unicode.Is(unicode.Cc, c):
		return "a control character"
	case c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == 0x200e, c == 0x200f, c == 0x061c:
		return "a bidirectional control"
	case unicode.Is(unicode.Cf, c):
		return "an invisible format character"
	case c != ' ' && unicode.Is(unicode.Zs, c):
		return "a space that is not the space key's"
	case unicode.Is(unicode.Zl, c), unicode.Is(unicode.Zp, c):
		return "a foreign line separator"
	case c >= 0xfe00 && c <= 0xfe0d, c >= 0xe0000 && c <= 0xe0fff:
		return "an invisible selector"
	case unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), c == 0x2800:
		return "an invisible character"
	}
	return ""
}

// oddPath reports that a path must not be allowed by mode: it has characters
// that deceive a reader, is over-long, or is not valid UTF-8.
func oddPath(r Request) bool {
	for _, s := range []string{r.Path, r.RawPath, r.Pattern} {
		if len(s) > maxPath || !utf8.ValidString(s) {
			return true
		}
		// Reading a file with a foreign space in its name deceives nobody:
		// nothing is approved and nothing changes.
		if r.Tool != toolWrite && r.Tool != toolEdit {
			continue
		}
		for _, c := range s {
			if deceptive(c) != "" {
				return true
			}
		}
	}
	return false
}
