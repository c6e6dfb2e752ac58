package proof_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/store"
)

// maxProcesses bounds the agents of one round.
const maxProcesses = 16

// round is one session that is killed several times and resumed until it is done.
type round struct {
	*place
	id     string
	plan   *plan
	rng    *rand.Rand
	server *modeltest.Server
	env    []string
	model  string

	mu     sync.Mutex
	acks   []ack                    // everything that anybody was told is durable
	answer *modeltest.ParsedRequest // the newest request: it holds all results

	kills  map[string]int // agents that died of SIGKILL, by where it hit them
	final  *agent         // the one that finished
	resume bool           // whether that one resumed
}

// newRound prepares a session of one API. The seed decides everything but time.
func newRound(p *place, api, id string, seed uint64) (*round, error) {
	r := &round{place: p, id: id, rng: rand.New(rand.NewPCG(seed, 1)), kills: map[string]int{}}
	r.plan = newPlan(api, id, p.work(id), r.rng)
	return r, r.serve()
}

// serve starts the model server of the round, which outlives the agents.
func (r *round) serve() (err error) {
	r.server, err = modeltest.Start(modeltest.Config{APIKey: "key-of-the-proof", Respond: r.respond})
	if err != nil {
		return err
	}
	if r.plan.api == modeltest.Anthropic {
		r.model = "anthropic/claude-sonnet-5-5"
		r.env = r.environ("ANTHROPIC_API_KEY=key-of-the-proof", "ANTHROPIC_BASE_URL="+r.server.URL())
	} else {
		r.model = "openai/gpt-6-sol"
		r.env = r.environ("OPENAI_API_KEY=key-of-the-proof", "OPENAI_BASE_URL="+r.server.OpenAIURL())
	}
	return nil
}

// respond is the model. It notes the newest request, as the results stand in it.
func (r *round) respond(req modeltest.ParsedRequest) modeltest.Step {
	r.mu.Lock()
	if r.answer == nil || req.Step >= r.answer.Step {
		r.answer = &req
	}
	r.mu.Unlock()
	if !strings.Contains(req.Key, r.plan.prompt) || req.Step >= len(r.plan.steps) {
		return modeltest.Step{Text: "this was not asked for"}
	}
	return r.plan.steps[req.Step]
}

// run kills the session's agents that many times, and lets the last one finish. It gathers what there is to judge.
func (r *round) run(ctx context.Context, kills int) (*evidence, error) {
	watching, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- r.watch(watching) }()
	err := r.drive(ctx, kills)
	if err == nil {
		err = r.caughtUp(ctx)
	}
	stop()
	if err = errors.Join(err, <-watched); err != nil {
		return nil, fmt.Errorf("session %s (%s): %w", r.id, r.plan.api, err)
	}
	return r.gather(ctx)
}

// drive starts agents until the work is done.
func (r *round) drive(ctx context.Context, kills int) error {
	for n := range maxProcesses {
		how := r.choose(n < kills)
		args, err := r.next(ctx, how)
		if err != nil {
			return err
		}
		if n >= kills {
			r.release()
		}
		a, err := startUnder(r.wrap(how), r.plan.dir, r.env, args...)
		if err != nil {
			return err
		}
		killed := false
		if n < kills {
			killed, err = r.strike(ctx, a, how)
		} else if _, err = a.wait(); err == nil {
			err = a.finished()
		}
		r.remember(a.acks...)
		if err != nil {
			return fmt.Errorf("agent %d of %d %q: %w: %s", n+1, kills, args, err, &a.stderr)
		}
		if !killed && a.result != nil {
			r.final, r.resume = a, n > 0
			if a.result.StopReason == session.TurnEndTurn {
				return nil
			}
		}
		if done, err := r.done(ctx); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("not done after %d agents", maxProcesses)
}

// finished checks how an agent that was left alone ended.
func (a *agent) finished() error {
	if code := a.cmd.ProcessState.ExitCode(); code != 0 || a.result == nil {
		return fmt.Errorf("exit code %d: %s", code, a.stdout)
	}
	return nil
}

// done reports whether the turn is over.
func (r *round) done(ctx context.Context) (bool, error) {
	st, err := r.home.State(ctx, r.id)
	if absent(err) {
		return false, nil
	}
	return err == nil && st.Turns == 1 && st.Turn == nil, err
}

// absent tells that a session is not there, or not yet.
func absent(err error) bool {
	return errors.Is(err, store.ErrNotFound)
}

// next says how a user would go on: the first prompt is given again only if it was not accepted.
func (r *round) next(ctx context.Context, how string) ([]string, error) {
	format := []string{"json", "stream-json"}[r.rng.IntN(2)]
	if how == byEvent {
		format = "stream-json"
	}
	args := []string{"-p", "--dangerously-skip-permissions", "--output-format", format}
	v, err := r.home.State(ctx, r.id)
	switch {
	case absent(err):
		return append(args, "--session-id", r.id, "--model", r.model, r.plan.prompt), nil
	case err != nil:
		return nil, err
	}
	info, err := r.home.Store().Get(ctx, r.id)
	if err != nil {
		return nil, err
	}
	if v.Turns == 0 && len(v.Queue) == 0 && info.Pending == 0 {
		return append(args, "-r", r.id, r.plan.prompt), nil
	}
	return append(args, "-r", r.id), nil
}

// release lets every stalled answer pass from now on.
func (r *round) release() {
	for _, name := range r.plan.stalls {
		r.server.Release(name)
	}
}

// watch follows the log while the agents come and go, and remembers what it saw.
func (r *round) watch(ctx context.Context) error {
	next := int64(1)
	for {
		for ev, err := range r.home.Follow(ctx, r.id, next) {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, store.ErrNotFound) {
				break
			}
			if err != nil {
				return fmt.Errorf("follow: %w", err)
			}
			r.remember(ack{ev.Seq, ev.Hash})
			next = ev.Seq + 1
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func (r *round) remember(acks ...ack) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acks = append(r.acks, acks...)
}

// caughtUp waits until the watcher has seen the head.
func (r *round) caughtUp(ctx context.Context) error {
	info, err := r.home.Store().Get(ctx, r.id)
	if err != nil {
		return err
	}
	return until(ctx, "the follower", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, a := range r.acks {
			if a.seq == info.Head.Seq {
				return true
			}
		}
		return false
	})
}
