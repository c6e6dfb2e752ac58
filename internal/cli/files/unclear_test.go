package files_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a turn changed whose captures failed cannot be told from what the user changed after it: an undo of that turn
// brings back what the session's own edits have made, leaves all else as it is, and says that nobody knows whose it is.
// By force it comes back, too.
func TestAfterACaptureThatFailed(t *testing.T) {
	p := newProject(t)
	p.write("edited.txt", "at first\n")
	p.write("mine.txt", "at first\n")
	p.write("command.txt", "at first\n")
	p.Configure("[files]\nmax_files = 6\n")
	m := p.Scripted(`{"turns":[
		{"match":"first","steps":[
			{"tools":[{"name":"Read","input":{"file_path":"edited.txt"}}]},
			{"tools":[{"name":"Bash","input":{"command":"for i in 1 2 3 4 5 6; do echo $i > n$i; done; echo command > command.txt"}}]},
			{"tools":[{"name":"Write","input":{"file_path":"edited.txt","content":"by the session\n"}}]},
			{"text":"done"}]},
		{"match":"second","steps":[{"tools":[{"name":"Bash","input":{"command":"echo 2 > second.txt"}}]},{"text":"done"}]}]}`)
	p.run(m, "first")
	for i := range 6 {
		if err := os.Remove(filepath.Join(p.dir, "n"+strconv.Itoa(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	p.write("mine.txt", "by the user\n")
	p.run(m, "second")
	p.OK("undo", "s", "--yes")
	o := p.Run("undo", "s", "--yes")
	got := p.files()
	want := map[string]string{"edited.txt": "at first\n", "mine.txt": "by the user\n", "command.txt": "command\n"}
	for name, text := range want {
		if got[name] != "-rw------- "+text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) || o.Code != 0 {
		t.Errorf("%v\n%+v", got, o)
	}
	if !strings.Contains(o.Stdout, "= command.txt stays: it was changed since the files were captured last, by whom is not known") || strings.Contains(o.Stdout, "somebody else") {
		t.Errorf("it says\n%s", o.Stdout)
	}
	p.OK("verify", "s")
}

// What a task wrote between two turns, beside what the user wrote, is nobody's for sure: an undo leaves both, and says so.
func TestWhileATaskRuns(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "at first\n")
	m := p.Scripted(`{"turns":[
		{"match":"first","steps":[
			{"tools":[{"name":"Bash","input":{"command":"echo up > up.txt; while [ ! -e go ]; do sleep 0.05; done; echo task > task.txt; while [ ! -e end ]; do sleep 0.05; done","run_in_background":true}}]},
			{"tools":[{"name":"Bash","input":{"command":"while [ ! -e up.txt ]; do sleep 0.02; done"}}]},
			{"text":"done"}]},
		{"match":"second","steps":[{"tools":[{"name":"Bash","input":{"command":"echo 2 > second.txt"}}]},{"text":"done"}]}]}`)
	p.run(m, "first")
	p.write("go", "")
	for start := time.Now(); p.files()["task.txt"] != "-rw-r--r-- task\n" && time.Since(start) < 30*time.Second; {
		<-time.After(20 * time.Millisecond)
	}
	p.write("a.txt", "by the user\n")
	p.run(m, "second")
	p.OK("undo", "s", "--yes")
	o := p.Run("undo", "s", "--yes")
	got := p.files()
	if got["a.txt"] != "-rw------- by the user\n" || got["task.txt"] != "-rw-r--r-- task\n" || got["second.txt"] != "" {
		t.Errorf("%v\n%+v", got, o)
	}
	if !strings.Contains(o.Stdout, "= task.txt stays: it was changed since the files were captured last, by whom is not known") {
		t.Errorf("it says\n%s", o.Stdout)
	}
	p.write("end", "")
	p.OK("task", "wait", "s", "bash_1")
}
