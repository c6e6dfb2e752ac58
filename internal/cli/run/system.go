package run

import (
	_ "embed"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/plain"
)

//go:embed system.md
var defaultSystem string

// systemPrompt is what a new session is told. It is frozen with the session; what changes later comes as a message.
func systemPrompt(a *app.App, extra string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(defaultSystem))
	fmt.Fprintf(&b, "\n\nEnvironment when the session was opened: directory %s, platform %s, date %s.",
		directory(a.Dir), runtime.GOOS, a.Clock(a.Now().UnixMilli()).Format("2006-01-02"))
	if extra != "" {
		b.WriteString("\n\n" + strings.ToValidUTF8(extra, "\uFFFD"))
	}
	return b.String()
}

// directory quotes a directory's name for one line of the prompt: a name with line breaks, or like an element, adds none.
func directory(dir string) string {
	if strings.ContainsAny(dir, "<>\"") || strings.ContainsFunc(dir, plain.Hidden) {
		return strings.NewReplacer("<", `\x3c`, ">", `\x3e`).Replace(strconv.QuoteToASCII(dir))
	}
	return dir
}
