package pricing

import (
	"github.com/perdure/perdure/model"
)

// row is a line of the table. Prices are in thousandths of a US dollar for a million tokens, which is the same
// number in nano-USD for each token.
type row struct {
	name                   string
	in, out, read, write   int64
	long                   int64 // prompt tokens above which times and outTimes apply
	times, outTimesInTenth int64
	window, output         int64
}

func (r row) model() Model {
	m := Model{
		Name: r.name, Window: r.window, MaxOutput: r.output,
		Price: &model.Price{Input: r.in, Output: r.out, CacheRead: r.read, CacheWrite: r.write},
	}
	if r.long > 0 {
		m.LongOver = r.long
		m.Long = &model.Price{
			Input: r.in * r.times, Output: r.out * r.outTimesInTenth / 10,
			CacheRead: r.read * r.times, CacheWrite: r.write * r.times,
		}
	}
	return m
}

// claude are Anthropic's models. Cache writes are those of five minutes. The tables are functions, so that a process
// which needs none of them does not build them.
func claude() []row {
	const (
		k = 1000
		m = 1000 * k
	)
	return []row{
		{name: "claude-fable-5-1", in: 10_000, out: 50_000, read: 250, write: 12_500, window: m, output: 128 * k},
		{name: "claude-fable-5", in: 10_000, out: 50_000, read: 1_000, write: 12_500, window: m, output: 128 * k},
		{name: "claude-opus-5-5", in: 4_000, out: 20_000, read: 200, write: 5_000, window: m, output: 128 * k},
		{name: "claude-opus-5", in: 5_000, out: 25_000, read: 500, write: 6_250, window: m, output: 128 * k},
		{name: "claude-opus-4-8", in: 5_000, out: 25_000, read: 500, write: 6_250, window: m, output: 128 * k},
		{name: "claude-opus-4-7", in: 5_000, out: 25_000, read: 500, write: 6_250, window: m, output: 128 * k},
		{name: "claude-opus-4-6", in: 5_000, out: 25_000, read: 500, write: 6_250, window: m, output: 128 * k},
		{name: "claude-opus-4-5", in: 5_000, out: 25_000, read: 500, write: 6_250, window: 200 * k, output: 64 * k},
		{name: "claude-opus-4-1", in: 15_000, out: 75_000, read: 1_500, write: 18_750, window: 200 * k, output: 32 * k},
		{name: "claude-opus-4", in: 15_000, out: 75_000, read: 1_500, write: 18_750, window: 200 * k, output: 32 * k},
		{name: "claude-sonnet-5-5", in: 2_000, out: 10_000, read: 100, write: 2_500, window: m, output: 128 * k},
		{name: "claude-sonnet-5", in: 2_000, out: 10_000, read: 200, write: 2_500, window: m, output: 128 * k},
		{name: "claude-sonnet-4-6", in: 3_000, out: 15_000, read: 300, write: 3_750, window: m, output: 64 * k},
		{name: "claude-sonnet-4-5", in: 3_000, out: 15_000, read: 300, write: 3_750, window: 200 * k, output: 64 * k},
		{name: "claude-sonnet-4", in: 3_000, out: 15_000, read: 300, write: 3_750, window: 200 * k, output: 64 * k},
		{
			name: "claude-haiku-5-5", in: 100, out: 500, read: 10, write: 125, window: m, output: 128 * k,
			long: 100 * k, times: 5, outTimesInTenth: 50,
		},
		{name: "claude-haiku-4-5", in: 1_000, out: 5_000, read: 100, write: 1_250, window: 200 * k, output: 64 * k},
		{name: "claude-3-5-haiku", in: 800, out: 4_000, read: 80, write: 1_000, window: 200 * k, output: 8192},
	}
}

// gpt are OpenAI's models that take tools over Chat Completions. Where writing the cache has no price of its own it
// costs as input.
func gpt() []row {
	const (
		k    = 1000
		wide = 1_050_000
		over = 272 * k
	)
	return []row{
		{
			name: "gpt-6.1-terra", in: 1_000, out: 5_000, read: 50, write: 1_250, window: wide, output: 128 * k,
			long: over, times: 2, outTimesInTenth: 15,
		},
		{
			name: "gpt-6-sol", in: 2_000, out: 10_000, read: 200, write: 2_500, window: wide, output: 128 * k,
			long: over, times: 2, outTimesInTenth: 15,
		},
		{
			name: "gpt-6-luna", in: 100, out: 500, read: 10, write: 125, window: wide, output: 128 * k,
			long: over, times: 2, outTimesInTenth: 15,
		},
		{name: "gpt-5.4-mini", in: 750, out: 4_500, read: 75, write: 750, window: 400 * k, output: 128 * k},
		{name: "gpt-5.4-nano", in: 200, out: 1_250, read: 20, write: 200, window: 400 * k, output: 128 * k},
		{
			name: "gpt-5.4", in: 2_500, out: 15_000, read: 250, write: 2_500, window: wide, output: 128 * k,
			long: over, times: 2, outTimesInTenth: 15,
		},
		{name: "gpt-5-mini", in: 250, out: 2_000, read: 25, write: 250, window: 400 * k, output: 128 * k},
		{name: "gpt-5-nano", in: 50, out: 400, read: 5, write: 50, window: 400 * k, output: 128 * k},
		{name: "gpt-5.1", in: 1_250, out: 10_000, read: 125, write: 1_250, window: 400 * k, output: 128 * k},
		{name: "gpt-5", in: 1_250, out: 10_000, read: 125, write: 1_250, window: 400 * k, output: 128 * k},
		{name: "gpt-4.1-mini", in: 400, out: 1_600, read: 100, write: 400, window: 1_047_576, output: 32_768},
		{name: "gpt-4.1-nano", in: 100, out: 400, read: 25, write: 100, window: 1_047_576, output: 32_768},
		{name: "gpt-4.1", in: 2_000, out: 8_000, read: 500, write: 2_000, window: 1_047_576, output: 32_768},
		{name: "gpt-4o-mini", in: 150, out: 600, read: 75, write: 150, window: 128 * k, output: 16_384},
		{name: "gpt-4o", in: 2_500, out: 10_000, read: 1_250, write: 2_500, window: 128 * k, output: 16_384},
	}
}
