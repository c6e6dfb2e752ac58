package model

// Usage counts tokens. The four counts are disjoint on every provider: Input excludes cache reads and writes.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	// LostInput counts calls that were requested but never sealed: known from the stream's start, else estimated.
	// Lost calls add nothing to the other four.
	LostInput int64 `json:"lost_input_tokens"`
}

// Add sums b into u.
func (u *Usage) Add(b Usage) {
	u.Input += b.Input
	u.Output += b.Output
	u.CacheRead += b.CacheRead
	u.CacheWrite += b.CacheWrite
	u.LostInput += b.LostInput
}

// Context is how many tokens the call's request and reply take in the model's window.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Price is what a model costs, in billionths of a US dollar (nano-USD) for each token: 3 USD for a million tokens
// is 3,000.
type Price struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// Cost is the price of a sealed call in nano-USD. A nil price is unknown and costs nil.
func (p *Price) Cost(u Usage) *int64 {
	if p == nil {
		return nil
	}
	n := u.Input*p.Input + u.Output*p.Output + u.CacheRead*p.CacheRead + u.CacheWrite*p.CacheWrite
	return &n
}
