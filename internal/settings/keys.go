package settings

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Key is a setting that files may have.
type Key struct {
	Name    string `json:"key"`     // as in limits.cpu; of a table by models prices.PROVIDER/MODEL.input
	About   string `json:"about"`   // what it says
	Default string `json:"default"` // in words
	Flag    string `json:"flag,omitempty"`
	Project string `json:"project"` // what a project's file may do with it: see ProjectNarrows and the others
}

// What a project's file may do with a setting.
const (
	ProjectNarrows = "narrows" // what is tighter holds
	ProjectTrusted = "trusted" // it holds once a person trusts the file, and the user's own says nothing
	ProjectIgnored = "ignored"
)

// Any stands in the name of a key for the model that it is about.
const Any = "PROVIDER/MODEL"

// Keys are all settings, in the order in which they are shown.
func Keys() []Key { return slices.Clone(keys[:]) }

var keys = [...]Key{
	{"model", "the model of new sessions, PROVIDER/MODEL", "by the environment, else a local Ollama", "--model", ProjectTrusted},
	{"permission_mode", "default, acceptEdits or plan", "default", "--permission-mode", ProjectTrusted},
	{"max_turns", "steps (model calls) of a turn", "no limit", "--max-turns", ProjectNarrows},
	{"max_budget_usd", "US dollars that a session may spend", "no limit", "--max-budget-usd", ProjectNarrows},
	{"retry_for", "how long a model that cannot be reached is waited for", "24h", "--retry-for", ProjectNarrows},
	{"secrets", "environment variables whose values are replaced by their names", "what looks like a credential", "", ProjectNarrows},
	{"protect", "paths whose change always asks", "startup files, .git and the like", "", ProjectNarrows},
	{"context.compact_at", "the part of the window at which the conversation is compacted", "0.8", "--compact-at", ProjectTrusted},
	{"context.compact", "false: only when somebody asks", "true", "--no-compact", ProjectTrusted},
	{"context.instructions", "whether AGENTS.md, or CLAUDE.md, is read", "true", "", ProjectTrusted},
	{"knowledge.project", "whether memory and handoffs lie in the project: on, off or ask", "off", "", ProjectIgnored},
	{"knowledge.min_session", "how long a session works before it leaves a handoff", "15m", "", ProjectIgnored},
	{"knowledge.handoff", "what a new session does with one: continue, ask or ignore", "continue", "--handoff", ProjectIgnored},
	{"knowledge.commit", "whether the project's knowledge is committed when a session leaves it", "false", "", ProjectIgnored},
	{"limits.cpu", "processor time of each process of a command", "no limit", "", ProjectNarrows},
	{"limits.memory", "memory of each process of a command", "no limit", "", ProjectNarrows},
	{"limits.files", "open files of each process of a command", "no limit", "", ProjectNarrows},
	{"limits.wall", "time of each command", "no limit", "", ProjectNarrows},
	{"files.capture", "the files of sessions are kept, so that changes can be undone", "true", "", ProjectIgnored},
	{"files.keep", "names of directories that are kept although they could be made again", "none", "", ProjectIgnored},
	{"files.max_file_mb", "a larger file is not kept", "100", "", ProjectIgnored},
	{"files.max_mb", "a directory with more is not kept", "2048", "", ProjectIgnored},
	{"files.max_files", "a directory with more files is not kept", "200000", "", ProjectIgnored},
	{"files.quota_mb", "room for all that is kept", "20480", "", ProjectIgnored},
	{"files.session_quota_mb", "room for what one session holds alone", "as much as for all", "", ProjectIgnored},
	{"ui.title", "the terminal's title follows the session", "true", "", ProjectIgnored},
	{"ui.bell", "the terminal rings when the session waits, or is done, and nobody looks", "true", "", ProjectIgnored},
	{"ui.notify", "the desktop shows a notification then", "true", "", ProjectIgnored},
	{"ui.status", "terminals that show a program's status are told it", "true", "", ProjectIgnored},
	{"ui.rewind", "esc twice, with nothing written, opens the turns to go back to", "true", "", ProjectIgnored},
	{"ui.titles", "the model is asked for a title when the first turn has ended and nobody has given one", "true", "", ProjectIgnored},
	{"ui.tmux_passthrough", "tmux hands notifications and status on to the terminal around it", "false", "", ProjectIgnored},
	{"permissions.allow", "rules of calls that run unasked", "reading", "--allowed-tools", ProjectTrusted},
	{"permissions.ask", "rules of calls that always ask", "none", "", ProjectNarrows},
	{"permissions.deny", "rules of calls that never run", "none", "--disallowed-tools", ProjectNarrows},
	{"prices." + Any + ".input", "US dollars for a million tokens", "what is known of the model", "", ProjectIgnored},
	{"prices." + Any + ".output", "US dollars for a million tokens", "what is known of the model", "", ProjectIgnored},
	{"prices." + Any + ".cache_read", "US dollars for a million tokens", "as input", "", ProjectIgnored},
	{"prices." + Any + ".cache_write", "US dollars for a million tokens", "as input", "", ProjectIgnored},
	{"windows." + Any, "tokens of the model's context window", "what is known of the model", "", ProjectTrusted},
}

