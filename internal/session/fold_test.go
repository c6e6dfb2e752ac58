package session_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// shape writes what a value of a type is stored as: names of fields as JSON has them, and their types.
func shape(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		fmt.Fprintf(b, "%s ", t.Kind())
		if t.Kind() == reflect.Map {
			shape(b, t.Key(), seen)
		}
		shape(b, t.Elem(), seen)
	case reflect.Struct:
		fmt.Fprintf(b, "%s{", t.Name())
		if !seen[t] {
			seen[t] = true
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() || f.Anonymous {
					fmt.Fprintf(b, "%s ", f.Tag.Get("json"))
					shape(b, f.Type, seen)
				}
			}
		}
		b.WriteString("}")
	default:
		fmt.Fprintf(b, "%s ", t.Kind())
	}
}

// A snapshot is a State as JSON. Whoever changes its form changes FoldVersion too, and then this digest: else an old
// snapshot would be read as a new one.
func TestFoldVersionFollowsTheState(t *testing.T) {
	var b strings.Builder
	shape(&b, reflect.TypeFor[session.State](), map[reflect.Type]bool{})
	sum := sha256.Sum256([]byte(b.String()))
	got := fmt.Sprintf("%d %s", session.FoldVersion, hex.EncodeToString(sum[:8]))
	if want := "7 8d6fed4a74e721a4"; got != want {
		t.Errorf("FoldVersion and the form of State are %q, were %q", got, want)
	}
}
