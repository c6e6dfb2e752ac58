package attack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// noEscapes fails for everything in a text that a terminal could take for more than words.
func noEscapes(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r == unicode.ReplacementChar && !strings.HasPrefix(text[i:], "\ufffd") {
			t.Errorf("%s: broken UTF-8 %q", what, text[max(0, i-40):min(len(text), i+20)])
			return
		}
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("%s: %U in %q", what, r, text[max(0, i-40):min(len(text), i+20)])
			return
		}
	}
}

const evil = "a\x1b]52;c;ZXZpbA==\x07b\x1b[31mc\u009b31md\x1b]8;;http://evil\x1b\\e\u202ef\x9b31mg\rh\x00i"

// Nothing that a model, a command, a file's name or a session's name holds gets through to the terminal.
func TestTerminalEscapes(t *testing.T) {
	w := newWorld(t)
	valid := strings.ToValidUTF8(evil, "")
	dir := filepath.Join(w.work, strings.ReplaceAll(strings.ReplaceAll(evil, "/", ""), "\x00", ""))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(dir, "f"), "found "+evil)
	quoted, err := json.Marshal(valid)
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.work, ".perdure", "config.toml"), "model = "+string(quoted)+"\n[permissions]\nallow = [\"Bash(ls)\"]\n")
	m := w.model(
		step{Text: valid, Tools: []call{
			bash("printf '%s' " + "$'" + `\x1b]52;c;ZXZpbA==\x07\x1b[31m\x9b31m` + "'; exit 3"),
			{"Grep", map[string]any{"pattern": "found", "output_mode": "content"}},
			{"Glob", map[string]any{"pattern": "**"}},
			{"Tool" + valid, map[string]any{"k" + valid: valid}},
			{"Read", map[string]any{"file_path": valid}},
			{"TodoWrite", map[string]any{"todos": []any{map[string]any{"content": valid, "status": "pending", "activeForm": valid}}}},
			background("true " + valid + "; sleep 300"),
			background("sleep 300 # " + "\\033[31m"),
		}},
		step{Text: "x" + valid, Tools: []call{{"AskUser", map[string]any{"question": valid, "options": []string{valid, "two"}}}}},
		step{Tools: []call{bash("touch '" + strings.NewReplacer("\x00", "", "\u202e", "", "\u009b", "").Replace(valid) + "'"), {"Write", map[string]any{"file_path": w.work + "/x" + strings.ReplaceAll(valid, "\x00", ""), "content": valid}}}},
	)
	runs := [][]string{
		append(append([]string{"-p", "--session-id", "s", "--allowed-tools", "Bash(sleep:*),Bash(printf:*),Bash(true:*)"}, m...), "hello "+strings.ReplaceAll(evil, "\x00", "")),
		{"approvals", "list"},
		{"approvals", "deny", "s"},
		{"approvals", "deny", "s"},
		{"approvals", "list", "s" + strings.ReplaceAll(evil, "\x00", "")},
		{"-p", "-r", "s"},
		{"-p", "-r", "s"},
		{"answer", "s", strings.ReplaceAll(evil, "\x00", "")},
		{"-p", "-r", "s"},
		{"approvals", "list"},
		{"inbox"},
		{"board"},
		{"approvals", "allow", "s", "--scope", "project"},
		{"permissions", "forget", strings.ReplaceAll(evil, "\x00", "")},
		{"rename", "s", strings.ReplaceAll(evil, "\x00", "")},
		{"fork", "s", "--name", strings.ReplaceAll(evil, "\x00", "")},
		{"list"},
		{"inbox"},
		{"board"},
		{"export", "s", "--format", "md"},
		{"export", "s", "-o", "s.perdure"},
		{"import", "s.perdure"},
		{"export", "s", "--format", "html"},
		{"config"},
		{"config", "get", strings.ReplaceAll(evil, "\x00", "")},
		{"config", "set", "model", strings.ReplaceAll(evil, "\x00", "")},
		{"trust"},
		{"trust", "--list"},
		{"attach", strings.ReplaceAll(evil, "\x00", "")},
		{"start", "-r", strings.ReplaceAll(evil, "\x00", "")},
		{"show", "s"},
		{"show", "s", "--messages"},
		{"log", "s"},
		{"task", "list", "s"},
		{"usage"},
		{"usage", "s"},
		{"verify", "s"},
		{"permissions", "list", "s"},
		{"doctor"},
		{"-p", "-r"},
		{"show", strings.ReplaceAll(evil, "\x00", "")},
		{strings.ReplaceAll(evil, "\x00", "")},
		{"--" + strings.ReplaceAll(evil, "\x00", "")},
		{"task", strings.ReplaceAll(evil, "\x00", "")},
		{"-p", "--model", strings.ReplaceAll(evil, "\x00", ""), "x"},
		{"-p", "--allowed-tools", strings.ReplaceAll(evil, "\x00", ""), "x"},
		{"-p", "--permission-mode", strings.ReplaceAll(evil, "\x00", ""), "x"},
		{"-p", "--session-id", strings.ReplaceAll(evil, "\x00", ""), "x"},
		{"log", "s", "--from", strings.ReplaceAll(evil, "\x00", "")},
		{"task", "output", "s", strings.ReplaceAll(evil, "\x00", "")},
		{"list", "--label", strings.ReplaceAll(evil, "\x00", "")},
		{"list", "--lifecycle", strings.ReplaceAll(evil, "\x00", "")},
		{"task", "kill", "s", "bash_1"},
		{"task", "kill", "s", "bash_2"},
		{"-p", "-r", "s"},
		{"-p", "-c", "more"},
	}
	for _, args := range runs {
		o := w.perdure(args...)
		noEscapes(t, strings.ToValidUTF8(strings.Join(args, " "), "?")+" stdout", o.out)
		noEscapes(t, strings.ToValidUTF8(strings.Join(args, " "), "?")+" stderr", o.stderr)
	}
	for _, args := range [][]string{{"show", "s", "--json", "--messages"}, {"log", "s", "--json"}, {"list", "--json"}, {"task", "list", "s", "--json"}, {"inbox", "--json"}, {"board", "--json"}, {"config", "--json"}, {"export", "s", "--format", "jsonl"}, {"trust", "--list", "--json"}} {
		o := w.want(0, args...)
		for _, r := range o.out {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q: %U is not escaped", args, r)
				break
			}
		}
	}
	w.verify("s")
}
