package picture_test

import (
	"testing"

	"github.com/perdure/perdure/internal/picture"
)

// An image is what its first bytes are; what is cut short within them, or only begins like one, is none.
func TestMedia(t *testing.T) {
	for begins, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "\x89PNG\r\n\x1a\nrest": "image/png", "\x89PNG\r\n": "",
		"\xff\xd8\xff\xe0": "image/jpeg", "\xff\xd8": "", "GIF87a": "image/gif", "GIF89a": "image/gif", "GIF90a": "",
		"RIFF\x00\x00\x00\x00WEBP": "image/webp", "RIFF\x00\x00\x00\x00WEB": "", "RIFF\x00\x00\x00\x00WAVE": "",
		"": "", "%PDF-1.7": "", "<svg/>": "", " GIF89a": "",
	} {
		if got := picture.Media([]byte(begins)); got != want {
			t.Errorf("%q: %q, want %q", begins, got, want)
		}
	}
}
