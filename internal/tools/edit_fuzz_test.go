package tools

import (
	"bytes"
	"strings"
	"testing"
)

// Goal: on plain text an edit is exactly strings.Replace; on the same text with CR LF it is the same edit with CR LF;
// and in any bytes what is outside of the places stays untouched.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\n", "b\n", "x\ny\n", false)
	f.Add("aXa\nX", "X", "\n", true)
	f.Add("\xef\xbb\xbfa\r\nb\n\r\n", "\n", "", true)
	f.Fuzz(func(t *testing.T, content, from, to string, all bool) {
		places, refused := newText([]byte(content)).find("f", from, all)
		if (places == nil) == (refused == nil) {
			t.Fatalf("%d places, refusal %v", len(places), refused)
		}
		if refused != nil {
			return
		}
		got, line, _ := newText([]byte(content)).replace(places, to)
		if line < 1 || line > 1+bytes.Count([]byte(content), []byte("\n")) {
			t.Errorf("line %d", line)
		}
		snippet(Env{}, got, line, 3)
		if strings.ContainsAny(content+from+to, "\r\ufeff") || strings.Contains(content+from+to, byteOrderMark) {
			return
		}
		n := 1
		if all {
			n = -1
		}
		want := strings.Replace(content, from, to, n)
		if string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
		dos := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		text := newText([]byte(dos(content)))
		places, refused = text.find("f", from, all)
		if refused != nil {
			t.Fatal("refused with CR LF only")
		}
		if got, _, _ := text.replace(places, to); text.crlf && string(got) != dos(want) {
			t.Errorf("with CR LF: %q, want %q", got, dos(want))
		}
	})
}
