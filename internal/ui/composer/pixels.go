package composer

import (
	"encoding/binary"
	"fmt"
)

// Describe says in words how large an image is: 1200×800, 340 KB; without what it does not say.
func Describe(data []byte) string {
	if w, h := pixels(data); w > 0 && h > 0 {
		return fmt.Sprintf("%d×%d, %s", w, h, size(len(data)))
	}
	return size(len(data))
}

// pixels are the width and height that the head of a PNG, JPEG, GIF or WebP names; 0: it names none. Nothing is decoded.
func pixels(b []byte) (w, h int) {
	big, little := binary.BigEndian, binary.LittleEndian
	switch {
	case len(b) >= 24 && string(b[:8]) == "\x89PNG\r\n\x1a\n" && string(b[12:16]) == "IHDR":
		w, h = int(big.Uint32(b[16:])), int(big.Uint32(b[20:]))
	case len(b) >= 10 && string(b[:4]) == "GIF8":
		w, h = int(little.Uint16(b[6:])), int(little.Uint16(b[8:]))
	case len(b) >= 30 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		w, h = webp(b[12:])
	case len(b) >= 4 && string(b[:3]) == "\xff\xd8\xff":
		w, h = jpeg(b[2:])
	}
	const most = 1 << 20 // what is more is no picture
	if w > most || h > most {
		return 0, 0
	}
	return w, h
}

// webp reads the first chunk of one, of at least 18 bytes.
func webp(b []byte) (w, h int) {
	little := binary.LittleEndian
	switch string(b[:4]) {
	case "VP8X":
		return 1 + int(little.Uint32(b[11:])>>8), 1 + int(little.Uint32(b[14:])>>8)
	case "VP8L":
		bits := little.Uint32(b[9:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case "VP8 ":
		return int(little.Uint16(b[14:]) & 0x3fff), int(little.Uint16(b[16:]) & 0x3fff)
	}
	return 0, 0
}

// jpeg looks for the frame header among the segments.
func jpeg(b []byte) (w, h int) {
	for len(b) >= 9 && b[0] == 0xff {
		switch kind := b[1]; {
		case kind == 0xff: // filling
			b = b[1:]
		case kind == 0x01, kind >= 0xd0 && kind <= 0xd8: // without a body
			b = b[2:]
		case kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc:
			return int(binary.BigEndian.Uint16(b[7:])), int(binary.BigEndian.Uint16(b[5:]))
		default:
			n := 2 + int(binary.BigEndian.Uint16(b[2:]))
			if n < 4 || n > len(b) {
				return 0, 0
			}
			b = b[n:]
		}
	}
	return 0, 0
}
