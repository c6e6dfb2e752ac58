package perdure_test

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/tool"
	"github.com/perdure/perdure/view"
)

func fields(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Goal: what the core learns to take, the face takes; what is left out is left out on purpose.
func TestFaceHasTheFieldsOfTheCore(t *testing.T) {
	for _, pair := range []struct {
		public, inner reflect.Type
		without       []string // of the inner one
	}{
		{reflect.TypeFor[perdure.Config](), reflect.TypeFor[homes.Config](), []string{"Files", "Progress"}}, // what is captured only the command restores, and shows how far it is
		{reflect.TypeFor[perdure.Spec](), reflect.TypeFor[session.Spec](), nil},
		{reflect.TypeFor[perdure.Options](), reflect.TypeFor[session.Options](), []string{"NewPrompt"}}, // Run sets it, HoldOptions has it
		{reflect.TypeFor[perdure.RunOptions](), reflect.TypeFor[homes.RunOptions](), []string{"Opened", "Ended", "Titles", "NewPrompt"}},
		{reflect.TypeFor[perdure.TaskSpec](), reflect.TypeFor[homes.TaskSpec](), nil},
		{reflect.TypeFor[perdure.Update](), reflect.TypeFor[session.Update](), []string{"Body"}}, // the event's
		{reflect.TypeFor[perdure.Event](), reflect.TypeFor[session.EventLine](), []string{"Session"}},
		{reflect.TypeFor[view.Agent](), reflect.TypeFor[session.Agent](), nil},
		{reflect.TypeFor[view.Step](), reflect.TypeFor[session.Step](), nil},
		{reflect.TypeFor[view.Attempt](), reflect.TypeFor[session.TaskAttempt](), nil},
		{reflect.TypeFor[view.TaskSettings](), reflect.TypeFor[session.TaskSettings](), nil},
		{reflect.TypeFor[tool.Result](), reflect.TypeFor[tools.Result](), []string{"Events", "Release"}},
	} {
		want := slices.DeleteFunc(fields(pair.inner), func(name string) bool { return slices.Contains(pair.without, name) })
		if got := fields(pair.public); !slices.Equal(got, want) {
			t.Errorf("%s has %v, %s has %v", pair.public, got, pair.inner, want)
		}
	}
}

// Goal: one word has one spelling inside and outside.
func TestFaceHasTheWordsOfTheCore(t *testing.T) {
	for public, inner := range map[string]string{
		"plan": string(permission.ModePlan), "default": string(permission.ModeDefault),
		"acceptEdits": string(permission.ModeAcceptEdits), "bypassPermissions": string(permission.ModeBypass),
		"on-reboot": session.RestartOnReboot,
	} {
		if public != inner {
			t.Errorf("%q is %q", public, inner)
		}
	}
}

// Goal: the words about the built-in tools name them all.
func TestToolsAreNamedInTheirWords(t *testing.T) {
	said := ""
	for _, f := range publicFiles(t)["."] {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Name.Name == "Tools" && fn.Recv == nil {
				said = fn.Doc.Text()
			}
		}
	}
	words := strings.FieldsFunc(said, func(r rune) bool { return r < 'A' || r > 'z' })
	for _, one := range perdure.Tools() {
		if !slices.Contains(words, one.Spec().Name) {
			t.Errorf("%s is not named in %q", one.Spec().Name, said)
		}
	}
}