// names are what a file may say, tables included: where a slip is looked up.
var names = sync.OnceValue(func() []string {
	var out []string
	for _, k := range keys {
		name, _, _ := strings.Cut(k.Name, "."+Any)
		if table, _, ok := strings.Cut(name, "."); ok && !slices.Contains(out, table) {
			out = append(out, table)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
})

// FindKey gives the setting of a name, as in windows.openai/my-model, with its type; ok is false if there is none.
func FindKey(name string) (k Key, kind reflect.Type, ok bool) {
	general, _ := generalName(name)
	for _, k := range keys {
		if k.Name == general {
			return k, types()[general], true
		}
	}
	return Key{}, nil, false
}

// generalName puts Any in the place of the model in a name, and gives that model.
func generalName(name string) (general, about string) {
	table, rest, _ := strings.Cut(name, ".")
	switch table {
	case "windows":
		if rest != "" {
			return "windows." + Any, rest
		}
	case "prices":
		if i := strings.LastIndexByte(rest, '.'); i > 0 {
			return "prices." + Any + rest[i:], rest[:i]
		}
	}
	return name, ""
}

// types are those of all fields of Settings, by the names of their keys.
var types = sync.OnceValue(func() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	fields(reflect.TypeFor[Settings](), "", func(name string, t reflect.Type) { out[name] = t })
	return out
})

// fields walks the leaves of a struct of settings.
func fields(t reflect.Type, prefix string, do func(name string, t reflect.Type)) {
	switch {
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			fields(t.Field(i).Type, prefix+"."+t.Field(i).Tag.Get("toml"), do)
		}
	case t.Kind() == reflect.Map:
		fields(t.Elem(), prefix+"."+Any, do)
	default:
		do(strings.TrimPrefix(prefix, "."), t)
	}
}

// said are the settings that a file has, by name.
func said(s Settings) map[string]any {
	out := map[string]any{}
	values(reflect.ValueOf(s), "", out)
	return out
}

func values(v reflect.Value, prefix string, out map[string]any) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			values(v.Field(i), prefix+"."+v.Type().Field(i).Tag.Get("toml"), out)
		}
		return
	case reflect.Map:
		for _, key := range v.MapKeys() {
			values(v.MapIndex(key), prefix+"."+key.String(), out)
		}
		return
	case reflect.Pointer:
		if !v.IsNil() {
			out[strings.TrimPrefix(prefix, ".")] = v.Elem().Interface()
		}
		return
	}
	if !v.IsZero() {
		out[strings.TrimPrefix(prefix, ".")] = v.Interface()
	}
}
