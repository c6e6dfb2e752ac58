package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxDepth bounds how deep a document of YAML is nested.
const maxDepth = 32

// ParseYAML reads a document that was written as YAML. Aliases are refused: a few of them stand for any amount of text.
func ParseYAML(b []byte) (d *Document, err error) {
	if err := checkText(b); err != nil {
		return nil, err
	}
	if err := checkNesting(string(b)); err != nil {
		return nil, err
	}
	defer func() {
		if cause := recover(); cause != nil { // the parser's own fault: the file is not read
			d, err = nil, fmt.Errorf("it cannot be read: %v", cause)
		}
	}()
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, errors.New(clip(err.Error()))
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("it has %d documents, one is read", len(file.Docs))
	}
	raw, err := fromYAML(file.Docs[0].Body, 0)
	if err != nil {
		return nil, err
	}
	return ParseJSON(raw)
}

// checkNesting refuses deep nesting before a parser that recurses sees it.
func checkNesting(text string) error {
	deep, at := 0, 0
	for line := range strings.Lines(text) {
		for _, r := range line {
			switch r {
			case '[', '{':
				at++
			case ']', '}':
				at = max(0, at-1)
			}
			deep = max(deep, at)
		}
		marks := strings.TrimLeft(line, " ")
		n := 0
		for len(marks) > 1 && strings.ContainsRune("-?:", rune(marks[0])) && strings.ContainsRune(" \t", rune(marks[1])) {
			marks, n = strings.TrimLeft(marks[1:], " \t"), n+1
		}
		deep = max(deep, n)
	}
	if deep > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	return nil
}

// fromYAML gives a node as JSON, its keys in their order.
func fromYAML(n ast.Node, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return json.RawMessage("null"), nil
	case *ast.StringNode:
		return encode(n.Value), nil
	case *ast.LiteralNode:
		return encode(strings.TrimSuffix(n.Value.Value, "\n")), nil
	case *ast.BoolNode:
		return encode(n.Value), nil
	case *ast.IntegerNode:
		return number(n.Token.Value), nil
	case *ast.FloatNode:
		return number(n.Token.Value), nil
	case *ast.InfinityNode, *ast.NanNode:
		return encode(n.GetToken().Value), nil
	case *ast.TagNode:
		return fromYAML(n.Value, depth+1)
	case *ast.AnchorNode:
		return fromYAML(n.Value, depth+1)
	case *ast.AliasNode, *ast.MergeKeyNode:
		return nil, errors.New("it has aliases, which are not read")
	case *ast.MappingNode:
		return fromMapping(n.Values, depth)
	case *ast.MappingValueNode:
		return fromMapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		items := make([]json.RawMessage, len(n.Values))
		for i, v := range n.Values {
			raw, err := fromYAML(v, depth+1)
			if err != nil {
				return nil, err
			}
			items[i] = raw
		}
		return join(items), nil
	}
	return nil, fmt.Errorf("it has a %s, which is not read", n.Type())
}

func fromMapping(values []*ast.MappingValueNode, depth int) (json.RawMessage, error) {
	var out members
	for _, v := range values {
		key := v.Key.GetToken().Value
		switch k := v.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		case *ast.MergeKeyNode:
			return nil, errors.New("it has aliases, which are not read")
		case *ast.MappingKeyNode:
			return nil, errors.New("it has a key that is no text")
		}
		raw, err := fromYAML(v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		out.setRaw(key, raw)
	}
	return out.json(), nil
}

// number is a number as JSON has it; one that is written otherwise becomes a text.
func number(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return encode(text)
}
