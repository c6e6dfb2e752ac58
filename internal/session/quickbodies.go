package session

import (
	"math"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

func (b *FileSeen) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		if string(k) != "file" {
			h.fail()
			return
		}
		f := &b.File
		for k := h.open(); k != nil; k = h.next() {
			switch string(k) {
			case "path":
				f.Path = h.text()
			case "digest":
				f.Digest = h.digest()
			case "mode":
				n := h.number()
				if n < 0 || n > math.MaxUint32 {
					h.fail()
				}
				f.Mode = uint32(n)
			case "size":
				f.Size = h.number()
			case "use":
				f.Use = FileUse(h.text())
			default:
				h.fail()
			}
		}
	}
}

func (b *ToolDecided) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "act":
			b.Act = h.text()
		case "effect":
			b.Effect = Effect(h.text())
		case "decision":
			b.Decision.quick(h)
		default:
			h.fail()
		}
	}
}

func (d *Decision) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "allow":
			d.Allow = h.boolean()
		case "rule":
			d.Rule = h.text()
		case "reason":
			d.Reason = h.text()
		case "bound":
			d.Bound = h.digest()
		case "pre":
			d.Pre = h.digest()
		case "epoch":
			d.Epoch = h.number()
		case "human":
			d.Human = h.boolean()
		default:
			h.fail()
		}
	}
}

func (b *ToolStarted) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "act":
			b.Act = h.text()
		case "start":
			for k := h.open(); k != nil; k = h.next() {
				switch string(k) {
				case "epoch":
					b.Start.Epoch = h.number()
				case "boot_id":
					b.Start.BootID = h.text()
				case "time":
					b.Start.Time = h.number()
				case "command":
					b.Start.Command = h.text()
				default:
					h.fail()
				}
			}
		default:
			h.fail()
		}
	}
}

func (b *ToolFinished) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "act":
			b.Act = h.text()
		case "outcome":
			b.Outcome = Outcome(h.text())
		case "collected":
			b.Collected = h.boolean()
		case "exit_code":
			n := h.small()
			b.ExitCode = &n
		case "cwd":
			b.Cwd = h.text()
		case "output":
			b.Output = h.text()
		case "content":
			b.Content = quickParts(h, b.Content)
		default:
			h.fail()
		}
	}
}

// quickParts reads a list that must not have been there before: encoding/json would mix the two.
func quickParts(h *head, before []model.Part) []model.Part {
	if before != nil {
		h.fail()
	}
	out := []model.Part{}
	for ok := h.list(); ok; ok = h.more() {
		var p model.Part
		for k := h.open(); k != nil; k = h.next() {
			switch string(k) {
			case "type":
				p.Type = model.BlockType(h.text())
			case "media":
				p.Media = h.text()
			default:
				h.fail()
			}
		}
		out = append(out, p)
	}
	return out
}

func (b *ModelRequested) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "act":
			b.Act = h.text()
		case "turn":
			b.Turn = h.small()
		case "step":
			b.Step = h.small()
		case "attempt":
			b.Attempt = h.small()
		case "epoch":
			b.Epoch = h.number()
		case "model":
			b.Model = h.text()
		case "through_seq":
			b.Through = h.number()
		case "prefix":
			b.Prefix = h.digest()
		case "max_tokens":
			b.MaxTokens = h.number()
		case "estimate":
			b.Estimate = h.number()
		default:
			h.fail()
		}
	}
}

func (b *ModelResponded) quick(h *head) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "act":
			b.Act = h.text()
		case "response":
			b.Response = h.text()
		case "model":
			b.Model = h.text()
		case "provider":
			b.Provider = h.text()
		case "stop":
			b.Stop = modelapi.StopReason(h.text())
		case "usage":
			quickUsage(h, &b.Usage)
		case "cost":
			if b.Cost = nil; !h.word("null") {
				n := h.number()
				b.Cost = &n
			}
		case "blocks":
			b.Blocks = quickBlocks(h, b.Blocks)
		default:
			h.fail()
		}
	}
}

func quickUsage(h *head, u *model.Usage) {
	for k := h.open(); k != nil; k = h.next() {
		switch string(k) {
		case "input_tokens":
			u.Input = h.number()
		case "output_tokens":
			u.Output = h.number()
		case "cache_read_tokens":
			u.CacheRead = h.number()
		case "cache_write_tokens":
			u.CacheWrite = h.number()
		case "lost_input_tokens":
			u.LostInput = h.number()
		default:
			h.fail()
		}
	}
}

func quickBlocks(h *head, before []SealedBlock) []SealedBlock {
	if before != nil {
		h.fail()
	}
	out := []SealedBlock{}
	for ok := h.list(); ok; ok = h.more() {
		var bl SealedBlock
		for k := h.open(); k != nil; k = h.next() {
			switch string(k) {
			case "type":
				bl.Type = model.BlockType(h.text())
			case "id":
				bl.ID = h.text()
			case "name":
				bl.Name = h.text()
			case "text":
				bl.Text = h.boolean()
			default:
				h.fail()
			}
		}
		out = append(out, bl)
	}
	return out
}
