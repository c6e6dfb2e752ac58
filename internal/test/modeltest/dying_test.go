package modeltest

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// A client that dies while it sends its request has asked for nothing and broken no rule.
func TestClientDiesWhileItSends(t *testing.T) {
	s := start(t, script(work()))
	for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/messages/count_tokens"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nanthropic-version: 2023-06-01\r\nContent-Length: 1000\r\n\r\n{", path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(c); len(b) > 0 {
			t.Errorf("%s: answered %q", path, b)
		}
		_ = c.Close()
	}
	if r := s.Report(); r.Refused != 0 || r.Requests != 0 || len(r.Violations) != 0 {
		t.Errorf("report %+v", r)
	}
}
