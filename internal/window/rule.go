package window

import (
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// byRule makes a summary without a model: what an earlier summary said, and the agent's own words of the steps that are
// left out, the newest as many as fit.
func byRule(t *session.Transcript, old []model.Message, b budget) string {
	var before string
	for _, p := range t.Kept() {
		if p.Name == PartSummary {
			before = inside(string(p.Text), PartSummary)
		}
	}
	room := b.summary
	if before != "" {
		before = session.CutMiddle(before, int(room/2))
		room -= int64(len(before))
	}
	var words []string
	for _, m := range slices.Backward(old) {
		if m.Role != model.RoleAssistant {
			continue
		}
		text := said(m)
		if room -= int64(len(text)); room < 0 {
			break
		}
		if text != "" {
			words = append(words, "- "+text)
		}
	}
	slices.Reverse(words)
	if len(words) > 0 {
		words = append([]string{"What the agent said in the steps that are left out:"}, words...)
	}
	if before != "" {
		words = append([]string{before}, words...)
	}
	return strings.Join(words, "\n")
}

// said is what a reply says in words, in one line.
func said(m model.Message) string {
	var out []string
	for _, bl := range m.Blocks {
		if bl.Type == model.BlockText {
			out = append(out, bl.Text)
		}
	}
	return oneLine(strings.Join(out, " "), 600)
}

// inside is the text of an element.
func inside(text, name string) string {
	text = strings.TrimPrefix(text, "<"+name+">\n")
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n</"+name+">"), "<\\/", "</")
}

// actsText lists the tool calls that are left out, with their outcome, the newest as many as fit: what was done is not to
// be done again.
func actsText(t *session.Transcript, old []model.Message, room int64) string {
	failed := map[string]bool{}
	var lines []string
	for _, m := range slices.Backward(old) {
		for _, bl := range slices.Backward(m.Blocks) {
			switch {
			case bl.Result != nil:
				failed[bl.Result.ID] = bl.Result.IsError
			case bl.Tool != nil:
				how := "ok"
				if isError, answered := failed[bl.Tool.ID]; !answered {
					how = "no result"
				} else if isError {
					how = "failed"
				}
				lines = append(lines, "- "+how+": "+bl.Tool.Name+" "+oneLine(session.About(bl.Tool.Input), 160))
				delete(failed, bl.Tool.ID) // ids may come again
			}
		}
	}
	for _, p := range t.Kept() {
		if p.Name != PartActs {
			continue
		}
		before := strings.Split(inside(string(p.Text), PartActs), "\n")
		for _, l := range before {
			if strings.HasPrefix(l, "- ") {
				lines = append(lines, l)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "Calls that were made before, the newest first; what is ok is done:\n" + fitting(lines, room, "calls")
}
