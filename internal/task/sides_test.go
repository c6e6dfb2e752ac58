//go:build linux

package task

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// A file has one home: the agent's side, which starts commands and finds them again; the shim's, which keeps one; or what
// both have in common, the directory's formats and the system's processes.
var (
	agentFiles = strings.Fields(`acts adopt attach bootid elsewhere guard guard_linux input inspect inspect_linux kill killmany
		listen_linux prepare program read runner seen shell state survey table wait`)
	shimFiles = strings.Fields(`arrival_linux capture cgroup goingdown limits memory output pace quota shim shiminput
		shimkill stage standby_linux supervise takelock takeover trim_linux tty_linux`)
	commonFiles = strings.Fields(`claim clock copied descriptors dir doc dropped durable endnote errors family find handle_linux
		identity intent keeper os_linux plan record reexec segments standby stat_linux traces unread`)
)

// absent gives packages without content: what lies outside of this one is not looked at.
type absent struct{}

func (absent) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	p.MarkComplete()
	return p, nil
}

// Agent and shim meet in the directory and nowhere else: neither uses what is the other's, and what they have in common
// uses nothing of either.
func TestSidesAreApart(t *testing.T) {
	side := map[string]string{}
	for name, files := range map[string][]string{"agent": agentFiles, "shim": shimFiles, "common": commonFiles} {
		for _, f := range files {
			side[f+".go"] = name
		}
	}
	dir, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	set, parsed := token.NewFileSet(), []*ast.File{}
	for _, name := range dir.GoFiles {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if side[name] == "" {
			t.Errorf("%s has no side", name)
		}
		parsed = append(parsed, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: absent{}, Error: func(error) {}}
	pkg, _ := conf.Check("task", set, parsed, &info)
	uses := 0
	var wrong []string
	for id, of := range info.Uses {
		if of.Pkg() != pkg || !of.Pos().IsValid() {
			continue
		}
		from, to := set.Position(id.Pos()), set.Position(of.Pos()).Filename
		if from.Filename == to {
			continue
		}
		uses++
		if side[to] != "common" && side[to] != side[from.Filename] && from.Filename != "reexec.go" {
			wrong = append(wrong, side[from.Filename]+" "+from.String()+" uses "+of.Name()+" of "+to+", which is the "+side[to]+"'s")
		}
	}
	slices.Sort(wrong)
	for _, w := range wrong {
		t.Error(w)
	}
	if uses < 500 {
		t.Errorf("only %d uses were found", uses)
	}
}
