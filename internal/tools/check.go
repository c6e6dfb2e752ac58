package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/session"
)

// ErrBad says that a tool cannot be offered to a model.
var ErrBad = invalid.New("bad tool")

// maxName bounds a tool's name, in bytes: APIs refuse a longer one.
const maxName = 128

// Check refuses tools that no model could call: a name that APIs refuse or that two of them have, a schema that is no
// JSON object, an unknown effect, and one that implements none of [Runner], [Editor], [Commander] and [Asker].
func Check(tools []Tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		if t == nil {
			return fmt.Errorf("%w: number %d is nil", ErrBad, i)
		}
		s := t.Spec()
		switch {
		case s.Name == "" || len(s.Name) > maxName || strings.Trim(s.Name, nameChars) != "":
			return fmt.Errorf("%w: the name %q: use letters, digits, _ and -, up to %d", ErrBad, s.Name, maxName)
		case seen[s.Name]:
			return fmt.Errorf("%w: two are named %s", ErrBad, s.Name)
		case !effects(s.Effect):
			return fmt.Errorf("%w: %s: unknown effect %q", ErrBad, s.Name, s.Effect)
		case s.Schema != "" && !object(s.Schema):
			return fmt.Errorf("%w: %s: the schema is no JSON object", ErrBad, s.Name)
		case !able(t):
			return fmt.Errorf("%w: %s implements none of Runner, Changer, Commander and Asker", ErrBad, s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func effects(e session.Effect) bool {
	return slices.Contains([]session.Effect{
		session.EffectRead, session.EffectProcess, session.EffectEdit, session.EffectExternal, session.EffectQuestion,
	}, e)
}

func object(schema string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(schema), &o) == nil && o != nil
}

func able(t Tool) bool {
	switch t.(type) {
	case Runner, Editor, Commander, Asker:
		return true
	}
	return false
}
