package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/ui/composer"
)

// Goal: what is written is kept, no more than once a second however fast somebody types, and forgotten once it is sent or
// cleared; nothing is written to the disk for who writes nothing.
func TestWhatIsWrittenIsKept(t *testing.T) {
	kept := func(p *person) []string {
		p.s.mu.Lock()
		defer p.s.mu.Unlock()
		got := p.s.kept
		p.s.kept = nil
		return got
	}
	at(t, 80, 24, nil, func(p *person) {
		p.press("up", "tab", "esc", "?", "esc")
		p.wait(10 * time.Second)
		if got := kept(p); got != nil {
			t.Errorf("nothing was written, and kept: %q", got)
		}
		for i := range 100 {
			p.write(fmt.Sprint(i % 10))
			p.wait(50 * time.Millisecond)
		}
		p.wait(2 * time.Second)
		got := kept(p)
		if len(got) < 4 || len(got) > 6 || got[len(got)-1] != strings.Repeat("0123456789", 10) {
			t.Errorf("in 5 s: %d times, %q", len(got), got)
		}
		p.press("enter")
		if got := kept(p); !slices.Equal(got, []string{""}) {
			t.Errorf("sent, it is kept no more: %q", got)
		}
		p.write("again")
		p.wait(2 * time.Second)
		p.press("ctrl+c")
		p.wait(2 * time.Second)
		if got := kept(p); !slices.Equal(got, []string{"again", ""}) {
			t.Errorf("cleared: %q", got)
		}
	})
	at(t, 80, 24, nil, func(p *person) {
		p.s.fail["keep"] = errors.New("the disk is full")
		p.write("one")
		p.wait(2 * time.Second)
		p.sees("would be lost with this terminal: the disk is full")
		p.press("x")
		p.wait(2 * time.Second)
		p.misses("the disk is full") // it was said once
	})
}

// Goal: what was written before is there again, with a word about it, and is not sent by itself.
func TestWhatWasWrittenIsThereAgain(t *testing.T) {
	at(t, 80, 24, func(c *Config) {
		c.Draft = composer.Draft{Parts: []composer.Part{composer.Text("half a thought"), composer.Pasted{Text: "a\nb", Lines: 300}}}
	}, func(p *person) {
		p.sees("> half a thought[pasted 300 lines]", "what you had written is there again; ctrl+c clears it")
		p.want("")
		p.press("enter")
		p.want("send k1 half a thoughta\nb")
	})
}

// Goal: what was there again and is then sent, or cleared, is kept no more: whoever is killed later does not find it a
// second time.
func TestWhatWasThereAgainIsForgottenOnceItIsGone(t *testing.T) {
	for _, key := range []string{"enter", "ctrl+c"} {
		at(t, 80, 24, func(c *Config) {
			c.Draft = composer.Draft{Parts: []composer.Part{composer.Text("half a thought")}}
		}, func(p *person) {
			p.press(key)
			p.wait(2 * time.Second)
			p.s.mu.Lock()
			defer p.s.mu.Unlock()
			if !slices.Equal(p.s.kept, []string{""}) {
				t.Errorf("%s: kept %q", key, p.s.kept)
			}
		})
	}
}
