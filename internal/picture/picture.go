// Package picture tells the images that models take and browsers draw by their first bytes, whatever a name or a sender
// says that they are.
package picture

import "bytes"

// Media is what the first 12 bytes of an image say that it is; empty: it is none of PNG, JPEG, GIF and WebP.
func Media(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
