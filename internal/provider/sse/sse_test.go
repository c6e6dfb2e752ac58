package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func read(t *testing.T, src io.Reader) ([]Event, error) {
	t.Helper()
	r := NewReader(src)
	var out []Event
	for len(out) < 1000 {
		e, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	t.Fatal("the reader does not end")
	return nil, nil
}

// Streams are read as the standard and as real servers have them, whatever pieces they come in.
func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		err            error
	}{
		{"one", "event: a\ndata: 1\n\n", "a=1", io.EOF},
		{"no space, no name", "data:1\n\n", "=1", io.EOF},
		{"only one space is cut", "data:  1\n\n", "= 1", io.EOF},
		{"two", "event: a\ndata: 1\n\ndata: 2\n\n", "a=1|=2", io.EOF},
		{"crlf", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", "a=1|=2", io.EOF},
		{"cr", "event: a\rdata: 1\r\rdata: 2\r\r", "a=1|=2", io.EOF},
		{"lines of data", "data: 1\ndata:\ndata: 2\n\n", "=1\n\n2", io.EOF},
		{"comments, ids, retries", ": hi\nid: 7\nretry: 9\nother\ndata: 1\n\n", "=1", io.EOF},
		{"no data", "event: a\n\n\n\ndata: 1\n\n", "=1", io.EOF},
		{"empty data", "data\n\n", "=", io.EOF},
		{"byte order mark", "\xef\xbb\xbfdata: 1\n\n", "=1", io.EOF},
		{"no blank line at the end", "data: [DONE]\n", "=[DONE]", io.EOF},
		{"cut in a line", "data: 1\n\ndata: {\"a", "=1", io.ErrUnexpectedEOF},
		{"nothing", "", "", io.EOF},
	} {
		for pieces, src := range map[string]io.Reader{
			"whole": strings.NewReader(c.in), "bytes": iotest.OneByteReader(strings.NewReader(c.in)),
			"data and error": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			events, err := read(t, src)
			var got []string
			for _, e := range events {
				got = append(got, e.Name+"="+string(e.Data))
			}
			if strings.Join(got, "|") != c.want || !errors.Is(err, c.err) {
				t.Errorf("%s, %s: got %q %v, want %q %v", c.name, pieces, got, err, c.want, c.err)
			}
		}
	}
}

// A line and an event are bounded; a source that gives nothing does not hang the reader; errors come through.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, in := range map[string]string{
		"line": "data: " + long + "\n\n", "event": strings.Repeat("data: "+long[:50]+"\n", 20) + "\n", "endless line": long + long,
	} {
		r := NewReader(strings.NewReader(in))
		r.max = 200
		if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := read(t, iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	if _, err := NewReader(empty{}).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

// No bytes make the reader panic, and the pieces that they come in make no difference.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"event: a\r\ndata: 1\r\n\r\n", "data: 1\rdata: 2\r\r", "\xef\xbb\xbf: x\n\ndata", "\n\r\n\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		whole, errWhole := read(t, strings.NewReader(in))
		bytes, errBytes := read(t, iotest.OneByteReader(strings.NewReader(in)))
		if len(whole) != len(bytes) || !errors.Is(errBytes, errWhole) {
			t.Fatalf("%d events and %v, in single bytes %d and %v", len(whole), errWhole, len(bytes), errBytes)
		}
		for i := range whole {
			if whole[i].Name != bytes[i].Name || string(whole[i].Data) != string(bytes[i].Data) {
				t.Fatalf("event %d is %q, in single bytes %q", i, whole[i], bytes[i])
			}
		}
	})
}
