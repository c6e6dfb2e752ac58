package proof_test

import "sync"

type control struct{ Planted, Caught int }

type figures struct {
	Doctored, SetBack, Changed control
}

var noted struct {
	sync.Mutex
	figures
}

func note(f func(*figures)) {
	noted.Lock()
	defer noted.Unlock()
	f(&noted.figures)
}
