package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Figures are what the campaigns counted. Their JSON form is figures.json.
type Figures struct {
	Kill      Kill      `json:"kill"`
	Simulator Simulator `json:"simulator"`
	Power     Power     `json:"power_loss"`
	Controls  []Control `json:"controls"`
}

// Kill is the campaign of SIGKILLs on the real binary.
type Kill struct {
	Rounds       int            `json:"rounds"`
	Kills        int            `json:"kills"`
	Moments      map[string]int `json:"moments"` // kills by how their moment was chosen
	Acknowledged int            `json:"acknowledged_events"`
	Commands     int            `json:"commands"`
	Collected    int            `json:"collected"` // results of commands that outlived their agent
	Lost         int            `json:"lost"`
	Repeated     int            `json:"repeated"` // or never run
	Refused      int            `json:"refused"`
	WrongCodes   int            `json:"wrong_codes"`
	Other        int            `json:"other"` // any other promise broken: files, usage, prefix, what carried over, leftovers
}

// Simulator is the campaign of deaths at every append and every effect, in a world of fakes.
type Simulator struct {
	Points int `json:"points"`
	Failed int `json:"failed"`
}

// Power is the campaign of power losses at every sync, on the store's code over a simulated disk.
type Power struct {
	Losses  int `json:"losses"`
	Lost    int `json:"lost"`
	Corrupt int `json:"corrupt"`
}

// Control is a fault that was planted, to see whether its campaign finds it.
type Control struct {
	Campaign string `json:"campaign"`
	Fault    string `json:"fault"`
	Planted  int    `json:"planted"`
	Caught   int    `json:"caught"`
}

// The lines between which the README shows the figures.
const (
	Begin = "<!-- proof:begin -->\n"
	End   = "<!-- proof:end -->\n"
)

// ErrMarkers says that a text lacks the lines between which the figures go.
var ErrMarkers = errors.New("proof markers are missing")

// Load reads figures.json.
func Load(file string) (Figures, error) {
	var f Figures
	b, err := os.ReadFile(file)
	if err != nil {
		return f, fmt.Errorf("load figures: %w", err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("load figures %s: %w", file, err)
	}
	return f, nil
}

// Save writes figures.json.
func (f Figures) Save(file string) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("save figures: %w", err)
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("save figures: %w", err)
	}
	return nil
}

// Insert replaces what stands between the markers of a text. Errors: ErrMarkers.
func Insert(text, section string) (string, error) {
	head, rest, found := strings.Cut(text, Begin)
	_, tail, ended := strings.Cut(rest, End)
	if !found || !ended {
		return "", fmt.Errorf("insert figures: %w: the lines %q and %q", ErrMarkers, strings.TrimSpace(Begin), strings.TrimSpace(End))
	}
	return head + Begin + section + End + tail, nil
}
