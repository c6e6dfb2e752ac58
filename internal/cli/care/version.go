package care

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// Version is what version --json prints.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, where the build knows it
	Modified bool   `json:"modified,omitempty"` // the source had changes of its own
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Fold     int    `json:"fold_version"`
	Codec    uint8  `json:"codec"`
}

// ThisVersion is that of this program, as far as its build knows it.
func ThisVersion() Version {
	v := Version{
		Version: homes.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Fold: session.FoldVersion, Codec: session.Codec1,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	return v
}

// Line is the version in a line.
func (v Version) Line() string {
	return fmt.Sprintf("perdure %s (%s, %s/%s)", v.Version, v.Go, v.OS, v.Arch)
}

// VersionCommand is perdure version.
func VersionCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: app.ExactArgs(0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			v := ThisVersion()
			if asJSON {
				return a.JSON(v)
			}
			a.Linef("%s", v.Line())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
