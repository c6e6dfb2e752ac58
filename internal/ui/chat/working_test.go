package chat

import "testing"

// Goal: how far long work on files is can be seen wherever one looks, and goes when it is over.
func TestLongWorkIsInTheLastLine(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		at(t, width, 24, nil, func(p *person) {
			p.send(Working{Text: "restoring files: 12,300 of 50,000"})
			p.sees("restoring files: 12,300 of 50,000")
			p.write("/help")
			p.press("enter")
			p.sees("restoring files: 12,300 of 50,000")
			p.send(Working{Text: "restoring files: 12,400 of 50,000"})
			p.sees("restoring files: 12,400 of 50,000")
			p.send(Working{})
			p.misses("restoring files")
		})
	}
}
