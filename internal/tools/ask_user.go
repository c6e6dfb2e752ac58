package tools

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

//go:embed ask_user.md
var askUserDescription string

// Bounds of a question.
const (
	maxQuestion = 8000 // bytes
	maxOptions  = 20
	maxOption   = 500 // bytes
)

// askUser asks the human, and waits as long as it takes.
type askUser struct{}

func (askUser) Spec() Spec {
	return Spec{
		Name: "AskUser", Description: strings.TrimSpace(askUserDescription), Effect: session.EffectQuestion,
		Schema: `{"type":"object","properties":{` +
			`"question":{"type":"string","description":"The question, complete in itself"},` +
			`"options":{"type":"array","items":{"type":"string"},"description":"Answers to choose from; the user may also answer freely"}},` +
			`"required":["question"]}`,
	}
}

// Question reads the input.
func (askUser) Question(c Call) (*session.Question, *Result) {
	in := parse(c)
	q := &session.Question{Question: in.nonEmpty("question"), Options: in.options("options")}
	if len(q.Question) > maxQuestion {
		in.problem("\"question\" has %d bytes, at most %d are allowed", len(q.Question), maxQuestion)
	}
	if r := in.refusal(); r != nil {
		return nil, r
	}
	return q, nil
}

// options reads a list of answers: strings, or objects with a label.
func (in *input) options(name string) []string {
	v, ok := in.raw(name)
	if !ok {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(v, &items) != nil {
		return in.texts(name)
	}
	if len(items) > maxOptions {
		in.problem("%q has %d entries, at most %d are allowed", name, len(items), maxOptions)
		return nil
	}
	var list []string
	for _, item := range items {
		var text string
		var labelled struct {
			Label string `json:"label"`
		}
		if json.Unmarshal(item, &text) != nil {
			if json.Unmarshal(item, &labelled) != nil || labelled.Label == "" {
				in.problem("each of %q must be a string, got %s", name, kindOf(item))
				return nil
			}
			text = labelled.Label
		}
		if text == "" || len(text) > maxOption {
			in.problem("each of %q must have 1 to %d bytes, got %d", name, maxOption, len(text))
			return nil
		}
		list = append(list, text)
	}
	return list
}
