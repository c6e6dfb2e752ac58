// Package memory keeps sessions in memory: for tests of programs. What it keeps ends with the process.
package memory

import (
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/store"
)

// New returns an empty store.
func New() store.Store { return new(memory.Home).Open() }
