package providertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// fails makes a call that has to fail as a *modelapi.Error.
func fails(t *testing.T, p modelapi.Provider, r modelapi.Request) *modelapi.Error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	resp, err := p.Call(ctx, r, func(modelapi.Delta) {})
	e, ok := errors.AsType[*modelapi.Error](err)
	if !ok || resp != nil {
		t.Fatalf("got %s, %v; want a *modelapi.Error", replied(resp), err)
	}
	return e
}

// failures: what can be done about a failure is told by its class.
func failures(t *testing.T, peer Peer) {
	for status, want := range map[int]modelapi.Class{
		400: modelapi.ClassInvalid, 401: modelapi.ClassAuth, 403: modelapi.ClassAuth, 404: modelapi.ClassNotFound,
		429: modelapi.ClassRateLimit, 500: modelapi.ClassServer, 503: modelapi.ClassServer, 529: modelapi.ClassServer,
	} {
		p, _ := peer.Start(t, []Reply{{Status: status}})
		e := fails(t, p, peer.request(user(text("go"))))
		if e.Class != want || e.Status != status || e.Message == "" || e.Started {
			t.Errorf("status %d is %+v, want class %s and words", status, e, want)
		}
	}
}

// once: a provider never tries again by itself.
func once(t *testing.T, peer Peer) {
	for _, r := range []Reply{{Status: 500}, {Status: 429}, {Blocks: []model.Block{text(long)}, Break: true}} {
		p, sent := peer.Start(t, []Reply{r})
		_ = fails(t, p, peer.request(user(text("go"))))
		if n := len(sent()); n != 1 {
			t.Errorf("%d requests were made", n)
		}
	}
}

// breaks: half of a reply is none, and the same request may succeed later.
func breaks(t *testing.T, peer Peer) {
	p, _ := peer.Start(t, []Reply{
		{Blocks: []model.Block{text("first"), call("call_1", "look", odd)}, Stop: modelapi.StopToolUse, Break: true},
		{Blocks: []model.Block{text("first")}, Stop: modelapi.StopEndTurn},
	})
	e := fails(t, p, peer.request(user(text("go"))))
	if !e.Retryable() || !e.Started || e.Class != modelapi.ClassDisconnect && e.Class != modelapi.ClassProtocol {
		t.Errorf("it is %+v", e)
	}
	if r, _ := ask(t, p, peer.request(user(text("go")))); r.Stop != modelapi.StopEndTurn {
		t.Errorf("the second call: %s", replied(r))
	}
}

// ends: a call returns soon after its context ended, with the context's error.
func ends(t *testing.T, peer Peer) {
	p, sent := peer.Start(t, []Reply{{Blocks: []model.Block{text(long)}, Stop: modelapi.StopEndTurn, Stall: true}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() {
		_, err := p.Call(ctx, peer.request(user(text("go"))), func(modelapi.Delta) {})
		over <- err
	}()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for start := time.Now(); len(sent()) == 0 && time.Since(start) < patience; {
		<-look.C
	}
	cancel()
	select {
	case err := <-over:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the call goes on")
	}
}

// atOnce: a provider is used by many goroutines.
func atOnce(t *testing.T, peer Peer) {
	p, sent := peer.Start(t, []Reply{{Blocks: []model.Block{text(long), call("call_1", "look", odd)}, Stop: modelapi.StopToolUse}})
	const many = 8
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			r, err := p.Call(t.Context(), peer.request(history()...), func(modelapi.Delta) {})
			if err != nil {
				t.Errorf("call: %v", err)
				return
			}
			if got := of(r.Blocks, model.BlockText); len(got) != 1 || got[0].Text != long || len(of(r.Blocks, model.BlockToolUse)) != 1 {
				t.Errorf("blocks %s", words(r.Blocks...))
			}
		})
	}
	all.Wait()
	if n := len(sent()); n != many {
		t.Errorf("%d requests of %d calls", n, many)
	}
}
