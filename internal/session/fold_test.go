package session_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// shape writes what a value of a type is stored as: names of fields as JSON has them, and their types.
func shape(b *strings.Builder, t reflect.Type, seen map[reflect.Type]int) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		fmt.Fprintf(b, "%s ", t.Kind())
		if t.Kind() == reflect.Map {
			shape(b, t.Key(), seen)
		}
		shape(b, t.Elem(), seen)
	case reflect.Struct:
		if n, again := seen[t]; again {
			fmt.Fprintf(b, "{%d} ", n)
			return
		}
		seen[t] = len(seen)
		b.WriteString("{")
		fields := map[string]reflect.Type{}
		storedFields(t, fields)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintf(b, "%s ", name)
			shape(b, fields[name], seen)
		}
		b.WriteString("}")
	default:
		fmt.Fprintf(b, "%s ", t.Kind())
	}
}

// storedFields collects the fields of a struct by what JSON calls them, those of an embedded one among them: neither their
// order nor the name of a type in Go is part of the form.
func storedFields(t reflect.Type, fields map[string]reflect.Type) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && tag == "":
			storedFields(f.Type, fields)
		case f.IsExported():
			fields[cmp.Or(tag, f.Name)] = f.Type
		}
	}
}

// A snapshot is a State as JSON. Whoever changes its form changes FoldVersion too, and then this digest: else an old
// snapshot would be read as a new one.
func TestFoldVersionFollowsTheState(t *testing.T) {
	var b strings.Builder
	shape(&b, reflect.TypeFor[session.State](), map[reflect.Type]int{})
	sum := sha256.Sum256([]byte(b.String()))
	got := fmt.Sprintf("%d %s", session.FoldVersion, hex.EncodeToString(sum[:8]))
	if want := "9 f022acd2f076b648"; got != want {
		t.Errorf("FoldVersion and the form of State are %q, were %q", got, want)
	}
}
