package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/perdure/perdure/model"
)

// maxProblems bounds how many faults of one input are told.
const maxProblems = 8

// input reads the fields of a call tolerantly: unknown fields are ignored, null is absent, numbers and booleans may
// be written as strings. What cannot be read is collected, so that the model is told every fault at once.
type input struct {
	tool     string
	fields   map[string]json.RawMessage
	problems []string
}

// parse decodes the input of c. It never fails: the faults are in refusal.
func parse(c Call) *input {
	in := &input{tool: c.Name}
	raw := bytes.TrimSpace(c.Input)
	if len(raw) == 0 {
		return in
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&in.fields); err != nil {
		in.fields = nil
		in.problem("the input must be one JSON object: %v", err)
		return in
	}
	if _, err := dec.Token(); err != io.EOF {
		in.problem("the input must be one JSON object, with nothing after it")
	}
	return in
}

func (in *input) problem(format string, args ...any) {
	if len(in.problems) < maxProblems {
		in.problems = append(in.problems, fmt.Sprintf(format, args...))
	}
}

// refusal is the error result for an input with faults, or nil.
func (in *input) refusal() *Result {
	if len(in.problems) == 0 {
		return nil
	}
	name := in.tool
	if name == "" {
		name = "input"
	}
	r := failure("%s: %s", name, strings.Join(in.problems, "; "))
	return &r
}

// raw gives a field's JSON; an absent or null one is not ok.
func (in *input) raw(name string) (json.RawMessage, bool) {
	v, ok := in.fields[name]
	if !ok || string(v) == "null" {
		return nil, false
	}
	return v, true
}

// text reads a string; absent gives the empty string.
func (in *input) text(name string) string {
	v, ok := in.raw(name)
	if !ok {
		return ""
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		in.problem("%q must be a string, got %s", name, kindOf(v))
	}
	return s
}

// required reads a string that must be there. It may be empty; see nonEmpty.
func (in *input) required(name string) string {
	if _, ok := in.raw(name); !ok {
		in.problem("%q is missing; it must be a string", name)
		return ""
	}
	return in.text(name)
}

// nonEmpty reads a string that must be there and hold more than white space.
func (in *input) nonEmpty(name string) string {
	n := len(in.problems)
	s := in.required(name)
	if len(in.problems) == n && strings.TrimSpace(s) == "" {
		in.problem("%q must not be empty", name)
	}
	return s
}

// number reads an integer in lo…hi; absent gives def. Over hi gives hi: a model that asks for more than there is
// gets what there is.
func (in *input) number(name string, def, lo, hi int64) int64 {
	v, ok := in.raw(name)
	if !ok {
		return def
	}
	n, ok := integer(v)
	if !ok {
		in.problem("%q must be a whole number, got %s", name, kindOf(v))
		return def
	}
	if n < lo {
		in.problem("%q must be at least %d, got %d", name, lo, n)
		return def
	}
	return min(n, hi)
}

// flag reads a boolean; absent gives def.
func (in *input) flag(name string, def bool) bool {
	v, ok := in.raw(name)
	if !ok {
		return def
	}
	switch strings.ToLower(strings.Trim(string(v), `"`)) {
	case "true", "1":
		return true
	case "false", "0", "":
		return false
	}
	in.problem("%q must be true or false, got %s", name, kindOf(v))
	return def
}

// texts reads a list of strings; a single string is a list of one.
func (in *input) texts(name string) []string {
	v, ok := in.raw(name)
	if !ok {
		return nil
	}
	var list []string
	if json.Unmarshal(v, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(v, &one) != nil {
		in.problem("%q must be a string or a list of strings, got %s", name, kindOf(v))
		return nil
	}
	return []string{one}
}

// choice reads one of the given words; absent gives the first.
func (in *input) choice(name string, words ...string) string {
	s := in.text(name)
	if s == "" {
		return words[0]
	}
	for _, w := range words {
		if s == w {
			return w
		}
	}
	in.problem("%q must be one of %s, got %q", name, strings.Join(words, ", "), clipText(s, 40))
	return words[0]
}

// integer reads a JSON number or a string with one. Fractions are refused, 1e3 and 3.0 are not.
func integer(v json.RawMessage) (int64, bool) {
	s := strings.TrimSpace(strings.Trim(string(v), `"`))
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.IsInf(f, 0) {
		return 0, false
	}
	const edge = 1 << 53 // beyond it a float64 does not hold every whole number
	return int64(max(-edge, min(edge, f))), true
}

// kindOf names what a JSON value is, for messages.
func kindOf(v json.RawMessage) string {
	switch {
	case len(v) == 0:
		return "nothing"
	case v[0] == '"':
		return "the string " + clipText(string(v), 40)
	case v[0] == '{':
		return "an object"
	case v[0] == '[':
		return "a list"
	case v[0] == 't' || v[0] == 'f':
		return "the boolean " + string(v)
	default:
		return "the number " + clipText(string(v), 40)
	}
}

// success is a result of one text.
func success(format string, args ...any) Result {
	return Result{Content: []model.Part{model.TextPart(fmt.Sprintf(format, args...))}}
}

// failure is an error result of one text.
func failure(format string, args ...any) Result {
	r := success(format, args...)
	r.IsError = true
	return r
}
