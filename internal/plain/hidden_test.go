package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Goal: of every character it is shown either what it is or its number; ordinary texts stay as they are.
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext": "plain\ttext", "größe 日本語 🎉 é": "größe 日本語 🎉 é", "全角　空白": "全角　空白",
		"a\x00b": `a\u0000b`, "a\x1b[31mb": `a\u001b[31mb`, "a\x1b]0;t\a": `a\u001b]0;t\u0007`, "a\nb": `a\u000ab`, "a\rb": `a\u000db`,
		"a\u202eb": `a\u202eb`, "a\u200bb": `a\u200bb`, "a\u00adb": `a\u00adb`, "a\u00a0b": `a\u00a0b`, "❤\ufe0f": `❤\ufe0f`,
		"a\U000e0041": `a\U000e0041`, "a\ue0001": `a\ue0001`, "a\U000e0001": `a\U000e0001`, "a\xffb": `a\xffb`, "a\xe2\x80": `a\xe2\x80`, "�": "�",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		got := Visible(string(r))
		invisible := r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) || unicode.In(r, unicode.Z) && r != ' ' && r != 0x3000)
		if got == string(r) && (invisible || got != clean(got)) {
			t.Fatalf("U+%04X is shown as it is", r)
		}
		if got != string(r) && (!strings.HasPrefix(got, `\u`) && !strings.HasPrefix(got, `\U`) || strings.ContainsFunc(got, Hidden)) {
			t.Fatalf("U+%04X is shown as %q", r, got)
		}
	}
	if got := Shown("a  b\nc\x1b]0;\u200b rm", 40); got != `a b c\u001b]0;\u200b rm` {
		t.Errorf("on a line: %q", got)
	}
	if got := Shown(strings.Repeat("日", 100), 5); got != "日日日日…" {
		t.Errorf("cut: %q", got)
	}
	if got := Shown(strings.Repeat("\u200b", 1000), 20); utf8.RuneCountInString(got) != 20 || !strings.HasPrefix(got, `\u200b`) {
		t.Errorf("cut: %q", got)
	}
}
