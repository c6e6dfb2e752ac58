package composer

import (
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// untilF12 is a program around a composer that ends with a key.
type untilF12 struct{ *person }

func (m untilF12) Init() tea.Cmd  { return nil }
func (m untilF12) View() tea.View { return tea.NewView(m.person.View()) }
func (m untilF12) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.Code == tea.KeyF12 {
		return m, tea.Quit
	}
	if sent, ok := msg.(SentMsg); ok {
		m.sent = append(m.sent, sent.Draft)
	}
	return m, m.person.Update(msg)
}

// Goal: the keys are those whose bytes terminals send, old ones and those that speak the protocol of kitty.
func TestBytesOfTerminals(t *testing.T) {
	for bytes, want := range map[string]string{
		"one two\x1bbX":                     "one X|two",
		"one two\x1b[1;5DX":                 "one X|two", // ctrl+left
		"one two\x1b[1;3DX":                 "one X|two", // alt+left
		"one two\x1b[HX":                    "X|one two",
		"one two\x1b[1~X\x1b[4~Y":           "Xone twoY|",
		"one\ntwo\x1b[1;5HX\x1b[1;5FY":      "Xone\ntwoY|", // ctrl+home, ctrl+end
		"one two\x17\x19\x19":               "one twotwo|", // ctrl+w, ctrl+y
		"one two\x01\x0b\x1f":               "|one two",    // ctrl+a, ctrl+k, ctrl+_
		"one two\x1b[45;5u":                 "one |",       // ctrl+- of a keyboard that says what was pressed
		"one\x1b\rtwo":                      "one\ntwo|",   // alt+enter
		"one\x1b[13;2utwo":                  "one\ntwo|",   // shift+enter
		"one\x1b[27;2;13~two":               "one\ntwo|",   // shift+enter of xterm
		"a\\\rb":                            "a\nb|",
		"ab\x7f\x1b[D\x1b[3~c":              "c|",
		"\x1b[200~a\r\nb\x1b[31m\x1b[201~c": "a\nbc|",
		"日本語\x1b[D👩‍👩‍👧‍👦":                  "日本👩‍👩‍👧‍👦|語",
		"one two\x1b\x7f":                   "one |", // alt+backspace
		"one two\x01\x1bd":                  "| two",
	} {
		p := newPerson(t)
		in, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := tea.NewProgram(untilF12{p}, tea.WithInput(in), tea.WithOutput(&strings.Builder{}), tea.WithoutSignals()).Run()
			done <- err
		}()
		for _, piece := range []string{bytes, "\x1b[24~"} {
			if _, err := io.WriteString(out, piece); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q: the program does not end", bytes)
		}
		out.Close()
		p.wrote(want)
	}
}
