package session_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden transcripts in testdata")

// TestScripts plays the interaction transcripts of testdata. A command stands on its own lines; what follows its
// "----" is what it must print. The verbs are those of the functions below.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s differs; after a review, rewrite it by -rewrite\n%s", file, firstDifference(string(want), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\n want %s\n got  %s", i+1, x, y)
		}
	}
	return "nothing"
}

// script is a world, and those that it was forked from, played by a file.
type script struct{ w *world }

func play(t *testing.T, text string) string {
	s := &script{w: newWorld("s")}
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		commands, _, _ := strings.Cut(block, "\n----")
		fmt.Fprintf(&out, "%s\n", commands)
		if strings.HasPrefix(lastLine(commands), "#") {
			out.WriteByte('\n')
			continue
		}
		out.WriteString("----\n")
		for _, line := range strings.Split(commands, "\n") {
			if strings.HasPrefix(line, "#") {
				continue
			}
			shown, err := s.command(tokens(line))
			out.WriteString(s.w.out.String())
			s.w.out.Reset()
			out.WriteString(shown)
			if err != nil {
				fmt.Fprintf(&out, "error: %s\n", err)
			}
			if err := s.w.check(); err != nil {
				t.Errorf("after %q: %s", line, err)
			}
		}
		out.WriteByte('\n')
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// tokens cuts a line at spaces outside of quotes; a quoted token loses its quotes.
func tokens(line string) (out []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if q, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
			s, _ := strconv.Unquote(q)
			out, line = append(out, s), line[len(q):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		out, line = append(out, word), rest
	}
	return out
}

var errUsage = errors.New("bad command")

func (s *script) command(args []string) (string, error) {
	w := s.w
	verb, args := args[0], args[1:]
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch verb {
	case "open":
		return "", s.open(args)
	case "message":
		w.append(human, &session.MessageReceived{Note: arg(1) == "note", Content: []model.Part{model.TextPart(arg(0))}})
	case "run":
		s.run()
	case "start", "do":
		return "", s.start(verb, arg(0), args[1:])
	case "finish":
		return "", s.finish(arg(0), args[1:])
	case "settle":
		if arg(1) == "finished" {
			return "", s.finish(arg(0), args[2:])
		}
		return "", w.settle(arg(0), arg(1))
	case "next":
		return actionLines(session.Next(w.st)), nil
	case "state":
		return stateLines(w.st), nil
	case "messages":
		return messageLines(w.tr.Upcoming()), nil
	case "settled":
		return fmt.Sprintln(w.st.SettledNow()), nil
	case "waits":
		var out string
		for _, x := range session.Waits(w.st) {
			out += fmt.Sprintln(x.Kind, x.Call.ID)
		}
		return out, nil
	default:
		return "", s.outside(verb, args)
	}
	return "", nil
}

// outside is what comes from humans and the machine.
func (s *script) outside(verb string, args []string) error {
	w := s.w
	switch verb {
	case "crash":
		w.crash()
	case "resume":
		w.resume()
	case "compact":
		w.append(human, &session.CompactRequested{Focus: strings.Join(args, " ")})
	case "approve":
		return s.approve(args)
	case "answer":
		w.append(human, &session.QuestionAnswered{Act: args[0], Text: args[1]})
	case "cancel":
		w.append(human, &session.CancelRequested{})
	case "retry": // as whoever resumes a failed turn does
		w.append(human, &session.TimerFired{ID: session.WakeID(w.stopped())})
	case "giveup": // as whoever resumes a halted turn with a prompt does
		stop, why := w.st.Halt()
		w.append(engine, &session.TurnEnded{N: w.st.Turn.N, Stop: stop, Message: why})
	case "rules":
		var rules []session.Rule
		for _, a := range args {
			effect, tool, _ := strings.Cut(a, ":")
			rules = append(rules, session.Rule{Effect: effect, Text: tool, Source: "flag"})
		}
		w.append(engine, &session.PermissionRules{Rules: rules, Digest: store.Sum([]byte(strings.Join(args, " ")))})
	case "revoke":
		w.append(human, &session.PermissionRevoked{Rule: args[0]})
	case "fork":
		return s.fork(args)
	case "await", "met", "dropped", "task", "exited":
		return s.await(verb, args)
	case "lifecycle":
		w.append(human, &session.LifecycleSet{To: session.Lifecycle(args[0])})
	case "config":
		return s.config(args)
	case "time":
		n, err := strconv.ParseInt(args[0], 10, 64)
		w.now += n
		return err
	default:
		return fmt.Errorf("%w: %s", errUsage, verb)
	}
	return nil
}
