package perdure_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Bounds of the public API, in exported names: constants, variables, functions, types and methods.
const (
	maxPublic = 400 // of all packages of the module
	maxMet    = 150 // that a program meets: of the packages below, and what these name of others
)

// met are the packages that programs meet; the others are for authors of stores and of model APIs.
var met = map[string]bool{".": true, "tool": true, "model": true}

// publicFiles parses the public packages of the module, by directory.
func publicFiles(t *testing.T) map[string][]*ast.File {
	t.Helper()
	out := map[string][]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); name == "internal" || name == "testdata" || name == "machine" || path == "adapters" || path != "." && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil && f.Name.Name != "main" {
			out[filepath.Dir(path)] = append(out[filepath.Dir(path)], f)
		}
		return err
	})
	if err != nil || len(out["."]) == 0 || len(out["store"]) == 0 {
		t.Fatalf("%d packages, %v", len(out), err)
	}
	return out
}

// receiver names the type of a method; "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	return t.(*ast.Ident).Name
}

// exported lists the exported names of a file, methods as Type.Method.
func exported(f *ast.File) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			switch of := receiver(decl); {
			case of == "":
				add(decl.Name)
			case ast.IsExported(of) && decl.Name.IsExported():
				names = append(names, of+"."+decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id)
					}
				}
			}
		}
	}
	return names
}

// named lists what the exported declarations of a file name of other packages of this module, as in store.Head.
func named(f *ast.File) (names []string) {
	ours := map[string]bool{}
	for _, imp := range f.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		if rest, ok := strings.CutPrefix(path, "github.com/perdure/perdure/"); ok && !strings.HasPrefix(rest, "internal/") {
			ours[filepath.Base(path)] = true
		}
	}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if n, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := n.X.(*ast.Ident); ok && ours[x.Name] {
					names = append(names, x.Name+"."+n.Sel.Name)
				}
			}
			return true
		})
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if of := receiver(decl); decl.Name.IsExported() && (of == "" || ast.IsExported(of)) {
				look(decl.Type)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
					look(spec.Type)
				}
			}
		}
	}
	return names
}

// Goal: the public API stays small.
func TestPublicNamesAreFew(t *testing.T) {
	all, own := 0, map[string]bool{}
	for dir, files := range publicFiles(t) {
		n := 0
		for _, f := range files {
			names := exported(f)
			n += len(names)
			if !met[dir] {
				continue
			}
			for _, name := range names {
				own[f.Name.Name+"."+name] = true
			}
			for _, name := range named(f) {
				own[name] = true
			}
		}
		t.Logf("%-16s %d", dir, n)
		all += n
	}
	t.Logf("%-16s %d", "met", len(own))
	if all > maxPublic || len(own) > maxMet {
		t.Errorf("%d exported names, at most %d are allowed; %d that programs meet, at most %d", all, maxPublic, len(own), maxMet)
	}
	if all < 100 || len(own) < 50 {
		t.Errorf("%d and %d: this finds too little", all, len(own))
	}
}

// Goal: whoever reads a public signature can read the types in it.
func TestPublicSignaturesNamePublicTypes(t *testing.T) {
	checked := 0
	for dir, files := range publicFiles(t) {
		for _, f := range files {
			hidden := map[string]bool{}
			for _, imp := range f.Imports {
				path, _ := strconv.Unquote(imp.Path.Value)
				if strings.Contains(path, "/internal/") {
					hidden[path[strings.LastIndex(path, "/")+1:]] = true
				}
			}
			for name, typ := range signatures(f) {
				checked++
				for _, bad := range namesHidden(typ, hidden) {
					t.Errorf("%s: %s names %s", dir, name, bad)
				}
			}
		}
	}
	planted, err := parser.ParseFile(gotoken.NewFileSet(), "", `package p
		type T struct { X []session.State; y session.State }
		func F(state *session.State) {}
		func g(session.State) {}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, typ := range signatures(planted) {
		found += len(namesHidden(typ, map[string]bool{"session": true}))
	}
	if found != 2 {
		t.Errorf("of what is planted %d are found, not 2", found)
	}
	if checked < 200 {
		t.Errorf("%d signatures: this finds too little", checked)
	}
}

// signatures are the types that a file's exported declarations show, by name.
func signatures(f *ast.File) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if of := receiver(decl); decl.Name.IsExported() && (of == "" || ast.IsExported(of)) {
				out[of+"."+decl.Name.Name] = decl.Type
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						out[spec.Name.Name] = spec.Type
					}
				case *ast.ValueSpec:
					if spec.Type != nil && spec.Names[0].IsExported() {
						out[spec.Names[0].Name] = spec.Type
					}
				}
			}
		}
	}
	return out
}

// namesHidden lists what of a type is declared where only this module may look. Unexported fields are nobody's affair.
func namesHidden(typ ast.Node, hidden map[string]bool) (bad []string) {
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			return len(n.Names) == 0 || n.Names[0].IsExported() || !isField(typ, n)
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && hidden[pkg.Name] {
				bad = append(bad, pkg.Name+"."+n.Sel.Name)
			}
			return false
		}
		return true
	})
	return bad
}

// isField tells a struct's field from a parameter.
func isField(typ ast.Node, f *ast.Field) (is bool) {
	ast.Inspect(typ, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			for _, other := range s.Fields.List {
				is = is || other == f
			}
		}
		return !is
	})
	return is
}

// Goal: the package's page is short, everything on it has words, and its links lead somewhere.
func TestPackagePage(t *testing.T) {
	page, err := exec.Command("go", "doc", ".").CombinedOutput()
	if lines := strings.Count(string(page), "\n"); err != nil || lines > 120 {
		t.Errorf("go doc . has %d lines, at most 120 are allowed; %v", lines, err)
	}
	link := regexp.MustCompile(`\[([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	for dir, files := range publicFiles(t) {
		known := map[string]bool{}
		for _, f := range files {
			for _, name := range exported(f) {
				known[name] = true
			}
		}
		links := 0
		for _, f := range files {
			for _, c := range f.Comments {
				for _, m := range link.FindAllStringSubmatch(c.Text(), -1) {
					if links++; !known[m[1]] {
						t.Errorf("%s: the link [%s] leads nowhere", dir, m[1])
					}
				}
			}
			for _, bare := range wordless(f) {
				t.Errorf("%s: %s has no words", dir, bare)
			}
		}
		if dir == "." && links < 20 {
			t.Errorf("%d links: this finds too little", links)
		}
	}
}

// wordless lists exported functions and types without a comment.
func wordless(f *ast.File) (bare []string) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			of := receiver(decl)
			if said := decl.Name.Name == "Error" || decl.Name.Name == "Unwrap" || decl.Name.Name == "String" || decl.Name.Name == "Is"; decl.Doc == nil && !said &&
				decl.Name.IsExported() && (of == "" || ast.IsExported(of)) {
				bare = append(bare, of+"."+decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && s.Doc == nil && decl.Doc == nil {
					bare = append(bare, fmt.Sprint(s.Name))
				}
			}
		}
	}
	return bare
}
