package workflow

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// marks are what stands in the box of a checklist, by state.
var marks = map[session.StepStatus]string{
	session.StepPlanned: " ", session.StepExecuting: "~", session.StepDone: "x", session.StepBlocked: "!",
	session.StepFailed: "-", session.StepAwaitingApproval: "?", session.StepWaitingExternal: ">",
}

// markOf reads a box. One that is not known is planned.
func markOf(box string) (session.StepStatus, bool) {
	box = strings.ToLower(strings.TrimSpace(box))
	if box == "" {
		return session.StepPlanned, true
	}
	for status, mark := range marks {
		if box == mark {
			return status, true
		}
	}
	switch box {
	case "*", "✓", "✔", "✅":
		return session.StepDone, true
	case "/", ".":
		return session.StepExecuting, true
	}
	if status, ok := session.ParseStepStatus(box); ok {
		return status, true
	}
	return session.StepPlanned, false
}

var (
	checkLine  = regexp.MustCompile(`^(\s*)(?:[-*+]|\d{1,9}[.)])\s+\[([^\]\[]{0,20})\](?:\s+(.*))?$`)
	numberLine = regexp.MustCompile(`^\s{0,3}\d{1,9}[.)]\s+(.*)$`)
	bulletLine = regexp.MustCompile(`^\s*[-*+]\s+(.*)$`)
	fieldLine  = regexp.MustCompile(`(?i)^\s+(?:[-*+]\s+)?(output|blocker|blocked by|reason|because|active_form)\s*:\s*(.*)$`)
	headLine   = regexp.MustCompile(`^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
)

// ParseMarkdown reads a plan as people write it: the items of checklists, else those of numbered lists; the first heading
// is the task. Bullets below a heading about findings, failed approaches, decisions or constraints are such notes.
// Text that is neither is left out, and so is what stands in a block of code.
func ParseMarkdown(b []byte) (*Document, error) {
	if err := checkText(b); err != nil {
		return nil, err
	}
	p := &planReader{doc: &Document{}}
	fence := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, " \t\r\n")
		if f := fenceOf(line); f != "" && (fence == "" || f == fence) {
			if fence != "" {
				f = ""
			}
			fence = f
			continue
		}
		if fence == "" {
			p.line(line)
		}
	}
	if len(p.doc.Plan) == 0 {
		p.doc.Plan = p.numbered
	}
	p.doc.Status = statusOf(p.doc.Steps())
	return p.doc, nil
}

func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, f := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, f) {
			return f
		}
	}
	return ""
}

// planReader is where the reading of a plan stands.
type planReader struct {
	doc      *Document
	numbered []Step
	notes    *[]Note // of the section, if it is one of notes
	last     *session.Step
}

func (p *planReader) line(line string) {
	if m := headLine.FindStringSubmatch(line); m != nil {
		if p.doc.Task == "" {
			p.doc.Task = m[1]
		}
		p.notes, p.last = p.section(strings.ToLower(m[1])), nil
		return
	}
	if m := fieldLine.FindStringSubmatch(line); m != nil && p.last != nil {
		p.field(strings.ToLower(m[1]), strings.TrimSpace(m[2]))
		return
	}
	if m := checkLine.FindStringSubmatch(line); m != nil {
		status, known := markOf(m[2])
		if !known {
			p.doc.problem("[%s] is no status: taken as planned", clip(m[2]))
		}
		p.step(&p.doc.Plan, m[3], status)
		return
	}
	if m := numberLine.FindStringSubmatch(line); m != nil && p.notes == nil {
		text, status := m[1], session.StepPlanned
		if done := strings.TrimSuffix(strings.TrimPrefix(text, "~~"), "~~"); len(done) == len(text)-4 {
			text, status = done, session.StepDone
		}
		p.step(&p.numbered, text, status)
		return
	}
	if m := bulletLine.FindStringSubmatch(line); m != nil && p.notes != nil && strings.TrimSpace(m[1]) != "" {
		*p.notes = append(*p.notes, Note{Text: strings.TrimSpace(m[1]), asText: true})
	}
}

func (p *planReader) section(head string) *[]Note {
	for _, s := range []struct {
		word  string
		notes *[]Note
	}{{"failed", &p.doc.Failed}, {"do not retry", &p.doc.Failed}, {"finding", &p.doc.Findings}, {"decision", &p.doc.Decisions}, {"constraint", &p.doc.Constraints}} {
		if strings.Contains(head, s.word) {
			return s.notes
		}
	}
	return nil
}

func (p *planReader) step(to *[]Step, text string, status session.StepStatus) {
	p.last = nil
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	*to = append(*to, Step{Step: session.Step{Content: text, Status: status}})
	p.last = &(*to)[len(*to)-1].Step
}

func (p *planReader) field(name, text string) {
	switch name {
	case "output":
		p.last.Output = text
	case "blocker", "blocked by":
		p.last.Blocker = text
	case "active_form":
		p.last.ActiveForm = text
	default:
		p.last.Reason = text
	}
}

const checklistWords = `<!-- One step on each line. In the box: blank planned, ~ in progress, x done, ! blocked, - failed, ? awaits approval,
> waits for something outside. Steps may be added, moved and taken out. Below a step: "  - output: TEXT", blocker, reason. -->
`

// Checklist is a plan for an editor. [ParseMarkdown] reads it.
func Checklist(title string, steps []session.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", oneLine(title), checklistWords)
	for _, s := range steps {
		mark, ok := marks[s.Status]
		if !ok {
			mark = " "
		}
		fmt.Fprintf(&b, "- [%s] %s\n", mark, oneLine(s.Content))
		for _, f := range []struct{ name, text string }{
			{"output", s.Output}, {"blocker", s.Blocker}, {"reason", s.Reason}, {"active_form", s.ActiveForm},
		} {
			if f.text != "" {
				fmt.Fprintf(&b, "  - %s: %s\n", f.name, oneLine(f.text))
			}
		}
	}
	return b.String()
}
