package modeltest

import (
	"bytes"
	"strings"
)

// checkReturned compares an assistant message of the history with the answer
// that this server sent at its place.
func checkReturned(r *ParsedRequest, at int, v *variant) *refusal {
	got := r.Messages[at].Blocks
	if r.API == Anthropic && v.answer.stop == "refusal" {
		return refuse(RuleRefusalFedBack, "messages.%d: the answer was a refusal", at)
	}
	for _, b := range v.answer.blocks {
		for _, g := range got {
			if b.cut && g.Type == "tool_use" && (g.ID == b.ID || bytes.Equal(g.Input, b.Input)) {
				return refuse(RuleToolUseIncomplete, "messages.%d: tool call %q was cut", at, b.ID)
			}
		}
	}
	sent := expected(v.answer.blocks)
	if mayDropThinking(r, v) && !hasThinking(got) {
		sent = withoutThinking(sent)
	}
	if bad := checkThinking(at, sent, got); bad != nil {
		return bad
	}
	if r.API == OpenAI {
		got = withoutBlank(got)
	}
	if len(sent) != len(got) {
		return refuse(RuleAssistantChanged, "messages.%d: %d blocks were sent, %d came back", at, len(sent), len(got))
	}
	for i := range sent {
		if bad := checkSame(at, i, sent[i], got[i]); bad != nil {
			return bad
		}
	}
	return nil
}

// expected are the blocks of an answer that can come back at all.
func expected(blocks []sentBlock) []sentBlock {
	var out []sentBlock
	for _, b := range blocks {
		if !b.cut && !b.noBlank {
			out = append(out, b)
		}
	}
	return out
}

// mayDropThinking: another model cannot read it, and the OpenAI-compatible
// servers disagree on whether they want it.
func mayDropThinking(r *ParsedRequest, v *variant) bool {
	return r.API == OpenAI || r.Model != v.model
}

func hasThinking(blocks []Block) bool {
	for _, b := range blocks {
		if isThinking(b) {
			return true
		}
	}
	return false
}

func withoutThinking(blocks []sentBlock) []sentBlock {
	var out []sentBlock
	for _, b := range blocks {
		if !isThinking(b.Block) {
			out = append(out, b)
		}
	}
	return out
}

func withoutBlank(blocks []Block) []Block {
	var out []Block
	for _, b := range blocks {
		if b.Type != "text" || strings.TrimSpace(b.Text) != "" {
			out = append(out, b)
		}
	}
	return out
}

// checkThinking compares the thinking blocks and their places among the others.
func checkThinking(at int, sent []sentBlock, got []Block) *refusal {
	for i := range max(len(sent), len(got)) {
		sentThinks := i < len(sent) && isThinking(sent[i].Block)
		gotThinks := i < len(got) && isThinking(got[i])
		if !sentThinks && !gotThinks {
			continue
		}
		if sentThinks != gotThinks || sent[i].Type != got[i].Type ||
			sent[i].Text != got[i].Text || sent[i].Signature != got[i].Signature {
			return refuse(RuleThinkingVerbatim, "messages.%d.content.%d: thinking blocks cannot be modified, moved or left out", at, i)
		}
	}
	return nil
}

func checkSame(at, i int, sent sentBlock, got Block) *refusal {
	same := sent.Type == got.Type && sent.Text == got.Text
	if sent.Type == "tool_use" {
		same = same && sent.Name == got.Name && (sent.freeID || sent.ID == got.ID)
		if same && !bytes.Equal(sent.Input, got.Input) {
			return refuse(RuleToolInputVerbatim, "messages.%d.content.%d: input of %s was %s, came back as %s",
				at, i, sent.Name, clip(sent.Input), clip(got.Input))
		}
	} else if _, known := blockFields(sent.Type); !known {
		same = same && sameJSON(sent.Raw, got.Raw)
	}
	if !same {
		return refuse(RuleAssistantChanged, "messages.%d.content.%d: was %s, came back as %s", at, i, clip(sent.Raw), clip(got.Raw))
	}
	return nil
}
