//go:build linux || darwin

package task

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

// listenKey turns this test binary into a server that works a little and then waits.
const listenKey = "PERDURE_TEST_LISTEN"

func listenMain() {
	a, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(a.Addr().(*net.TCPAddr).Port)
	if b, err := net.Listen("tcp6", "[::1]:0"); err == nil { // where the machine has it
		fmt.Println(b.Addr().(*net.TCPAddr).Port)
	}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		runtime.Gosched()
	}
	fmt.Println("ready")
	_, _ = a.Accept()
}
