package composer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/plain"
)

// word is what can be completed at the cursor.
type word struct {
	kind     kind
	from, to pos // all of the word
	words    string
}

// word finds the word at the cursor: a command at the beginning of the message, or a name behind an @.
func (c *Composer) word() (w word, ok bool) {
	cur := c.buf.cur
	text := c.buf.lines[cur.line].text
	head := text[:cur.off]
	end := len(text)
	if i := strings.IndexAny(text[cur.off:], " \t"); i >= 0 {
		end = cur.off + i
	}
	to := pos{cur.line, end}
	if rest, command := strings.CutPrefix(head, "/"); command && cur.line == 0 && !strings.ContainsAny(rest, " \t") {
		return word{kind: commands, from: pos{cur.line, 0}, to: to, words: rest}, true
	}
	at := strings.LastIndexByte(head, '@')
	if at < 0 || at > 0 && !begins(head[:at]) {
		return w, false
	}
	words := head[at+1:]
	if inside, quoted := strings.CutPrefix(words, `"`); quoted {
		if strings.Contains(inside, `"`) {
			return w, false
		}
		words, to = inside, cur
		if strings.HasPrefix(text[cur.off:], `"`) {
			to.off++
		}
	} else if strings.ContainsAny(words, " \t") {
		return w, false
	}
	if strings.ContainsFunc(words, isChip) {
		return w, false
	}
	return word{kind: files, from: pos{cur.line, at}, to: to, words: words}, true
}

// begins reports that a word may begin behind a text: an address of mail is none.
func begins(head string) bool {
	r, _ := utf8.DecodeLastRuneInString(head)
	return unicode.IsSpace(r) || strings.ContainsRune(`([{<"'`+"`,;:=", r)
}

// commandItems are the commands that begin with a word, then those that have it elsewhere.
func (c *Composer) commandItems(word string) []item {
	word = strings.ToLower(word)
	var out []item
	for pass := range 3 {
		for _, cmd := range c.cfg.Commands {
			name := strings.ToLower(cmd.Name)
			exact, first := name == word, strings.HasPrefix(name, word)
			like := pass == 0 && exact || pass == 1 && first && !exact || pass == 2 && !first && score(name, word) > 0
			if !like || len(out) == offered {
				continue
			}
			it := item{text: "/" + cmd.Name, help: cmd.Help, insert: "/" + cmd.Name, send: cmd.Args == ""}
			if cmd.Args != "" {
				it.text += " " + cmd.Args
				it.insert += " "
			}
			it.text, it.help = plain.Line(it.text, 80), plain.Line(it.help, 200)
			out = append(out, it)
		}
	}
	return out
}

// fileItems are names as rows. What has blanks is quoted; behind a directory the choice goes on.
func fileItems(list []File) []item {
	out := make([]item, 0, min(len(list), offered))
	for _, f := range list[:min(len(list), offered)] {
		path := clean(f.Path)
		if path != f.Path || path == "" || strings.Contains(path, "\n") || strings.Contains(path, `"`) {
			continue // it cannot be written so that it is the same name
		}
		if f.Dir {
			path = strings.TrimSuffix(path, "/") + "/"
		}
		it := item{text: plain.Line(path, 300), insert: "@" + path, more: f.Dir}
		if strings.ContainsFunc(path, unicode.IsSpace) {
			it.insert = `@"` + path
			if !f.Dir {
				it.insert += `"`
			}
		}
		if !f.Dir {
			it.insert += " "
		}
		out = append(out, it)
	}
	return out
}

// likeFiles leaves the rows that are like a word.
func likeFiles(items []item, word string) []item {
	return slices.DeleteFunc(items, func(it item) bool { return score(strings.TrimLeft(it.insert, `@"`), word) == 0 })
}
