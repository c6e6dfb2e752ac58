package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Limits bound what each command of a session may use. Empty fields say nothing.
type Limits struct {
	CPU    string `toml:"cpu"`    // as in 60s; whole seconds, rounded up
	Memory string `toml:"memory"` // as in 1GiB
	Files  int64  `toml:"files"`
	Wall   string `toml:"wall"` // as in 10m
}

// bounds reads the limits of a file.
func (l Limits) bounds() (b command.Limits, err error) {
	for _, field := range []struct{ name, value string }{{"cpu", l.CPU}, {"memory", l.Memory}, {"wall", l.Wall}} {
		if field.value == "" {
			continue
		}
		if err := SetLimit(&b, field.name, field.value); err != nil {
			return b, fmt.Errorf("limits: %s: %w", field.name, err)
		}
	}
	if l.Files != 0 {
		if err := SetLimit(&b, "files", strconv.FormatInt(l.Files, 10)); err != nil {
			return b, fmt.Errorf("limits: files: %w", err)
		}
	}
	return b, nil
}

// SetLimit reads one limit, by the name that it has in files and flags: cpu, memory, files or wall.
func SetLimit(b *command.Limits, name, value string) error {
	switch name {
	case "cpu", "wall":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no span of time: write 60s or 10m", value)
		}
		if name == "cpu" {
			b.CPUSeconds = int64(math.Ceil(d.Seconds()))
		} else {
			b.WallMS = max(d.Milliseconds(), 1)
		}
	case "memory":
		n, ok := parseSize(value)
		if !ok {
			return fmt.Errorf("%q is no size: write 512MiB or 1GiB", value)
		}
		b.MemoryBytes = n
	case "files":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n <= 0 {
			return fmt.Errorf("%q is no number of files", value)
		}
		b.OpenFiles = n
	}
	return nil
}

// parseSize reads a number of bytes: plain, or with a unit. K, M, G and T count in 1024 like KiB and so on; KB and so
// on in 1000.
func parseSize(text string) (int64, bool) {
	i := strings.LastIndexAny(text, "0123456789.") + 1
	n, err := strconv.ParseFloat(text[:i], 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	unit := strings.ToUpper(strings.TrimSpace(text[i:]))
	factor, base := 1.0, 1024.0
	if decimal, ok := strings.CutSuffix(unit, "B"); ok && len(decimal) == 1 {
		base = 1000
	}
	if unit = strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I"); unit != "" {
		power := strings.Index("KMGT", unit)
		if power < 0 || len(unit) > 1 {
			return 0, false
		}
		factor = math.Pow(base, float64(power+1))
	}
	if n *= factor; n < 1 || n > 1<<62 {
		return 0, false
	}
	return int64(n), true
}
