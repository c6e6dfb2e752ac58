package tools

import (
	"context"
	_ "embed"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

//go:embed note.md
var noteDescription string

// maxNote bounds a note's text and its reason, in bytes each.
const maxNote = 2000

// note keeps a fact of the session's durable tier.
type note struct{}

func (note) Spec() Spec {
	return Spec{
		Name: "Note", Description: strings.TrimSpace(noteDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{` +
			`"kind":{"type":"string","enum":["finding","decision","failed","constraint"]},` +
			`"text":{"type":"string","description":"The statement"},` +
			`"reason":{"type":"string","description":"Why it is so; needed for decision and failed"}},` +
			`"required":["kind","text"]}`,
	}
}

// Run gives the fact as an event.
func (note) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	in.required("kind")
	kind := in.choice("kind", "finding", "decision", "failed", "constraint", "failed_approach")
	text, reason := strings.TrimSpace(in.nonEmpty("text")), strings.TrimSpace(in.text("reason"))
	if (kind == "failed" || kind == "failed_approach" || kind == "decision") && reason == "" {
		in.problem("a %s needs its \"reason\"", kind)
	}
	if n := max(len(text), len(reason)); n > maxNote {
		in.problem("a text has %d bytes, at most %d are allowed", n, maxNote)
	}
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	if kind == "failed" {
		kind = "failed_approach"
	}
	fact := session.Fact{Kind: kind, Text: text, Reason: reason, Provenance: "model"}
	for _, f := range env.State.Facts {
		if f.Kind == kind && strings.EqualFold(f.Text, text) && f.Reason == reason {
			return success("It is noted already."), nil
		}
	}
	if !env.State.FactFits() {
		return failure("The session holds as many notes as it can."), nil
	}
	if outside, err := env.fromOutside(ctx, []string{text, reason}); err != nil {
		return Result{}, err
	} else if outside {
		fact.Provenance = "tool"
	}
	r := success("Noted.")
	r.Events = []session.Body{&session.FactAdded{Fact: fact}}
	return r, nil
}
