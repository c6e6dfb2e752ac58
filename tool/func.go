package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/perdure/perdure/model"
)

// Func makes a tool of a function. The schema of its input, if spec has none, is that of the struct In: names by the tag
// json, where omitempty or omitzero makes a field optional, descriptions for the model by the tag doc, and the words of a
// closed list by the tag enum, separated by commas. What the function returns is told to the model; an error is told as
// the tool's failure.
//
// It panics if In is no struct, or holds what JSON has no form for (a channel, a function, a map with other keys than
// strings): a mistake of the program's text.
func Func[In any](spec Spec, do func(context.Context, In) (string, error)) Runner {
	schema := schemaOf(reflect.TypeFor[In](), 0)
	if schema["type"] != "object" || reflect.TypeFor[In]().Kind() != reflect.Struct {
		panic(fmt.Sprintf("tool %s: its input is %s: want a struct", spec.Name, reflect.TypeFor[In]()))
	}
	text, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", spec.Name, err))
	}
	if spec.Schema == "" {
		spec.Schema = string(text)
	}
	return function[In]{spec, do}
}

type function[In any] struct {
	spec Spec
	do   func(context.Context, In) (string, error)
}

// Spec describes the tool.
func (f function[In]) Spec() Spec { return f.spec }

// Run reads the input and calls the function.
func (f function[In]) Run(ctx context.Context, c Call, _ Env) (Result, error) {
	var in In
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return failed("The input is not as the schema says: %v", err), nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(c.Input, &given); err == nil {
		for _, name := range required(reflect.TypeFor[In]()) {
			if _, ok := given[name]; !ok {
				return failed("The input lacks %q.", name), nil
			}
		}
	}
	out, err := f.do(ctx, in)
	if err != nil {
		return Result{}, err
	}
	return Result{Content: []model.Part{model.TextPart(out)}}, nil
}

// failed is an error result of one text.
func failed(format string, args ...any) Result {
	return Result{IsError: true, Content: []model.Part{model.TextPart(fmt.Sprintf(format, args...))}}
}

// maxNesting bounds how deep a struct may nest, so that one that holds itself is told and not followed for ever.
const maxNesting = 16

// schemaOf is the JSON schema of a type's JSON form.
func schemaOf(t reflect.Type, depth int) map[string]any {
	if depth > maxNesting {
		panic(fmt.Sprintf("type %s is nested deeper than %d", t, maxNesting))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), depth+1)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), depth+1)}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), depth+1)}
		}
	case reflect.Struct:
		return structSchema(t, depth)
	case reflect.Interface:
		return map[string]any{}
	default:
	}
	panic(fmt.Sprintf("type %s has no JSON schema", t))
}

func structSchema(t reflect.Type, depth int) map[string]any {
	properties := map[string]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, ok := jsonName(f)
		if !ok {
			continue
		}
		p := schemaOf(f.Type, depth+1)
		if doc := f.Tag.Get("doc"); doc != "" {
			p["description"] = doc
		}
		if words := f.Tag.Get("enum"); words != "" {
			p["enum"] = strings.Split(words, ",")
		}
		properties[name] = p
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if need := required(t); len(need) > 0 {
		schema["required"] = need
	}
	return schema
}

// required are the names of a struct's fields that must be given.
func required(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name, optional, ok := jsonName(t.Field(i)); ok && !optional {
			names = append(names, name)
		}
	}
	return names
}

// jsonName is a field's name in JSON, and whether it may be left out; not ok: it has none.
func jsonName(f reflect.StructField) (name string, optional, ok bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" && options == "" {
		return "", false, false
	}
	if name == "" {
		name = f.Name
	}
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"), true
}
