// Command perdure keeps AI agents' sessions: see perdure help.
package main

import (
	"context"
	"os"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/process"
	"github.com/perdure/perdure/internal/homes"
)

func main() {
	if text := process.FewFiles(); text != "" {
		_, _ = os.Stderr.WriteString(text)
		os.Exit(1)
	}
	homes.RunShimIfAsked()
	_ = homes.HideKeys() // a help against accidents; what it cannot do here is no reason not to run
	os.Exit(cli.Main(context.Background(), app.OS(), os.Args[1:]))
}
