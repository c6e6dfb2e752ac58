package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: a digest is BLAKE3-256 and its text 64 hexadecimal digits, none for the zero digest; another text is no digest.
func TestDigestText(t *testing.T) {
	const empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
	if got := store.Sum(nil); got.String() != empty || got.IsZero() || !(store.Digest{}).IsZero() {
		t.Errorf("of nothing: %s", got)
	}
	for text, d := range map[string]store.Digest{`"` + empty + `"`: store.Sum(nil), `""`: {}} {
		b, err := json.Marshal(d)
		if err != nil || string(b) != text {
			t.Errorf("%s is written %s, %v", d, b, err)
		}
		got := store.Sum([]byte("before"))
		if err := json.Unmarshal(b, &got); err != nil || got != d {
			t.Errorf("%s is read as %s, %v", b, got, err)
		}
	}
	for _, text := range []string{"00", empty[:62], empty[:63], empty + "0", empty + "00", strings.Repeat("g", 64), empty[:63] + "g"} {
		var d store.Digest
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %s", text, d)
		}
	}
}
