package session_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// open creates a session: open [mode=M] [max_steps=N] [budget=N] [price=N] [window=N].
func (s *script) open(args []string) error {
	agent := session.Agent{Name: "agent", Provider: "fake", Model: "m", System: "You are a test.", Tools: []byte("[]")}
	config := session.Config{Mode: "default", Root: "/w"}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "mode":
			config.Mode = value
		case "max_steps":
			config.MaxSteps = int(n)
		case "budget":
			config.BudgetNano = n
		case "price":
			agent.Price = &model.Price{Input: n, Output: n}
		case "window":
			agent.Window = n
		case "compact_at":
			config.CompactAt = int(n)
		case "no_compact":
			config.NoCompact = true
		default:
			return fmt.Errorf("%w: open %s", errUsage, a)
		}
	}
	s.w.append(human, &session.Opened{ID: s.w.id, Owner: "ada", Agent: agent, Config: config, Cwd: "/w"})
	s.w.append(engine, &session.Resumed{Epoch: 1, Host: "host", BootID: "boot", PID: 1, Build: "test"})
	return nil
}

// config changes limits and mode: config max_steps=N budget=N mode=M.
func (s *script) config(args []string) error {
	b := &session.Configured{}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		steps := int(n)
		switch name {
		case "mode":
			b.Mode = &value
		case "max_steps":
			b.MaxSteps = &steps
		case "budget":
			b.BudgetNano = &n
		default:
			return fmt.Errorf("%w: config %s", errUsage, a)
		}
	}
	s.w.append(human, b)
	return nil
}

// run does what has no effect outside the log until only acts and wake-ups remain.
func (s *script) run() {
	for range 1000 {
		as := session.Next(s.w.st)
		if !slices.ContainsFunc(as, func(a session.Action) bool { return s.w.bookkeep(a) }) {
			return
		}
	}
	panic("Next never comes to rest")
}

// start begins an act; do also ends it: do ID OUTCOME, as in finish.
func (s *script) start(verb, id string, rest []string) error {
	a, err := s.w.action(id)
	if err != nil {
		return err
	}
	if d, ok := a.Do.(session.Wake); ok {
		s.w.now = max(s.w.now, d.At)
		s.w.append(engine, &session.TimerFired{ID: id})
		return nil
	}
	if s.w.bookkeep(a) {
		return nil
	}
	if err := s.w.start(a); err != nil || verb == "start" {
		return err
	}
	return s.finish(id, rest)
}

// finish ends an act.
//
//	finish CALL fail CLASS [DELAY]            of the model
//	finish CALL [text T] [tool NAME INPUT]... [stop=S] [usage=IN,OUT]
//	finish ACT OUTCOME TEXT [cwd=DIR]         of a tool
func (s *script) finish(id string, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: finish %s", errUsage, id)
	}
	if !strings.Contains(id, ".b0.") && !session.ForSummary(id) {
		b := &session.ToolFinished{Act: id, Outcome: session.Outcome(args[0]), Content: []model.Part{model.TextPart(args[1])}}
		if len(args) > 2 {
			b.Cwd = strings.TrimPrefix(args[2], "cwd=")
		}
		if effects["Edit"] == session.EffectEdit && b.Outcome == session.OutcomeOK && s.w.st.Call(id).Tool == "Edit" {
			s.w.file += "+"
		}
		s.w.result(b)
		return nil
	}
	if args[0] == "fail" {
		b := &session.ModelFailed{Act: id, Model: "fake/m", Class: args[1], Message: args[1]}
		if len(args) > 2 {
			delay, err := strconv.ParseInt(args[2], 10, 64)
			if err != nil {
				return err
			}
			b.RetryAt, b.DelayMS = s.w.now+delay, delay
		}
		delete(s.w.flight, id)
		s.w.append(engine, b)
		return nil
	}
	return s.reply(id, args)
}

func (s *script) reply(id string, args []string) error {
	stop, use := modelapi.StopEndTurn, model.Usage{Input: 100, Output: 10}
	var blocks []session.SealedBlock
	for len(args) > 0 {
		switch {
		case args[0] == "text":
			raw := []byte(`{"type": "text", "text": ` + strconv.Quote(args[1]) + `}`)
			blocks = append(blocks, session.SealedBlock{Type: model.BlockText, Text: true, Raw: raw, Shown: []byte(args[1])})
			args = args[2:]
		case args[0] == "tool":
			stop = modelapi.StopToolUse
			use := fmt.Sprintf("u%d", len(blocks)+1)
			raw := []byte(`{"type": "tool_use", "id": "` + use + `", "name": "` + args[1] + `", "input": ` + args[2] + `}`)
			blocks = append(blocks, session.SealedBlock{Type: model.BlockToolUse, ID: use, Name: args[1], Raw: raw, Input: []byte(args[2])})
			args = args[3:]
		case strings.HasPrefix(args[0], "stop="):
			stop = modelapi.StopReason(args[0][5:])
			args = args[1:]
		case strings.HasPrefix(args[0], "usage="):
			if _, err := fmt.Sscanf(args[0], "usage=%d,%d", &use.Input, &use.Output); err != nil {
				return err
			}
			args = args[1:]
		default:
			return fmt.Errorf("%w: reply with %s", errUsage, args[0])
		}
	}
	s.w.reply(id, stop, use, blocks...)
	return nil
}

// approve answers an approval as it is shown: approve ID allow|deny [grant=RULE] [WORDS].
func (s *script) approve(args []string) error {
	c := s.w.st.Call(args[0])
	if c == nil || c.Approval == nil {
		return fmt.Errorf("%s asks for no approval", args[0])
	}
	b := &session.ApprovalAnswered{Act: args[0], Allow: args[1] == "allow", Bound: c.Approval.Bound, Pre: c.Approval.Pre}
	for _, a := range args[2:] {
		if rule, ok := strings.CutPrefix(a, "grant="); ok {
			b.Grant = rule
		} else {
			b.Message = a
		}
	}
	s.w.append(human, b)
	return nil
}

// fork goes on in a child: fork ID, or fork ID@SEQ, which rounds down to a settled seq; then under its first lease.
func (s *script) fork(args []string) error {
	id, at, exact := strings.Cut(args[0], "@")
	seq := int64(len(s.w.events))
	if exact {
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return err
		}
		if seq, err = session.SettledSeq(session.New(s.w.id), s.w.events, n); err != nil {
			return err
		}
		fmt.Fprintf(&s.w.out, "forked at %d\n", seq)
	}
	shown := s.w.out.String()
	s.w.out.Reset()
	s.w = s.w.fork(id, seq)
	s.w.append(engine, &session.Resumed{Epoch: 1, Host: "host", BootID: "boot", PID: 1, Build: "test"})
	all := shown + s.w.out.String()
	s.w.out.Reset()
	s.w.out.WriteString(all)
	return nil
}
