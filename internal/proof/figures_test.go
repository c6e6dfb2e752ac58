package proof_test

import "sync"

type control struct{ Planted, Caught int }

type figures struct {
	Doctored, SetBack, Changed, Corrupt control
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
