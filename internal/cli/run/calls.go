package run

import (
	"context"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/view"
)

// call is how a command of a hint names the session of a run; see [app.App.Call].
func (p *printer) call(r *view.Result) string {
	return p.app.Call(context.Background(), p.home, r.SessionID)
}

// short is call with something behind it, as in ID@SEQ and ID:ACT, where a name could be read in another way.
func (p *printer) short(r *view.Result) string {
	if !p.app.Screen {
		return r.SessionID
	}
	return app.ShortID(r.SessionID, app.ShortLength)
}

// callWait is how a command names what waits in it.
func (p *printer) callWait(r *view.Result, id string) string {
	if act, ok := strings.CutPrefix(id, r.SessionID+":"); ok {
		return p.short(r) + ":" + act
	}
	return id
}
