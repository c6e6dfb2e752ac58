package command

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// EnvDelta is how a session's environment differs from the one it was opened in: a value sets the variable, nil
// removes it. A value is bytes: its JSON is a string, or {"bytes": base64} where a string could not hold it.
type EnvDelta map[string]*string

type rawValue struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON keeps every byte of a value.
func (d EnvDelta) MarshalJSON() ([]byte, error) {
	plain := true
	for _, v := range d {
		plain = plain && (v == nil || utf8.ValidString(*v))
	}
	if plain {
		return json.Marshal(map[string]*string(d))
	}
	out := make(map[string]any, len(d))
	for k, v := range d {
		switch {
		case v == nil:
			out[k] = nil
		case utf8.ValidString(*v):
			out[k] = *v
		default:
			out[k] = rawValue{Bytes: []byte(*v)}
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *EnvDelta) UnmarshalJSON(b []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in == nil {
		*d = nil
		return nil
	}
	out := make(EnvDelta, len(in))
	for k, raw := range in {
		v, err := envValue(raw)
		if err != nil {
			return fmt.Errorf("variable %q: %w", k, err)
		}
		out[k] = v
	}
	*d = out
	return nil
}

func envValue(raw json.RawMessage) (*string, error) {
	if len(raw) > 0 && raw[0] == '{' {
		var v rawValue
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		s := string(v.Bytes)
		return &s, nil
	}
	var s *string
	return s, json.Unmarshal(raw, &s)
}
