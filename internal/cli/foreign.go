package cli

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// guardHome keeps root from changing another user's home: what root writes there the user can no longer read, and what
// the user put there runs as root. Looking is free.
func (a *App) guardHome(cmd *cobra.Command) error {
	if os.Geteuid() != 0 || reads(cmd) {
		return nil
	}
	home, err := a.home()
	if err != nil {
		return nil //nolint:nilerr // the command itself says so, if it needs one
	}
	info, err := os.Stat(home)
	if err != nil {
		return nil //nolint:nilerr // a home that is not there is nobody's
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil
	}
	name := strconv.Itoa(int(st.Uid))
	as := "sudo -u '#" + name + "' perdure …"
	if u, err := user.LookupId(name); err == nil {
		name, as = u.Username, "sudo -u "+u.Username+" perdure …"
	}
	return &exitError{
		code: exitFailed, text: fmt.Sprintf("%s belongs to user %s, and you are root: what root writes there, its owner can no longer use", home, name),
		hint: "run it as that user: " + as + "; or use a home of your own: PERDURE_HOME=DIR",
	}
}

// warnOfPlainHTTP says that a key goes over the network unencrypted.
func (a *App) warnOfPlainHTTP(provider string) {
	base, key := "", ""
	switch provider {
	case "anthropic":
		base, key = a.getenv("ANTHROPIC_BASE_URL"), a.getenv("ANTHROPIC_API_KEY")+a.getenv("ANTHROPIC_AUTH_TOKEN")
	case "openai":
		base, key = a.getenv("OPENAI_BASE_URL"), a.getenv("OPENAI_API_KEY")
	}
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || key == "" || !strings.EqualFold(u.Scheme, "http") {
		return
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" {
		return
	}
	a.note("the key of %s and the whole conversation go to %s unencrypted: its base URL begins with http://", provider, host)
}
