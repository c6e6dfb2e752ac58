package run

import (
	"net"
	"net/url"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
)

// warnOfPlainHTTP says that a key goes over the network unencrypted.
func warnOfPlainHTTP(a *app.App, provider string) {
	base, key := "", ""
	switch provider {
	case "anthropic":
		base, key = a.Getenv("ANTHROPIC_BASE_URL"), a.Getenv("ANTHROPIC_API_KEY")+a.Getenv("ANTHROPIC_AUTH_TOKEN")
	case "openai":
		base, key = a.Getenv("OPENAI_BASE_URL"), a.Getenv("OPENAI_API_KEY")
	}
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || key == "" || !strings.EqualFold(u.Scheme, "http") {
		return
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" {
		return
	}
	a.Note("the key of %s and the whole conversation go to %s unencrypted: its base URL begins with http://", provider, host)
}
