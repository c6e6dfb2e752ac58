package run

import (
	"strings"
	"sync"
)

// saidLines are what commands say beside a screen: they are shown in it.
type saidLines struct {
	mu   sync.Mutex
	part string
	all  []string
}

// maxLines bounds what is kept until it is shown.
const maxLines = 200

func (l *saidLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part += string(b)
	for {
		line, rest, whole := strings.Cut(l.part, "\n")
		if !whole {
			return len(b), nil
		}
		if l.part = rest; len(l.all) < maxLines {
			l.all = append(l.all, strings.TrimPrefix(strings.TrimSpace(line), "perdure: "))
		}
	}
}

// take gives what was said since.
func (l *saidLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.all
	l.all = nil
	return out
}
