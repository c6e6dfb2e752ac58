package run

import (
	_ "embed"
	"fmt"
	"runtime"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
)

//go:embed system.md
var defaultSystem string

// systemPrompt is what a new session is told. It is frozen with the session; what changes later comes as a message.
func systemPrompt(a *app.App, extra string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(defaultSystem))
	fmt.Fprintf(&b, "\n\nEnvironment when the session was opened: directory %s, platform %s, date %s.",
		a.Dir, runtime.GOOS, a.Clock(a.Now().UnixMilli()).Format("2006-01-02"))
	if extra != "" {
		b.WriteString("\n\n" + strings.ToValidUTF8(extra, "\uFFFD"))
	}
	return b.String()
}
