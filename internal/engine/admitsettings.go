package engine

import (
	"fmt"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// admitWithdrawal completes the taking back of a message that waits for its turn, known by its key or its seq.
func (s *admission) admitWithdrawal(b *session.MessageWithdrawn) error {
	for _, q := range s.state.Queue {
		if q.Seq == b.Seq || b.Seq == 0 && b.Key != "" && q.Key == b.Key {
			b.Seq, b.Key = q.Seq, q.Key
			return nil
		}
	}
	return fmt.Errorf("no such message waits for its turn: it has begun, or was taken back")
}

// admitConfigured takes another mode, model, limit or time of compaction. Where a session works and what it may reach is
// for who opens it, and so is the mode in which nothing asks.
func (s *admission) admitConfigured(b *session.Configured) error {
	if b.Root != nil || b.Cwd != nil || len(b.AddDirs) > 0 || b.RetryForMS != nil {
		return fmt.Errorf("directories and patience are set by whoever opens the session")
	}
	if b.OnLost != nil {
		if err := session.CheckOnLost(*b.OnLost); err != nil {
			return err
		}
	}
	if b.Mode != nil {
		mode, err := permission.ParseMode(*b.Mode)
		if err != nil {
			return err
		}
		if mode == permission.ModeBypass {
			return fmt.Errorf("the mode %s is for whoever holds the session, as long as it is held", mode)
		}
	}
	if b.MaxSteps != nil && *b.MaxSteps < 0 || b.BudgetNano != nil && *b.BudgetNano < 0 {
		return fmt.Errorf("a limit cannot be negative")
	}
	if b.CompactAt != nil && (*b.CompactAt < 0 || *b.CompactAt > 1000) {
		return fmt.Errorf("the window is at most 1,000 thousandths full")
	}
	if (b.Provider == nil) != (b.Model == nil) {
		return fmt.Errorf("a model is named with its provider")
	}
	if b.Model == nil {
		if b.MaxTokens != nil || b.Window != nil || b.Price != nil {
			return fmt.Errorf("a window, a bound of replies and a price are those of a model: it is named with them")
		}
		return nil
	}
	return s.admitModel(b)
}

// admitModel takes another model. A price below zero would give back what a budget has spent.
func (s *admission) admitModel(b *session.Configured) error {
	if b.MaxTokens == nil || *b.MaxTokens <= 0 || b.Window == nil || *b.Window < 0 {
		return fmt.Errorf("a model is named with its window and the bound of its replies")
	}
	if p := b.Price; p != nil && min(p.Input, p.Output, p.CacheRead, p.CacheWrite) < 0 {
		return fmt.Errorf("a price cannot be negative")
	}
	spec := *b.Provider + "/" + *b.Model
	switch p, err := s.eng.cfg.Provider(spec); {
	case err != nil:
		return fmt.Errorf("whoever holds the session cannot reach %s: %w", spec, err)
	case p == nil:
		return fmt.Errorf("whoever holds the session has no provider of %s", spec)
	}
	s.switched = true
	return nil
}
