package composer

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	ijpeg "image/jpeg"
	ipng "image/png"
	"testing"
)

// How large a picture is, is read from its head as the decoders of Go's library read it; and of what is broken nothing
// is said.
func TestPixels(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 1203, 87), color.Palette{color.Black, color.White})
	files := map[string][]byte{}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"png":  func(b *bytes.Buffer) error { return ipng.Encode(b, img) },
		"gif":  func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) },
		"jpeg": func(b *bytes.Buffer) error { return ijpeg.Encode(b, img, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	// A camera writes much before the frame.
	files["camera"] = append(append([]byte("\xff\xd8\xff\xe1\x4e\x22"), make([]byte, 20_000)...), append([]byte("\xff\xff\xfe\x00\x04hi"), files["jpeg"][2:]...)...)
	riff := func(chunk string) []byte { return []byte("RIFF\x00\x00\x00\x00WEBP" + chunk) }
	files["webp"] = riff("VP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xb2\x04\x00\x56\x00\x00")
	files["lossless"] = riff("VP8L\x10\x00\x00\x00\x2f\xb2\x84\x15\x00\x00\x00\x00\x00\x00")
	files["lossy"] = riff("VP8 \x10\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\xb3\x04\x57\x00")
	for name, b := range files {
		if w, h := pixels(b); w != 1203 || h != 87 {
			t.Errorf("%s: %d×%d", name, w, h)
		}
		for n := range min(len(b), 300) {
			pixels(b[:n]) // and does not panic
		}
	}
	if got := Describe(files["png"][:24]); got != "1203×87, 24 B" {
		t.Errorf("%q", got)
	}
	for _, b := range []string{"", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0\x00\x00aaaaaaaaaa", "hello, this is no picture at all, whatever its name", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if w, h := pixels([]byte(b)); w != 0 && h != 0 {
			t.Errorf("%q: %d×%d", b, w, h)
		}
	}
}

func FuzzPixels(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x04aa\xff\xc0\x00\x11\x08\x00\x10\x00\x10"))
	f.Fuzz(func(_ *testing.T, b []byte) { pixels(b) })
}
