package ports

import (
	"fmt"
	"os"
	"sync"
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
