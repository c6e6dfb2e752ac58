package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// fault is one change of a file: text in the place of other text.
type fault struct {
	path       string
	source     []byte
	from, to   int
	text, what string
	line       int
}

func (f fault) place() string { return fmt.Sprintf("%s:%d", f.path, f.line) }

// key names a fault for as long as its file does not change.
func (f fault) key(pkg string) string {
	sum := sha256.Sum256(f.source)
	return fmt.Sprintf("%s %x %d %d %s", pkg, sum[:6], f.from, f.to, strconv.Quote(f.text))
}

// planted is the file with the fault.
func (f fault) planted() []byte {
	return append(append(append([]byte{}, f.source[:f.from]...), f.text...), f.source[f.to:]...)
}

// others are the operators that take the place of an operator.
var others = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// faults finds what can be planted into a file: conditions turned around, other operators and constants, calls and
// assignments left out, errors forgotten.
func faults(path string, source []byte) ([]fault, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []fault
	add := func(from, to token.Pos, text, what string) {
		at := set.Position(from)
		found = append(found, fault{path, source, at.Offset, set.Position(to).Offset, text, what, at.Line})
	}
	said := func(n ast.Node) string {
		return string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.IMPORT
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), "!("+said(n.Cond)+")", "condition turned around: "+said(n.Cond))
		case *ast.BinaryExpr:
			if other := others[n.Op]; other != "" {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other, fmt.Sprintf("%s became %s: %s", n.Op, other, said(n)))
			}
		case *ast.BasicLit:
			if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil && n.Kind == token.INT {
				add(n.Pos(), n.End(), strconv.FormatInt(i+1, 10), fmt.Sprintf("constant %s became %d", n.Value, i+1))
			}
		case *ast.ExprStmt:
			add(n.Pos(), n.End(), "", "left out: "+said(n))
		case *ast.DeferStmt:
			add(n.Pos(), n.End(), "", "left out: "+said(n))
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Pos(), n.End(), "", "left out: "+said(n))
			}
		case *ast.ReturnStmt:
			if i := len(n.Results) - 1; i >= 0 && said(n.Results[i]) == "err" {
				add(n.Results[i].Pos(), n.Results[i].End(), "nil", "error forgotten: "+said(n))
			}
		}
		return true
	})
	return found, nil
}
