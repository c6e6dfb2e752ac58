package anthropic

import (
	"strconv"
	"strings"
)

// takesBudget reports whether a model accepts a thinking budget: those of versions before 4.7 do. Names are
// claude-FAMILY-MAJOR[-MINOR][-DATE], before that claude-MAJOR[-MINOR]-FAMILY. A name that says no version is
// somebody's alias or another maker's model, and compatible servers know the budget only.
func takesBudget(name string) bool {
	_, after, ok := strings.Cut(name, "claude-")
	if !ok {
		return true
	}
	var version []int
	for _, part := range strings.Split(after, "-") {
		n, err := strconv.Atoi(part)
		if err != nil || n > 99 {
			if len(version) > 0 {
				break
			}
			continue
		}
		version = append(version, n)
	}
	if len(version) == 0 {
		return true
	}
	if version[0] != 4 {
		return version[0] < 4
	}
	return len(version) < 2 || version[1] < 7
}
