package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// What a delivery may set is the mode, the limits, the compaction and the whole of a model. Directories and patience, the
// mode in which nothing asks, a limit that is none, and half of a model are refused.
func TestWhatADeliveryMaySet(t *testing.T) {
	unreachable := errors.New("no key for it")
	eng := &Engine{cfg: Config{Provider: func(spec string) (modelapi.Provider, error) {
		switch spec {
		case "p/m":
			return onlyProvider{}, nil
		case "p/none":
			return nil, nil //nolint:nilnil // a provider that is not there
		}
		return nil, unreachable
	}}}
	whole := func() *session.Configured {
		return &session.Configured{Provider: new("p"), Model: new("m"), MaxTokens: new(int64(1)), Window: new(int64(0)), Price: &model.Price{}}
	}
	with := func(change func(*session.Configured)) *session.Configured {
		c := whole()
		change(c)
		return c
	}
	for what, c := range map[string]struct {
		b    *session.Configured
		says string // ""; it is taken
	}{
		"nothing":                    {&session.Configured{}, ""},
		"a mode":                     {&session.Configured{Mode: new("plan")}, ""},
		"no mode":                    {&session.Configured{Mode: new("free")}, "free"},
		"the mode that asks nothing": {&session.Configured{Mode: new("bypassPermissions")}, "for whoever holds the session"},
		"limits":                     {&session.Configured{MaxSteps: new(0), BudgetNano: new(int64(0)), CompactAt: new(0), NoCompact: new(true)}, ""},
		"fewer steps than none":      {&session.Configured{MaxSteps: new(-1)}, "negative"},
		"less money than none":       {&session.Configured{BudgetNano: new(int64(-1))}, "negative"},
		"a full window":              {&session.Configured{CompactAt: new(1000)}, ""},
		"more than that":             {&session.Configured{CompactAt: new(1001)}, "thousandths"},
		"less than an empty one":     {&session.Configured{CompactAt: new(-1)}, "thousandths"},
		"what becomes of files":      {&session.Configured{OnLost: new("ask")}, ""},
		"something else of them":     {&session.Configured{OnLost: new("undo")}, "rollback"},
		"a root":                     {&session.Configured{Root: new("/")}, "whoever opens"},
		"a directory to run in":      {&session.Configured{Cwd: new("/")}, "whoever opens"},
		"more directories":           {&session.Configured{AddDirs: []string{"/"}}, "whoever opens"},
		"patience":                   {&session.Configured{RetryForMS: new(int64(1))}, "whoever opens"},
		"a model":                    {whole(), ""},
		"without its provider":       {with(func(c *session.Configured) { c.Provider = nil }), "with its provider"},
		"only a provider":            {&session.Configured{Provider: new("p")}, "with its provider"},
		"without a bound":            {with(func(c *session.Configured) { c.MaxTokens = nil }), "bound of its replies"},
		"a bound of nothing":         {with(func(c *session.Configured) { c.MaxTokens = new(int64(0)) }), "bound of its replies"},
		"without a window":           {with(func(c *session.Configured) { c.Window = nil }), "bound of its replies"},
		"less than no window":        {with(func(c *session.Configured) { c.Window = new(int64(-1)) }), "bound of its replies"},
		"of no known price":          {with(func(c *session.Configured) { c.Price = nil }), ""},
		"that pays":                  {with(func(c *session.Configured) { c.Price.CacheRead = -1 }), "price"},
		"that nobody reaches":        {with(func(c *session.Configured) { c.Model = new("other") }), "no key for it"},
		"that nobody has":            {with(func(c *session.Configured) { c.Model = new("none") }), "no provider"},
		"only a bound":               {&session.Configured{MaxTokens: new(int64(0))}, "of a model"},
		"only a window":              {&session.Configured{Window: new(int64(-1))}, "of a model"},
		"only a price":               {&session.Configured{Price: &model.Price{}}, "of a model"},
	} {
		s := newSession(eng, store.Lease{}, session.New("s"))
		err := s.admitConfigured(c.b)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
		if s.switched != (err == nil && c.b.Model != nil) {
			t.Errorf("%s: another model: %t", what, s.switched)
		}
	}
}

type onlyProvider struct{ modelapi.Provider }

// A message that waits is taken back by its key or its number; by neither is none, and what has begun stays.
func TestWhichMessagesAreTakenBack(t *testing.T) {
	s := newSession(&Engine{}, store.Lease{}, session.New("s"))
	s.state.Queue = []session.Queued{{Seq: 3}, {Seq: 4, Key: "k"}, {Seq: 5}}
	for _, c := range []struct {
		b    session.MessageWithdrawn
		want int64 // 0: it is refused
	}{
		{session.MessageWithdrawn{Seq: 5}, 5},
		{session.MessageWithdrawn{Key: "k"}, 4},
		{session.MessageWithdrawn{Seq: 3, Key: "k"}, 3},
		{session.MessageWithdrawn{}, 0},
		{session.MessageWithdrawn{Seq: 6}, 0},
		{session.MessageWithdrawn{Key: "other"}, 0},
		{session.MessageWithdrawn{Seq: 6, Key: "k"}, 0},
	} {
		b := c.b
		if err := s.admitWithdrawal(&b); (err == nil) != (c.want > 0) || err == nil && b.Seq != c.want {
			t.Errorf("%+v: %v, %+v", c.b, err, b)
		}
	}
}
