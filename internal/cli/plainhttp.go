package cli

import (
	"net"
	"net/url"
	"strings"
)

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
