// Command foreign is a program of somebody else that embeds the package: with "careless" as its first argument it
// forgets to call RunShimIfAsked, with "other FILE" it lets another program be the shim.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/task"
)

func main() {
	careless := len(os.Args) > 2 && os.Args[1] == "careless"
	r := &task.Runner{Dir: os.Args[len(os.Args)-1]}
	if len(os.Args) > 3 && os.Args[1] == "other" {
		r.Exe = []string{os.Args[2]}
	} else if !careless {
		task.RunShimIfAsked()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	spec := command.Spec{
		Session: "s", Act: "a", Script: "echo hello; exit 7", Cwd: "/", Env: []string{"PATH=" + os.Getenv("PATH")},
	}
	if err := r.Start(ctx, spec); err != nil {
		fmt.Println("start:", err)
		os.Exit(1)
	}
	st, err := r.Wait(ctx, "s", "a")
	if err != nil || st.ExitCode == nil {
		fmt.Println("wait:", st, err)
		os.Exit(1)
	}
	out, _, _, err := r.Read("s", "a", 0, 0)
	fmt.Printf("%d %q %v\n", *st.ExitCode, out, err)
}
