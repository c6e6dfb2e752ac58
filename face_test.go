package perdure_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/memory"
	"github.com/perdure/perdure/view"
)

func openHome(t *testing.T, cfg perdure.Config) *perdure.Home {
	t.Helper()
	h, err := perdure.Open(t.Context(), filepath.Join(t.TempDir(), "home"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// counting counts the events that are read from a store.
type counting struct {
	store.Store
	read atomic.Int64
}

func (c *counting) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for ev, err := range c.Store.Read(ctx, id, from, to) {
			c.read.Add(1)
			if !yield(ev, err) {
				return
			}
		}
	}
}

// Goal: of a long log, what is asked for comes in order, and what is asked for from the end is read from there.
func TestRangesOfALog(t *testing.T) {
	c := &counting{Store: memory.New()}
	h := openHome(t, perdure.Config{Store: c})
	const n = 1000
	entries := make([]perdure.Entry, 0, n)
	for i := range n - 1 { // the first event says what the session is
		if i%100 == 50 {
			entries = append(entries, perdure.ScratchEvent("k", fmt.Append(nil, i)))
			continue
		}
		entries = append(entries, perdure.AppEvent("n", fmt.Append(nil, i)))
	}
	if _, err := h.Create(t.Context(), perdure.Spec{ID: "long", Events: entries}); err != nil {
		t.Fatal(err)
	}
	up := func(from, to int64) (out []int64) {
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
		return out
	}
	down := func(from, to int64) []int64 { out := up(from, to); slices.Reverse(out); return out }
	scratch := []string{"state.set"}
	for name, test := range map[string]struct {
		r    perdure.Range
		want []int64
		most int64 // events that may be read for it
	}{
		"all":                        {perdure.Range{}, up(1, n), n},
		"bounds":                     {perdure.Range{After: 10, Through: 13}, up(11, 13), 3},
		"after the end":              {perdure.Range{After: n}, nil, 0},
		"through more than there is": {perdure.Range{After: n - 2, Through: n + 7}, up(n-1, n), 2},
		"last 5":                     {perdure.Range{Last: 5}, up(n-4, n), 5},
		"last 5, reverse":            {perdure.Range{Last: 5, Reverse: true}, down(n-4, n), 5},
		"last 5 of the first 100":    {perdure.Range{Last: 5, Through: 100}, up(96, 100), 5},
		"last 5 after 998":           {perdure.Range{Last: 5, After: 998}, up(999, n), 2},
		"more than there are":        {perdure.Range{Last: 5000}, up(1, n), n},
		"reverse":                    {perdure.Range{Reverse: true}, down(1, n), n},
		"a kind":                     {perdure.Range{Kinds: scratch}, []int64{52, 152, 252, 352, 452, 552, 652, 752, 852, 952}, n},
		"the last of a kind":         {perdure.Range{Kinds: scratch, Last: 2}, []int64{852, 952}, 300},
		"a kind, reverse, bounded":   {perdure.Range{Kinds: scratch, Reverse: true, After: 52, Through: 252}, []int64{252, 152}, 200},
		"no such kind":               {perdure.Range{Kinds: []string{"none"}}, nil, n},
	} {
		c.read.Store(0)
		var got []int64
		for ev, err := range h.Events(t.Context(), "long", test.r) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, ev.Seq)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if read := c.read.Load(); read > test.most {
			t.Errorf("%s: %d events were read, at most %d need be", name, read, test.most)
		}
	}
	for ev, err := range h.Events(t.Context(), "long", perdure.Range{Last: 1}) {
		space, data, ok := ev.App()
		body, _ := ev.Body.(map[string]any)
		if err != nil || !ok || space != "n" || string(data) != "998" || body["data"] != "998" || ev.Hash == "" {
			t.Errorf("%+v, %v", ev, err)
		}
	}
	for _, err := range h.Events(t.Context(), "none", perdure.Range{Last: 1}) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of no session: %v", err)
		}
	}
}

