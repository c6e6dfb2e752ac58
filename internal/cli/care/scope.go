package care

import "strings"

// scopeCheck tells from the text of /proc/self/cgroup whether commands outlive what this process was started in: a
// login session, a terminal's scope, a container.
func scopeCheck(cgroup string, container bool) check {
	path := ""
	for line := range strings.Lines(cgroup) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && (fields[1] == "" && path == "" || fields[1] == "name=systemd") {
			path = fields[2]
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	ours := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
	const title = "scope"
	switch {
	case container || ours("docker-", "libpod-", "crio-", "cri-containerd-") || strings.Contains(path, "/kubepods") || strings.Contains(path, "/docker/"):
		return check{Name: title, Level: levelWarn, Text: "this is a container: commands end when it is stopped"}
	case strings.HasSuffix(name, ".scope") && ours("run-"):
		return check{Name: title, Level: levelOK, Text: "commands run in a scope of their own, " + name}
	case strings.HasSuffix(name, ".scope"):
		return check{
			Name: title, Level: levelWarn, Text: "commands belong to " + name + ": they end if the system ends it at logout or with the terminal",
			Hint: "systemd-run --user --scope perdure ... starts a session whose commands stay",
		}
	case strings.HasSuffix(name, ".service"):
		return check{Name: title, Level: levelWarn, Text: "commands belong to " + name + ": they end when that service is stopped", Hint: "systemd-run --user --scope perdure ... starts a session whose commands stay"}
	}
	return check{Name: title, Level: levelOK, Text: "no scope ends commands when this process ends"}
}
