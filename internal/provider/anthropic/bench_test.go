package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// long is a conversation of about 200,000 tokens.
func long() modelapi.Request {
	r := ask("hi")
	for i := range 200 {
		id := fmt.Sprintf("t%d", i)
		r.Messages = append(r.Messages,
			model.Message{Role: model.RoleAssistant, Blocks: []model.Block{
				own(`{"type":"text","text":"` + strings.Repeat("words ", 20) + `"}`),
				own(`{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"x"}}`),
			}},
			user(toolResult(id, false, model.TextPart(strings.Repeat("a line of output\n", 230)))))
	}
	return r
}

func BenchmarkRender(b *testing.B) {
	r := long()
	for b.Loop() {
		body, err := render(r, true)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

func BenchmarkPrefix(b *testing.B) {
	r, p := long(), New(Config{})
	for b.Loop() {
		if _, err := p.Prefix(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssemble(b *testing.B) {
	r := ask("hi")
	d := []byte(delta("0", `{"type":"text_delta","text":"a few words of it"}`))
	for b.Loop() {
		a := newAssembler(r, "", nil)
		if a.event([]byte(begin)) != nil || a.event([]byte(textBlock("0", "x")[0])) != nil {
			b.Fatal("no start")
		}
		for range 1000 {
			if err := a.event(d); err != nil {
				b.Fatal(err)
			}
		}
	}
}
