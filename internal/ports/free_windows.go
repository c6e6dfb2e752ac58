package ports

import (
	"net"
	"strconv"
)

// free reports whether nobody listens on a TCP port, on any address: it listens there for a moment.
func free(port int) bool {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	return err == nil && l.Close() == nil
}
