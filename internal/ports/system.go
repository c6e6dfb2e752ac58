package ports

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// windows are where the ranges may begin, the preferred one first: 10,000 ports each, below and above what systems
// usually hand out to outgoing connections (32768 to 60999, or 49152 to 65535).
var windows = [...]int{20000, 10000, 33000}

// firstPort chooses a window that the system does not hand out by itself.
var firstPort = sync.OnceValue(func() int {
	low, high := 49152, 65535
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		_, _ = fmt.Sscan(string(b), &low, &high)
	}
	return window(low, high)
})

func window(low, high int) int {
	for _, first := range windows {
		if last := first + maxRanges*Size - 1; last < low || first > high {
			return first
		}
	}
	return windows[0]
}

// free reports whether nobody listens on a TCP port, on any address. It listens on nothing itself.
func free(port int) bool {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|sockFlags, 0)
	if err == nil {
		defer unix.Close(fd)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0) // then it stands for IPv4 as well
		if err = bind(fd, &unix.SockaddrInet6{Port: port}); err == nil || errors.Is(err, unix.EADDRINUSE) {
			return err == nil
		}
	}
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|sockFlags, 0) // there is no IPv6 here
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return bind(fd, &unix.SockaddrInet4{Port: port}) == nil
}

// bind tries an address as a server would: what a closed connection still holds is no hindrance.
func bind(fd int, addr unix.Sockaddr) error {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	return unix.Bind(fd, addr)
}
