package homes

import "testing"

// Only values of key variables are overwritten, and nothing changes its place.
func TestMaskKeys(t *testing.T) {
	block := []byte("A=1\x00ANTHROPIC_API_KEY=secret\x00MY_OPENAI_API_KEY=kept\x00odd\x00OPENAI_API_KEY=\x00OPENAI_API_KEY=two=2")
	if !maskKeys(block) {
		t.Error("no key was found")
	}
	want := "A=1\x00ANTHROPIC_API_KEY=xxxxxx\x00MY_OPENAI_API_KEY=kept\x00odd\x00OPENAI_API_KEY=\x00OPENAI_API_KEY=xxxxx"
	if string(block) != want {
		t.Errorf("%q, want %q", block, want)
	}
	if maskKeys([]byte("PATH=/bin\x00HOME=/")) {
		t.Error("a key was found where there is none")
	}
}
