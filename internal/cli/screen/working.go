package screen

import (
	"time"

	"github.com/perdure/perdure/internal/progress"
	"github.com/perdure/perdure/internal/ui/chat"
)

// When the screen says how far work on files is: most is over before.
const (
	workAfter = time.Second
	workEvery = 500 * time.Millisecond
)

// works tells the screen how far the home's work is that takes long, until the link ends. While there is none it does
// nothing.
func (l *link) works() {
	began := make(chan struct{}, 1)
	stop := l.home.Progress().Listen(progress.Listener{
		Began: func(time.Time) {
			select {
			case began <- struct{}{}:
			default:
			}
		},
		Ended: func() {},
	})
	defer stop()
	said := ""
	for {
		var next <-chan time.Time
		s, is := l.home.Progress().Now()
		text := ""
		if is {
			wait := workEvery
			if waited := time.Since(s.Since); waited >= workAfter {
				text = s.String()
			} else {
				wait = workAfter - waited
			}
			next = time.After(wait)
		}
		if text != said {
			said = text
			l.send(chat.Working{Text: text})
		}
		select {
		case <-l.ctx.Done():
			return
		case <-began:
		case <-next:
		}
	}
}
