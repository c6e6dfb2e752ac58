package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const keepsArtifacts = `{"turns":[{"match":"first","steps":[
	{"tools":[{"name":"Bash","input":{"command":"printf 'a\\0b' > build.bin"}}]},
	{"tools":[{"name":"Artifact","input":{"file_path":"build.bin","description":"the build"}},
		{"name":"Artifact","input":{"text":"all is well\n","name":"report.md"}},
		{"name":"Artifact","input":{"file_path":"secret/key"}},
		{"name":"Artifact","input":{"file_path":"link"}}]},
	{"tools":[{"name":"Bash","input":{"command":"rm -r build.bin"}}]},{"text":"done"}]}]}`

// What a model keeps is with the session whatever becomes of the directory: in its list, in show, and in a bundle that
// another home reads; what the rules keep from being read is not kept, also by way of a link.
func TestModelKeepsArtifacts(t *testing.T) {
	p := newProject(t)
	if err := os.Mkdir(filepath.Join(p.dir, "secret"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("secret/key", "KEY")
	if err := os.Symlink("secret/key", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	m := p.Scripted(keepsArtifacts)
	p.OK("-p", "--session-id", "s", "--allowedTools", "Bash", "--disallowedTools", "Read(secret/**)", "--model", m, "first")
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	list := p.OK("artifact", "list", "s")
	if !strings.Contains(list, "build.bin") || !strings.Contains(list, "the build") || !strings.Contains(list, "report.md") || strings.Contains(list, "key") || strings.Contains(list, "link") {
		t.Errorf("%s", list)
	}
	if got := p.OK("artifact", "get", "s", "build.bin", "-o", "-"); got != "a\x00b" {
		t.Errorf("build.bin: %q", got)
	}
	if got := p.OK("artifact", "get", "s", "report.md", "-o", "-"); got != "all is well\n" {
		t.Errorf("report.md: %q", got)
	}
	if out := p.OK("show", "s"); !strings.Contains(out, "2 artifacts") {
		t.Errorf("show: %s", out)
	}
	all, _ := p.told("s")
	if len(all.Artifacts) != 2 || all.Artifacts[0].Name != "build.bin" || all.Artifacts[0].Act != "t1.s2.b1.a1" {
		t.Errorf("show --files: %+v", all.Artifacts)
	}
	p.OK("verify", "s")
	p.OK("du", "--sweep")
	bundle := filepath.Join(p.Dir, "s.perdure")
	p.OK("export", "s", "-o", bundle)
	other := p.InHome(filepath.Join(p.Dir, "other"))
	other.OK("import", bundle)
	if got := other.OK("artifact", "get", "s", "build.bin", "-o", "-"); got != "a\x00b" {
		t.Errorf("imported: %q", got)
	}
}

// Where files are not kept, and to sessions that were begun before, the model is not told of Artifact.
func TestArtifactIsNotOfferedWhereNothingIsKept(t *testing.T) {
	p := newProject(t)
	m := p.Scripted(`{"turns":[{"match":"first","steps":[{"text":"done"}]}]}`)
	p.OK("-p", "--session-id", "s", "--model", m, "first")
	tools := func(id string) string { return p.OK("show", id, "--json") }
	if !strings.Contains(tools("s"), `"name":"Artifact"`) {
		t.Error("a session whose files are kept is not told of it")
	}
	p.Configure("[files]\ncapture = false\n")
	p.OK("-p", "--session-id", "off", "--model", m, "first")
	if strings.Contains(tools("off"), `"name":"Artifact"`) {
		t.Error("a session whose files are not kept is told of it")
	}
}
