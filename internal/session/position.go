package session

// Position is a place in a log. As a fork point, Hash is the parent's hash at Seq.
type Position struct {
	Session string `json:"id"`
	Seq     int64  `json:"seq"`
	Hash    Digest `json:"hash"`
}

// Range is a run of one session's own events, both ends included. A forked session's context is a list of ranges.
type Range struct {
	Session string `json:"session"`
	From    int64  `json:"from"`
	To      int64  `json:"to"`
}
