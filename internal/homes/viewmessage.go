package homes

import (
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// messageViews shows the conversation with the results that are there already. What a call has not answered yet is
// left out, rather than shown as the words that would stand in for a missing result.
func messageViews(t *session.Transcript, st *session.State) []view.Message {
	ms := t.Upcoming()
	out := make([]view.Message, 0, len(ms))
	for i, m := range ms {
		blocks := m.Blocks
		if i == len(ms)-1 && m.Role == model.RoleUser {
			blocks = answered(blocks, st)
		}
		v := view.Message{Role: m.Role, Content: make([]view.Content, 0, len(blocks))}
		for _, b := range blocks {
			v.Content = append(v.Content, contentView(b))
		}
		if len(blocks) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// answered drops the results of open calls.
func answered(blocks []model.Block, st *session.State) []model.Block {
	if st.Turn == nil {
		return blocks
	}
	open := map[string]bool{}
	for i := range st.Turn.Calls {
		if c := &st.Turn.Calls[i]; !c.Settled() {
			open[c.ToolUse] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b model.Block) bool { return b.Result != nil && open[b.Result.ID] })
}

func contentView(b model.Block) view.Content {
	v := view.Content{Type: b.Type}
	switch {
	case b.Type == model.BlockText:
		v.Text = &b.Text
	case b.Tool != nil:
		v.ID, v.Name, v.Input = b.Tool.ID, b.Tool.Name, jsonValue(b.Tool.Input)
	case b.Result != nil:
		v.CallID, v.IsError, v.Content = b.Result.ID, &b.Result.IsError, []view.Content{}
		for _, p := range b.Result.Content {
			v.Content = append(v.Content, partView(p))
		}
	case len(b.Raw) > 0:
		v.Raw = jsonValue(b.Raw)
	default:
		v = partView(model.Part{Type: b.Type, Media: b.Media, Data: b.Data})
	}
	return v
}

func partView(p model.Part) view.Content {
	if p.Type == model.BlockText {
		text := string(p.Data)
		return view.Content{Type: p.Type, Text: &text}
	}
	return view.Content{Type: p.Type, Media: p.Media, Bytes: len(p.Data), Digest: store.Sum(p.Data).String()}
}
