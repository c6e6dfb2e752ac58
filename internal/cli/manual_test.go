package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/test/needs"
)

// Each command that help lists has a page, each of its flags stands in it, and troff finds nothing to complain about.
func TestEveryCommandHasAPage(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		needs.Not(t, "groff is not installed")
	}
	w := clitest.New(t)
	dir := filepath.Join(w.Dir, "man1")
	w.OK("man", "man1")
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		file := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		seen++
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-Tutf8", "-rLL=100n", file)
		var complaints strings.Builder
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v %s", file, err, complaints.String())
		}
		text := plainText(string(out))
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s does not tell of --%s", file, f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cli.Root(w.App))
	pages, err := os.ReadDir(dir)
	if err != nil || len(pages) != seen || seen < 40 {
		t.Errorf("%d pages of %d commands, %v", len(pages), seen, err)
	}
}

// plainText takes bold, italics and colours out of what groff prints for a terminal.
func plainText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			for i < len(s) && s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	s = regexp.MustCompile(".\x08").ReplaceAllString(b.String(), "") // older ones print a character twice
	return strings.NewReplacer("\u2010\n", "", "\u2010", "-", "\u2212", "-").Replace(s)
}
