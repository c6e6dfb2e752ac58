package files_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// The moments that a fork has from its session are events of that one's log, and are named so, for people and for programs;
// in a fork of a fork too. What is named can be forked and restored.
func TestMomentsBeforeAForkNameTheirSession(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 > a", "second": "echo 2 > a"}))
	p.run(model, "first")
	p.OK("checkpoint", "s", "one")
	p.OK("fork", "s", "--id", "kid")
	p.prompt(model, "second", "-r", "kid")
	p.OK("fork", "kid", "--id", "grandkid")
	type moment struct {
		Name    string
		Turn    int
		Session string
		Seq     int64
	}
	moments := func(id string) (out []moment) {
		if err := json.Unmarshal([]byte(p.OK("checkpoint", id, "--list", "--json")), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	own, of := moments("s"), moments("grandkid")
	if len(own) != 2 || len(of) != 3 || of[0] != own[0] || of[2] != own[1] || of[1].Session != "kid" || of[1].Seq != moments("kid")[1].Seq || own[0].Session != "s" {
		t.Errorf("s has %+v, its grandchild %+v", own, of)
	}
	list := p.OK("checkpoint", "grandkid", "--list")
	if !strings.Contains(list, "s@") || !strings.Contains(list, "kid@") || strings.Contains(list, " -") {
		t.Errorf("the moments are\n%s", list)
	}
	if o := p.Run("fork", "kid@one"); o.Code == 0 || !strings.Contains(o.Stderr, "fork s@one") {
		t.Errorf("exit %d: %s", o.Code, o.Stderr)
	}
	p.OK("fork", "s@one", "--id", "again")
	if o := p.OK("restore", "grandkid", "one", "--files", "--dry-run"); !strings.Contains(o, "~ a") || strings.Contains(o, ".git") {
		t.Errorf("%s", o)
	}
}
