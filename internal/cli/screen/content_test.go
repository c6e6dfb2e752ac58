package screen_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/model"
)

// Goal: what was written is what is sent, and what is taken back is what was written.
func TestContentAndBack(t *testing.T) {
	long := strings.Repeat("line\n", 300)
	d := composer.Draft{Parts: []composer.Part{
		composer.Text("see "), composer.Pasted{Text: long, Lines: 300}, composer.Text(" and "), composer.Image{Name: "taken back", Media: "image/png", Data: []byte{1}}, composer.Text(" ok\n"),
	}}
	parts := screen.Content(d)
	want := []model.Part{model.TextPart("see "), model.TextPart(long), model.TextPart(" and "), {Type: model.BlockImage, Media: "image/png", Data: []byte{1}}, model.TextPart(" ok\n")}
	if !reflect.DeepEqual(parts, want) {
		t.Errorf("sent: %.300v", parts)
	}
	if back, ok := screen.DraftOf(parts); !ok || !reflect.DeepEqual(back, d) {
		t.Errorf("taken back: %.300v", back)
	}
	if _, ok := screen.DraftOf([]model.Part{{Type: model.BlockDocument}}); ok {
		t.Error("a document is left out in silence")
	}
}
