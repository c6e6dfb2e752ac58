//go:build unix

package capture

import (
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/tree"
)

type skips struct {
	dir   string
	skips []Skip
}

// rebuildable are directories that tools make and make again. The names are theirs alone.
func rebuildable(name string) bool {
	switch name {
	case "node_modules", "bower_components", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
		".gradle", ".next", ".nuxt", ".turbo", ".parcel-cache", ".svelte-kit", ".terraform", "DerivedData", ".dart_tool", ".eggs",
		".ipynb_checkpoints", ".cache", ".npm", ".pnpm-store", ".yarn-cache":
		return true
	}
	return false
}

// rebuildableIfIgnored are names that people use as well: only git's word makes them a tool's.
func rebuildableIfIgnored(name string) bool {
	switch name {
	case "target", "build", "dist", "out", "bin", "obj", "venv", "env", "vendor", "Pods", "coverage", "_build", "deps", "elm-stuff", ".stack-work":
		return true
	}
	return strings.HasSuffix(name, ".egg-info")
}

// repository reports where version control keeps its own. It is a fact of the directory, and not on the list of what was
// skipped.
func repository(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj":
		return true
	}
	return false
}

// cacheTagged reports a directory that says of itself that it is a cache (https://bford.info/cachedir).
func (v *visit) cacheTagged() bool {
	const signature = "Signature: 8a477f597d28d172789f06886806bc55"
	if _, is := slices.BinarySearch(v.names, "CACHEDIR.TAG"); !is || v.here.path == "" {
		return false
	}
	return strings.HasPrefix(string(smallFile(v.dir, "CACHEDIR.TAG")), signature)
}

// Bounds of what git ignores and is captured all the same.
const (
	maxIgnored = 1 << 20 // bytes of a file
)

// class says what is to be done with an entry: its flags, and why it is skipped.
func (v *visit) class(name string, s stamp, kind tree.Kind) (flags tree.Flags, why Why) {
	path := join(v.here.path, name)
	if repository(name) && kind != tree.Link { // a link is kept as it is, and leads nowhere
		return tree.Skipped, WhyRepository
	}
	if kind == tree.Other {
		return tree.Skipped, WhySpecial
	}
	ignored := v.here.private || v.here.rules.list.Ignored(join(v.d.root, path), kind == tree.Dir)
	if ignored {
		flags = tree.Private
	}
	if kind == tree.Dir {
		switch {
		case v.d.own(s):
			return flags | tree.Skipped, WhyOwn
		case v.d.kept(name):
		case rebuildable(name) || ignored && rebuildableIfIgnored(name):
			return flags | tree.Skipped, WhyRebuildable
		case strings.Count(path, "/") >= maxDepth:
			return flags | tree.Skipped, WhyDeep
		}
		return flags, ""
	}
	if kind == tree.File {
		switch {
		case s.size > v.d.cfg.MaxFile:
			return flags | tree.Skipped, WhyLarge
		case ignored && s.size > maxIgnored:
			return flags | tree.Skipped, WhyIgnored
		}
	}
	return flags, ""
}

func join(dir, name string) string {
	if dir == "" || name == "" {
		return dir + name
	}
	return dir + "/" + name
}
