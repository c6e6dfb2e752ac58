package demo

import "encoding/json"

// The scripted model's side of the story. Its prompts and commands are ours to show; nothing of their outcome is.
const (
	prompt    = "Write a greeting function with a test, start the dev server, run the checks and fix what they find."
	checks    = "bash checks.sh"
	quickTest = "bash test.sh"
	serve     = "exec ./devserver demo-server ."
)

// Files that the scripted model writes.
const (
	greetSource = "greet() { echo \"Hello $1\"; }\n"
	testSource  = `. ./greet.sh
sleep 0.5
[ "$(greet Ada)" != "" ] && echo "test: ok"
`
	checksSource = `. ./greet.sh
echo "$(date +%T) checks begin" >> runs.log
for i in 1 2 3 4; do echo "check $i/4"; sleep 0.8; done
[ "$(greet Ada)" = "Hello, Ada!" ] || { echo "greeting lacks its punctuation: $(greet Ada)"; exit 3; }
echo "all checks passed"
`
)

type call struct {
	Name  string `json:"name"`
	Input any    `json:"input"`
}

type step struct {
	Text  string `json:"text,omitempty"`
	Tools []call `json:"tools,omitempty"`
}

type object = map[string]any

// script renders the model's side.
func script() ([]byte, error) {
	bash := func(command string) call { return call{"Bash", object{"command": command}} }
	todo := func(states ...string) call {
		names := []string{"write the function and its test", "start the dev server", "run the checks", "fix what they find"}
		var todos []object
		for i, n := range names {
			todos = append(todos, object{"content": n, "activeForm": n, "status": states[i]})
		}
		return call{"TodoWrite", object{"todos": todos}}
	}
	steps := []step{
		{Text: "I write the function, its test and the checks.", Tools: []call{
			todo("in_progress", "pending", "pending", "pending"),
			{"Write", object{"file_path": "greet.sh", "content": greetSource}},
			{"Write", object{"file_path": "test.sh", "content": testSource}},
			{"Write", object{"file_path": "checks.sh", "content": checksSource}},
		}},
		{Text: "I start the dev server in the background and run the test.", Tools: []call{
			{"Bash", object{"command": serve, "run_in_background": true}},
			bash(quickTest),
		}},
		{Tools: []call{{"BashOutput", object{"bash_id": "bash_1"}}, todo("completed", "completed", "in_progress", "pending"), bash(checks)}},
		{Text: "The greeting lacks its punctuation. I fix it and run the checks again.", Tools: []call{
			{"Edit", object{"file_path": "greet.sh", "old_string": "Hello $1", "new_string": "Hello, $1!"}},
			bash(checks),
			{"BashOutput", object{"bash_id": "bash_1"}},
			todo("completed", "completed", "completed", "completed"),
		}},
		{Text: "The checks found a missing comma and exclamation mark; they pass now. The dev server still runs as bash_1."},
	}
	return json.MarshalIndent(object{"turns": []object{{"steps": steps}}}, "", " ")
}
