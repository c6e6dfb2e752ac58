package homes

import "github.com/perdure/perdure/internal/engine"

// WithCaptures gives a config whose home keeps the files of its sessions by c.
func WithCaptures(cfg Config, c engine.Captures) Config {
	cfg.captures = c
	return cfg
}

// WithCrash gives a config whose home calls crash between two steps of a deletion.
func WithCrash(cfg Config, crash func(step string)) Config {
	cfg.crash = crash
	return cfg
}

// WithFault gives a config whose home asks fault before each step of a change of what is known of a project.
func WithFault(cfg Config, fault func(step string) error) Config {
	cfg.fault = fault
	return cfg
}
