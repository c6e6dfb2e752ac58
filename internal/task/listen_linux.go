package task

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// listening returns the ports of those sockets that listen for TCP connections, in the network that a process sees.
func listening(pid int, sockets map[uint64]bool) (ports []int) {
	own, err1 := os.Readlink("/proc/self/ns/net")
	its, err2 := os.Readlink(procPath(pid, "ns/net"))
	for _, net := range []struct {
		family uint8
		table  string
	}{{unix.AF_INET, "net/tcp"}, {unix.AF_INET6, "net/tcp6"}} {
		err := errDamaged
		if err1 == nil && err2 == nil && own == its {
			err = askListening(net.family, sockets, &ports)
		}
		if err != nil {
			readListening(procPath(pid, net.table), sockets, &ports)
		}
	}
	return ports
}

// askListening asks the kernel for listening sockets only, which is much faster than its table of all.
func askListening(family uint8, sockets map[uint64]bool, ports *[]int) error {
	return eachListening(family, func(inode uint64, port int) {
		if sockets[inode] {
			*ports = append(*ports, port)
		}
	})
}

// eachListening calls do with each listening socket in this process's network.
func eachListening(family uint8, do func(inode uint64, port int)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const sockDiagByFamily, listen, length = 20, 10, unix.SizeofNlMsghdr + 56
	request := make([]byte, length)
	binary.NativeEndian.PutUint32(request[0:], length)
	binary.NativeEndian.PutUint16(request[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	request[16], request[17] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(request[20:], 1<<listen)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	const mostReads = 1 << 10
	buf := make([]byte, 32<<10)
	for range mostReads {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return err
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return err
		}
		for _, m := range messages {
			const port, inode, size = 4, 68, 72
			switch {
			case m.Header.Type == unix.NLMSG_DONE:
				return nil
			case m.Header.Type == unix.NLMSG_ERROR:
				return errDamaged
			case len(m.Data) >= size:
				do(uint64(binary.NativeEndian.Uint32(m.Data[inode:])), int(binary.BigEndian.Uint16(m.Data[port:])))
			}
		}
	}
	return errDamaged
}

// ports returns where processes listen, sorted. Those in another network are asked for one by one.
func (s *survey) ports(pids []int) []int {
	s.asked.Do(s.askPorts)
	ports, abroad := []int{}, -1
	for _, pid := range pids {
		any := false
		eachSocket(pid, func(inode uint64) {
			any = true
			if port, ok := s.sockets[inode]; ok {
				ports = append(ports, port)
			}
		})
		if !any || abroad >= 0 {
			continue
		}
		if its, _ := os.Readlink(procPath(pid, "ns/net")); its != s.network {
			abroad = pid
		}
	}
	if abroad >= 0 {
		sockets := map[uint64]bool{}
		for _, pid := range pids {
			addSockets(pid, sockets)
		}
		ports = append(ports, listening(abroad, sockets)...)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

func (s *survey) askPorts() {
	s.sockets = map[uint64]int{}
	note := func(inode uint64, port int) { s.sockets[inode] = port }
	if errors.Join(eachListening(unix.AF_INET, note), eachListening(unix.AF_INET6, note)) == nil {
		s.network, _ = os.Readlink("/proc/self/ns/net")
	}
}

// readListening reads the same from the table of all sockets.
func readListening(path string, sockets map[uint64]bool, ports *[]int) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	const local, state, inode, listen = 1, 3, 9, "0A"
	for s := bufio.NewScanner(f); s.Scan(); {
		row := strings.Fields(s.Text())
		if len(row) <= inode || row[0] == "sl" {
			continue
		}
		if row[state] != listen {
			return // those that listen come first
		}
		n, err := strconv.ParseUint(row[inode], 10, 64)
		if err != nil || !sockets[n] {
			continue
		}
		if _, hex, ok := strings.Cut(row[local], ":"); ok {
			if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
				*ports = append(*ports, int(port))
			}
		}
	}
}
