// Package configuring are the commands about settings: perdure config shows each with its value and where it comes from
// and changes the user's file, perdure trust says which projects' files may widen.
package configuring

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/settings"
)

// ConfigCommand is perdure config.
func ConfigCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "config", Short: "Show every setting with its value and where it comes from; get, set, unset, path",
		Long: `Show every setting: what it is here, and whether that is the default, or comes from your file, from a project's file in
this directory or above it, or from the environment. Flags of a run win over all of them. What a project's file says in
vain is shown with the reason.

Your own file is changed by perdure config set KEY VALUE, which leaves its comments and its order as they are.
See docs/config.md.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return app.UsageError("config needs one of: get, set, unset, path (got %q)", args[0])
			}
			r, err := look(a)
			if err != nil {
				return err
			}
			if asJSON {
				return a.JSON(r)
			}
			return a.Paged(func() error { return r.print(a) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.AddCommand(getCommand(a), setCommand(a), unsetCommand(a), pathCommand(a))
	return c
}

// report is what perdure config shows. Its JSON is config --json.
type report struct {
	Path        string     `json:"path"` // of the user's file
	Settings    []setting  `json:"settings"`
	Environment []variable `json:"environment"`
	Ignored     []string   `json:"ignored"` // what files say in vain, in words
}

// setting is one setting with what holds of it here.
type setting struct {
	settings.Key
	Value  any              `json:"value"`              // null: nobody said anything
	Source string           `json:"source"`             // default, user, project or environment
	Name   string           `json:"variable,omitempty"` // of the environment
	Said   []settings.Value `json:"said"`               // by files, those that do not hold too
}

// variable is one that Perdure reads. The values of keys are not told.
type variable struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Set   bool   `json:"set"`
}

// look reads what there is.
func look(a *app.App) (report, error) {
	dir, err := a.Workdir()
	if err != nil {
		return report{}, err
	}
	user := settings.UserFile(a.Getenv)
	said, err := settings.Origins(user, dir)
	if err != nil {
		return report{}, err
	}
	set, err := settings.Load(user, dir)
	if err != nil {
		return report{}, err
	}
	r := report{Path: user, Environment: environment(a), Ignored: slices.Concat([]string{}, set.Ignored, set.Unknown)}
	for _, k := range settings.Keys() {
		r.Settings = append(r.Settings, described(a, k, said)...)
	}
	return r, nil
}

// described are the settings of a key: of a table by models, one for each that is named; else one.
func described(a *app.App, k settings.Key, said []settings.Value) (out []setting) {
	var names []string
	for _, v := range said {
		if general, _, ok := settings.FindKey(v.Key); ok && general.Name == k.Name && !slices.Contains(names, v.Key) {
			names = append(names, v.Key)
		}
	}
	if len(names) == 0 {
		names = []string{k.Name}
	}
	for _, name := range names {
		s := setting{Key: k, Source: "default", Said: []settings.Value{}}
		s.Key.Name = name
		var list []string
		for _, v := range said {
			if v.Key != name {
				continue
			}
			s.Said = append(s.Said, v)
			if !v.Holds {
				continue
			}
			s.Value, s.Source = v.Value, v.Source
			if l, ok := v.Value.([]string); ok {
				list = append(list, l...)
				s.Value = list
			}
		}
		if name == "model" && s.Value == nil {
			if value, from := connect.Configured(a.Getenv); from != "" {
				s.Source, s.Name = "environment", from
				if value != "" {
					s.Value = value
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// environment are the variables that Perdure reads.
func environment(a *app.App) (out []variable) {
	for _, name := range []string{"PERDURE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST", "PERDURE_PAGER", "PAGER", "NO_COLOR"} {
		v := a.Getenv(name)
		shown := v
		if strings.HasSuffix(name, "_URL") || name == "OLLAMA_HOST" {
			shown = connect.Place(v) // an address may hold a password
		}
		out = append(out, variable{Name: name, Value: shown, Set: v != ""})
	}
	for _, name := range connect.KeyVariables() {
		if a.Getenv(name) != "" {
			out = append(out, variable{Name: name, Set: true})
		}
	}
	return out
}

func (r report) print(a *app.App) error {
	look := a.Styles()
	if err := r.table(a); err != nil {
		return err
	}
	in := false
	for _, s := range r.Settings {
		for _, v := range s.Said {
			if v.Holds {
				continue
			}
			if !in {
				a.Linef("\n%s", look.Title.Styled("Said in vain"))
			}
			in = true
			a.Beside("  ", 2, display.Shown(fmt.Sprintf("%s = %s (%s): %s", v.Key, shown(v.Value), place(a, v), v.Why), 500))
		}
	}
	a.Linef("\n%s", look.Title.Styled("Environment"))
	for _, v := range r.Environment {
		if v.Set {
			a.Beside("  ", 2, display.Shown(strings.TrimSpace(v.Name+"  "+orElse(v.Value, "is set")), 300))
		}
	}
	a.Linef("\nYour file  %s", display.Line(a.Tilde(r.Path), 500))
	return nil
}

// short leaves one of the settings about models of which nothing was said: it stands for its table.
func short(all []setting) (out []setting) {
	seen := map[string]bool{}
	for _, s := range all {
		if table, _, about := strings.Cut(s.Key.Name, "."+settings.Any); about && len(s.Said) == 0 {
			if s.Key.Name = table + "." + settings.Any; seen[table] {
				continue
			}
			seen[table] = true
		}
		out = append(out, s)
	}
	return out
}

// narrow is the width below which a setting takes two lines.
const narrow = 80

func (r report) table(a *app.App) error {
	look := a.Styles()
	r.Settings = short(r.Settings)
	if columns, _ := a.Window(); columns > 0 && columns < narrow {
		for _, s := range r.Settings {
			a.Linef("%s", look.Accent.Styled(display.Shown(s.Key.Name, columns)))
			a.Beside("  ", 2, display.Shown(s.shown()+"  "+s.from(a), 500))
		}
		return nil
	}
	rows := [][]string{{"SETTING", "VALUE", "FROM"}}
	for _, s := range r.Settings {
		rows = append(rows, []string{s.Key.Name, s.shown(), s.from(a)})
	}
	return a.TableWith(rows, func(head, cell string) ansi.Style {
		switch {
		case head == "SETTING":
			return look.Accent
		case cell == "default" || strings.HasPrefix(cell, "("):
			return look.Quiet
		}
		return ansi.Style{}
	})
}

func (s setting) shown() string {
	if s.Value == nil {
		return "(" + s.Default + ")"
	}
	return shown(s.Value)
}

func shown(v any) string {
	if l, ok := v.([]string); ok {
		return strings.Join(l, ", ")
	}
	return fmt.Sprint(v)
}

// from is where a value comes from, the nearest to a person first.
func (s setting) from(a *app.App) string {
	if s.Name != "" {
		return s.Name
	}
	var places []string
	for _, v := range s.Said {
		if v.Holds {
			places = append(places, place(a, v))
		}
	}
	if len(places) == 0 {
		return s.Source
	}
	return strings.Join(places, "; ")
}

// place is a file and a line in short: yours, or the project whose file it is.
func place(a *app.App, v settings.Value) string {
	text := "yours"
	if v.Source == settings.FromProject {
		text = "project " + a.Tilde(filepath.Dir(filepath.Dir(v.File)))
	}
	if v.Line > 0 {
		text += fmt.Sprintf(", line %d", v.Line)
	}
	return text
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func getCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "get KEY", Short: "Print what a setting is here, a line for each part of a list", Args: app.ExactArgs(1, "the name of a setting"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := settings.CheckKey(args[0]); err != nil {
				return unknown(err)
			}
			r, err := look(a)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(r.Settings, func(s setting) bool { return s.Key.Name == args[0] })
			s := setting{Source: "default", Said: []settings.Value{}}
			if i >= 0 {
				s = r.Settings[i]
			} else {
				s.Key, _, _ = settings.FindKey(args[0])
				s.Key.Name = args[0]
			}
			switch v := s.Value.(type) {
			case []string:
				if asJSON {
					return a.JSON(s)
				}
				for _, part := range v {
					a.Linef("%s", display.Visible(part))
				}
			case nil:
				if asJSON {
					return a.JSON(s)
				}
				e := &app.ExitError{Code: app.ExitMissing, Text: s.Key.Name + " is not set; without it: " + s.Default}
				if s.Name != "" {
					e.Text = s.Key.Name + " is not set; " + s.Name + " of the environment decides"
				}
				return e
			default:
				if asJSON {
					return a.JSON(s)
				}
				a.Linef("%s", display.Visible(fmt.Sprint(v)))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with where the value comes from")
	return c
}

func setCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Have your own file say a setting; everything else in it stays as it is", Args: app.ExactArgs(2, "the name of a setting and its value"),
		Long: `Have your own file say a setting. A list is given with commas, or as it stands in the file:

  perdure config set model anthropic/claude-sonnet-5-5
  perdure config set permissions.allow 'Bash(make test),Edit(src/**)'
  perdure config set windows.openai/my-model 128000`,
		RunE: func(_ *cobra.Command, args []string) error {
			file := settings.UserFile(a.Getenv)
			if err := settings.Set(file, args[0], args[1]); err != nil {
				return unknown(err)
			}
			a.Note("%s is set in %s", args[0], a.Tilde(file))
			return overruled(a, args[0])
		},
	}
}

func unsetCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Take a setting out of your own file", Args: app.ExactArgs(1, "the name of a setting"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := settings.Unset(settings.UserFile(a.Getenv), args[0]); err != nil {
				return unknown(err)
			}
			return nil
		},
	}
}

// overruled tells of a value that holds here in the place of the one that was just set.
func overruled(a *app.App, name string) error {
	r, err := look(a)
	if err != nil {
		return err
	}
	for _, s := range r.Settings {
		for _, v := range s.Said {
			if s.Key.Name == name && v.Source == settings.FromUser && !v.Holds {
				a.Note("in this directory %s holds: %s", shown(s.Value), s.from(a))
			}
		}
	}
	return nil
}

func pathCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where your own file is, whether it is there or not", Args: app.ExactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			file := settings.UserFile(a.Getenv)
			if file == "" {
				return &app.ExitError{Code: app.ExitMissing, Text: "there is no place for it: neither XDG_CONFIG_HOME nor HOME is set"}
			}
			a.Linef("%s", display.Visible(file))
			if _, err := os.Stat(file); err != nil {
				a.Note("it is not there yet: perdure config set KEY VALUE makes it")
			}
			return nil
		},
	}
}

// unknown gives a slip in a name the exit code of one.
func unknown(err error) error {
	var slip *settings.UnknownKeyError
	switch {
	case errors.As(err, &slip):
		return &app.ExitError{Code: app.ExitUsage, Text: err.Error(), Hint: "perdure config lists all settings"}
	case errors.Is(err, settings.ErrByHand):
		return &app.ExitError{Code: app.ExitFailed, Text: err.Error(), Hint: "open it in an editor: perdure config path names it"}
	}
	return err
}
