package session_test

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// An empty text is left out of what is sent: APIs refuse a conversation that holds one, with every request from then on.
func TestEmptyTextIsNotSent(t *testing.T) {
	w := newWorld("s")
	w.append(engine, &session.Opened{ID: "s"})
	w.append(human, &session.MessageReceived{Content: []model.Part{model.TextPart(""), model.TextPart("hello"), {Type: model.BlockText, Data: []byte{}}}})
	w.append(engine, &session.TurnStarted{N: 1, Message: w.st.Head.Seq})
	ms := w.tr.Upcoming()
	if len(ms) != 1 || len(ms[0].Blocks) != 1 || ms[0].Blocks[0].Text != "hello" {
		t.Errorf("sent: %+v", ms)
	}
}
