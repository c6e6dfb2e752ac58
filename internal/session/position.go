package session

// Range is a run of one session's own events, both ends included. A forked session's context is a list of ranges.
type Range struct {
	Session string `json:"session"`
	From    int64  `json:"from"`
	To      int64  `json:"to"`
}
