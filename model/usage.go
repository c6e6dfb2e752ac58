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

// Price is what a model costs, in billionths of a US dollar (nano-USD) for each token: 3 USD for a million tokens
// is 3,000.
type Price struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}
