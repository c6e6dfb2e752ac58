package homes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxEnviron bounds the environment that is looked through, in bytes.
const maxEnviron = 64 << 20

func hideKeys() error {
	err := maskEnviron()
	// After it: a process that is not dumpable cannot open its own memory, unless it is root's.
	if perr := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); perr != nil {
		err = errors.Join(err, fmt.Errorf("hide keys: %w", perr))
	}
	return err
}

// maskEnviron changes the block that the kernel shows as /proc/self/environ. The runtime has its own copy.
func maskEnviron() error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return fmt.Errorf("hide keys: %w", err)
	}
	// Behind the name, which may hold anything, begins the third field; start and end are the 50th and the 51st.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const start, end = 50 - 3, 51 - 3
	if len(fields) <= end {
		return errors.New("hide keys: /proc/self/stat: not understood")
	}
	from, err1 := strconv.ParseInt(string(fields[start]), 10, 64)
	to, err2 := strconv.ParseInt(string(fields[end]), 10, 64)
	if err1 != nil || err2 != nil || from <= 0 || to < from || to-from > maxEnviron {
		return errors.New("hide keys: the place of the environment is not known")
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("hide keys: %w", err)
	}
	block := make([]byte, to-from)
	if _, err = memory.ReadAt(block, from); err == nil && maskKeys(block) {
		_, err = memory.WriteAt(block, from)
	}
	if err = errors.Join(err, memory.Close()); err != nil {
		return fmt.Errorf("hide keys: %w", err)
	}
	return nil
}
