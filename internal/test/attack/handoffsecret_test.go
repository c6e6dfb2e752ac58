package attack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model that repeats a secret in the words for the next session, or in its last reply, neither hands it on nor keeps the
// handoff from being laid down: no file outside of the log's database holds it, and the next session reads the rest.
func TestAHandoffHidesSecretsAndIsLaidDown(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, summary := range map[string]string{
		"words of the model": "## Goal\nThe goal with " + secret + "\n\n## Done\n- used " + secret + "\n\n## Failed Approaches\n- tried " + secret + "\n\n## Next Step\nGo on.\n",
		"without words":      "",
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			w := newWorld(t)
			w.env = append(w.env, "MY_TOKEN="+secret)
			w.write(filepath.Join(w.user, ".config/perdure/config.toml"), "secrets = [\"MY_TOKEN\"]\n[knowledge]\nproject = \"on\"\nmin_session = \"0s\"\n")
			project := filepath.Join(w.user, "project")
			if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			script := map[string]any{"turns": []any{map[string]any{"steps": []step{{Text: "I found that " + secret + " works."}}}}}
			if summary != "" {
				script["summary"] = map[string]any{"text": summary}
			}
			b, err := json.Marshal(script)
			if err != nil {
				t.Fatal(err)
			}
			model := []string{"--model", "scripted/" + w.write(filepath.Join(w.root, "script.json"), string(b))}
			cmd := w.command(run1("s", model)...)
			cmd.Dir = project
			if o := w.finish(cmd); o.code != 0 {
				t.Fatal(o)
			}
			if _, err := os.Stat(filepath.Join(project, ".agent/HANDOFF.md")); err != nil {
				t.Errorf("no handoff lies in the project: %v", err)
			}
			if found := w.search(project, secret); len(found) > 0 {
				t.Errorf("the secret is in %q", found)
			}
			next := w.command(run1("n", w.model())...)
			next.Dir = project
			if o := w.finish(next); o.code != 0 {
				t.Fatal(o)
			}
			if log := w.want(0, "log", "n", "--json").out; !given(log, "[secret:MY_TOKEN]") || given(log, secret) {
				t.Errorf("the next session is told: %.3000s", log)
			}
		})
	}
}
