package settings

import (
	"maps"
	"slices"
)

// Fields are the names of all that a file may have.
func Fields() []string { return slices.Collect(maps.Keys(types())) }
