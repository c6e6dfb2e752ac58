package run

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/cli/app"
)

// Stays opens the home as the screen does with -r, goes to one session after the other (empty: a new one), and reports
// for each whether the home that was open could stay so.
func Stays(ctx context.Context, a *app.App, resume string, ids ...string) (same []bool, err error) {
	f := &Flags{resume: resume, Changed: func(string) bool { return false }}
	set, err := settingsFor(ctx, a, f)
	if err != nil {
		return nil, err
	}
	s := &sitting{f: f.none(), given: f, of: resume, set: set, real: a, app: a, said: &saidLines{}, root: f.root}
	if err := s.openHome(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.home.Close()) }()
	for _, id := range ids {
		was := s.home
		if err := s.settle(ctx, target{id: id}); err != nil {
			return same, err
		}
		same = append(same, s.home == was)
	}
	return same, nil
}
