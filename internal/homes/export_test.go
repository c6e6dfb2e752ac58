package homes

// WithCrash gives a config whose home calls crash between two steps of a deletion.
func WithCrash(cfg Config, crash func(step string)) Config {
	cfg.crash = crash
	return cfg
}