// Goal: what is not an entry is refused, not stored and no panic.
func TestEmptyEntriesAreRefused(t *testing.T) {
	h := openHome(t, perdure.Config{})
	ctx := t.Context()
	if _, err := h.Create(ctx, perdure.Spec{ID: "a", Events: []perdure.Entry{{}}}); err == nil {
		t.Error("a session was made with nothing")
	}
	r, err := h.Record(ctx, "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Append(ctx, perdure.User, perdure.Entry{}); !errors.Is(err, perdure.ErrUnfit) {
		t.Errorf("recorded: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Append(ctx, "b", perdure.AppendOptions{}, perdure.User, perdure.Entry{}); !errors.Is(err, perdure.ErrUnfit) {
		t.Errorf("appended: %v", err)
	}
	if err := h.Deliver(ctx, "b", "", perdure.Entry{}); !errors.Is(err, perdure.ErrUnfit) {
		t.Errorf("delivered: %v", err)
	}
	if err := h.Deliver(ctx, "b", "", perdure.LifecycleEvent("nonsense")); !errors.Is(err, perdure.ErrRefused) {
		t.Errorf("a lifecycle that there is not: %v", err)
	}
}

// Goal: each entry that a program makes is what the view shows of it.
func TestEntriesAreSeen(t *testing.T) {
	h := openHome(t, perdure.Config{})
	ctx := t.Context()
	step := view.Step{Content: "a", ActiveForm: "doing a", Status: "executing", Blocker: "b", Reason: "r", Output: "o"}
	id, err := h.Create(ctx, perdure.Spec{
		Owner: "me", Title: "old", Cwd: "/", Agent: perdure.Agent{Name: "n", Provider: "p", Model: "m", System: "s", Tools: []byte(`[]`), Window: 200_000},
		Events: []perdure.Entry{perdure.ScratchEvent("k", []byte(`{"x":1}`))}, Shared: []store.Shared{{Scope: "all", Key: "k", Value: []byte("v")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Append(ctx, id, perdure.AppendOptions{Key: "once"}, perdure.User, perdure.FactEvent("decision", "it is so", "user"), perdure.PlanEvent(step))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []perdure.Entry{
		perdure.LabelEvent("new", nil), perdure.LabelEvent("", map[string]string{"l": "1"}), perdure.LifecycleEvent("paused"),
	} {
		if err := h.Deliver(ctx, id, "", e); err != nil {
			t.Error(err)
		}
	}
	v, err := h.View(ctx, id, false)
	switch {
	case err != nil:
		t.Fatal(err)
	case v.Title != "new" || v.Owner != "me" || v.Labels["l"] != "1" || v.Lifecycle != "paused" || v.Activity != "idle",
		len(v.Facts) != 1 || v.Facts[0].Text != "it is so", len(v.Plan) != 1 || v.Plan[0] != step,
		fmt.Sprintf("%s", v.Scratch["k"]) != `{"x":1}`, v.Agent.Name != "n" || v.Agent.Window != 200_000 || len(v.Faults) > 0:
		t.Errorf("%+v", v)
	}
	if got, err := h.Shared(ctx, "all"); err != nil || string(got["k"]) != "v" {
		t.Errorf("shared %v, %v", got, err)
	}
	if all := list(t, h, store.Query{Lifecycle: "paused"}); len(all) != 1 || all[0].ID != id {
		t.Errorf("%+v", all)
	}
	if faults, err := h.Verify(ctx, id); err != nil || len(faults) > 0 {
		t.Errorf("%v, %v", faults, err)
	}
	if err := h.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.View(ctx, id, false); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

// Goal: a home on a store of the program's own does all but what the store cannot: a backup, and to outlive the process.
func TestStoreOfOnesOwn(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	h, err := perdure.Open(ctx, dir, perdure.Config{Store: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	r, err := h.Record(ctx, "kept")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.User(ctx, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	child, _, err := h.Fork(ctx, "kept", 0, "child", "")
	if err != nil {
		t.Fatal(err)
	}
	if ms, err := h.Messages(ctx, child); err != nil || len(ms) != 1 || ms[0].Blocks[0].Text != "hello" {
		t.Errorf("%+v, %v", ms, err)
	}
	if found, err := filepath.Glob(filepath.Join(dir, "perdure.*")); err != nil || len(found) > 0 {
		t.Errorf("there is a database: %v, %v", found, err)
	}
	if err := h.Backup(ctx, filepath.Join(t.TempDir(), "copy")); err == nil || !strings.Contains(err.Error(), "cannot be backed up") {
		t.Errorf("backup: %v", err)
	}
	if err := h.Delete(ctx, "kept", "child"); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// list collects the sessions that a query selects.
func list(t *testing.T, h *perdure.Home, q store.Query) (all []view.Listing) {
	t.Helper()
	for l, err := range h.List(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// Goal: a list is all of what a query selects, whatever a page holds, or as many as it asks for.
func TestListIsWhole(t *testing.T) {
	h := openHome(t, perdure.Config{Store: memory.New()})
	const many = 130 // a page has 100
	for i := range many {
		if _, err := h.Create(t.Context(), perdure.Spec{ID: fmt.Sprint("s", i), Cwd: "/"}); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int]int{0: many, 1: 1, 100: 100, 120: 120, 500: many} {
		all := list(t, h, store.Query{Limit: limit})
		ids := map[string]bool{}
		for _, l := range all {
			ids[l.ID] = true
		}
		if len(all) != want || len(ids) != want {
			t.Errorf("%d of %d sessions, %d of them different, with limit %d", len(all), want, len(ids), limit)
		}
	}
	for range h.List(t.Context(), store.Query{}) {
		break
	}
}

// Goal: what else there is does what it says, through the face.
func TestRestOfTheFace(t *testing.T) {
	ctx := t.Context()
	h := openHome(t, perdure.Config{Secrets: map[string]string{"DOOR": "sesame-open-9"}})
	r, err := h.Record(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.User(ctx, "hello"); err != nil {
		t.Fatal(err)
	}
	reply := &modelapi.Response{Stop: modelapi.StopToolUse, Blocks: []model.Block{
		{Type: model.BlockText, Text: "hi"}, {Type: model.BlockToolUse, Tool: &model.ToolUse{ID: "u", Name: "Look", Input: []byte(`{}`)}},
	}}
	if _, err := r.Assistant(ctx, "mine", reply); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ToolResult(ctx, "u", false, "nothing"); err != nil {
		t.Fatal(err)
	}
	if ms, err := h.Messages(ctx, "s"); err != nil || len(ms) != 3 {
		t.Errorf("%+v, %v", ms, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := h.Context(ctx, "s"); err != nil || c.SessionID != "s" || len(c.Messages) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if v, err := h.View(ctx, "s", true); err != nil || len(v.Messages) != 3 || len(v.Acts) == 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := h.Cancel(ctx, "s"); err != nil {
		t.Errorf("cancel: %v", err)
	}
	for range 2 { // the same again does nothing more
		if err := h.Send(ctx, "s", "k", "later"); err != nil {
			t.Errorf("send: %v", err)
		}
	}
	listed := list(t, h, store.Query{})
	if len(listed) != 1 || listed[0].ID != "s" || listed[0].Pending != 1 {
		t.Errorf("%+v", listed)
	}
	if _, err := h.Create(ctx, perdure.Spec{ID: "mute", Cwd: "/"}); err != nil {
		t.Fatal(err)
	}
	if why, err := h.Compact(ctx, "mute", ""); !errors.Is(err, perdure.ErrRefused) {
		t.Errorf("what nobody has said was compacted: %q, %v", why, err)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	if err := h.Backup(ctx, dir); err != nil {
		t.Fatal(err)
	}
	copied, err := perdure.Open(ctx, dir, perdure.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if ms, err := copied.Messages(ctx, "s"); err != nil || len(ms) < 3 {
		t.Errorf("%+v, %v", ms, err)
	}
}
