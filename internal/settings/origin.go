package settings

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Value is what a file says of a setting.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"` // user or project
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"` // from 1; 0 is unknown
	Holds  bool   `json:"holds"`
	Why    string `json:"why,omitempty"` // it does not hold, or only beside others
}

// The sources of a value.
const (
	FromUser    = "user"
	FromProject = "project"
)

// Origins are what the files say that Load would read, the user's first and then the nearest, by the order of Keys; each
// tells whether it holds. Errors are those of Load.
func Origins(userFile, projectDir string) ([]Value, error) {
	user, err := read(userFile)
	if err != nil {
		return nil, err
	}
	out := user.origins(FromUser)
	for i := range out {
		out[i].Holds = true
	}
	if projectDir != "" {
		if real, err := filepath.EvalSymlinks(projectDir); err == nil {
			projectDir = real
		}
		trust := readTrust(userFile)
		for _, file := range projectFiles(projectDir) {
			p, _, err := readProject(file)
			if err != nil {
				return nil, err
			}
			trusted := trust.trusts(file, p.text) == trustGiven
			for _, v := range p.origins(FromProject) {
				out = append(out, v.judged(trusted, out))
			}
		}
	}
	settle(out)
	slices.SortStableFunc(out, func(a, b Value) int {
		return cmp.Or(cmp.Compare(order(a.Key), order(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	return out, nil
}

func order(key string) int {
	general, _ := generalName(key)
	return slices.IndexFunc(keys[:], func(k Key) bool { return k.Name == general })
}

func (s *source) origins(from string) (out []Value) {
	for key, value := range said(s.Settings) {
		v := Value{Key: key, Value: value, Source: from, File: s.file}
		if at, ok := findKey(s.text, key); ok {
			v.Line = 1 + countLines(s.text[:at.key])
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b Value) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// judged says whether a project's value holds, beside those that were said before it.
func (v Value) judged(trusted bool, before []Value) Value {
	k, _, _ := FindKey(v.Key)
	set := slices.ContainsFunc(before, func(o Value) bool { return o.Key == v.Key && o.Source == FromUser && o.Holds })
	switch {
	case k.Project == ProjectNarrows:
		v.Holds = true
	case k.Project == ProjectIgnored:
		v.Why = "a project may not set it"
	case !trusted:
		v.Why = "the project is not trusted"
	case v.Key == "permissions.allow":
		v.Holds = true
	case v.Value == "bypassPermissions":
		v.Why = "only a flag sets that mode"
	case set:
		v.Why = "your own file says it"
	case slices.ContainsFunc(before, func(o Value) bool { return o.Key == v.Key && o.Holds }):
		v.Why = "a nearer file says it"
	default:
		v.Holds = true
	}
	return v
}

// settle leaves of the values of one limit the tightest alone: the others are there in vain.
func settle(all []Value) {
	tightest := map[string]int{}
	for i, v := range all {
		if _, list := v.Value.([]string); list || !v.Holds {
			continue
		}
		best, seen := tightest[v.Key]
		switch {
		case !seen:
			tightest[v.Key] = i
		case size(v) < size(all[best]):
			all[best].Holds, all[best].Why = false, "another file's is tighter"
			tightest[v.Key] = i
		default:
			all[i].Holds, all[i].Why = false, "another file's is tighter"
		}
	}
}

// size is what values of one limit are compared by.
func size(v Value) float64 {
	switch x := v.Value.(type) {
	case int:
		return float64(x)
	case int64:
		return float64(x)
	case float64:
		return x
	case string:
		if d, err := time.ParseDuration(x); err == nil {
			return float64(d)
		}
		var b command.Limits
		if SetLimit(&b, "memory", x) == nil {
			return float64(b.MemoryBytes)
		}
	}
	return 0
}
