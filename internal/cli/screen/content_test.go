package screen_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/model"
)

// Goal: what is taken back is what was written, with all that is attached to it in its place.
func TestContentAndBack(t *testing.T) {
	long := strings.Repeat("line\n", 300)
	image := composer.Image{Name: "a b.png", Media: "image/png", Data: []byte{1}}
	for name, d := range map[string]composer.Draft{
		"text":      {Parts: []composer.Part{composer.Text("just this\n")}},
		"all":       {Parts: []composer.Part{composer.Text("see "), composer.Pasted{Text: long, Lines: 300}, composer.Text(" and "), image, composer.Text(" ok\n")}},
		"only":      {Parts: []composer.Part{composer.Pasted{Text: long, Lines: 300}}},
		"an image":  {Parts: []composer.Part{image}},
		"next":      {Parts: []composer.Part{image, composer.Pasted{Text: "[image x]\n", Lines: 1}, composer.Pasted{Text: long, Lines: 300}, image}},
		"no places": {Parts: []composer.Part{composer.Text("no [pasted text 7] "), composer.Pasted{Text: "x", Lines: 1}}},
	} {
		text, more := screen.Parts(d)
		if back, ok := screen.DraftOf(append([]model.Part{model.TextPart(text)}, more...)); !ok || !reflect.DeepEqual(back, d) {
			t.Errorf("%s: %.300v", name, back)
		}
	}
	d, ok := screen.DraftOf([]model.Part{model.TextPart("by another program"), model.TextPart("in two parts"), {Type: model.BlockDocument}})
	if want := (composer.Draft{Parts: []composer.Part{composer.Text("by another program"), composer.Text("in two parts")}}); ok || !reflect.DeepEqual(d, want) {
		t.Errorf("%v %v", d, ok)
	}
}
