package markdown

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Goal: how everything looks, with colours and without, where there is room and where there is none.
func TestGoldenLines(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		styles theme.Styles
		width  int
	}{{"eighty", theme.Colours(), 80}, {"plain", theme.Plain(), 60}, {"narrow", theme.Plain(), 30}, {"tiny", theme.Plain(), 9}} {
		lines := New(c.styles).Lines(string(sample), c.width)
		checkLines(t, lines, c.width)
		got := strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "^") + "\n"
		path := filepath.Join("testdata", c.name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; -update writes it anew:\n%s", c.name, got)
		}
	}
}

// Each construct alone, in signs: what it is shown as without colours.
func TestWhatIsShownOfEach(t *testing.T) {
	bare := New(theme.Plain())
	for in, want := range map[string]string{
		"":                                  "",
		"a\nb":                              "a b",
		"a  \nb":                            "a|b",
		"a\\\nb":                            "a|b",
		"a<br>b":                            "a|b",
		"日本\n語":                             "日本語",
		"# a #\nb":                          "# a|b",
		"a\nb\n===":                         "# a b",
		"a\n---\nb":                         "## a|b",
		"#no":                               "#no",
		"- a\n- b\n\n- c":                   "• a|• b||• c",
		"- a\n\nb":                          "• a||b",
		"- a\n- \n- b":                      "• a|•|• b",
		"a\n- b":                            "a|• b",
		"a\n2. b":                           "a 2. b",
		"2. a\n2. b\n1. c":                  "2. a|3. b|4. c",
		"1) a\n   - b\n     > c":            "1) a|   • b|     │ c",
		"- [ ] a\n- [x] b\n1. [X] c":        "☐ a|☑ b|1. ☑ c",
		"> a\nb\n\n> c":                     "│ a b||│ c",
		"> a\n>\n> b":                       "│ a|│|│ b",
		"```\n a\n\n\tb\n```\nc":            "   a||      b|c",
		"````\n```\n````":                   "  ```",
		"```\nopen":                         "  open",
		"- a\n  ```\n  b\n\n  c\n  ```":     "• a|    b||    c",
		"    a\n\n      b\n\nc":             "  a||    b||c",
		"a\n    b":                          "a b",
		"a\n\n***\nb":                       "a||────────||b",
		"|a|b|\n|-|-:|\n|c|d|\n|e|\nf":      "a │ b|──┼──|c │ d|e │|f",
		"x\n| a | b |\n|:-|-|\n":            "x|a │ b|──┼──",
		"|a|\n|b|":                          "|a| |b|",
		"*a **b** c*":                       "*a **b** c*",
		"a_b_c _d_ __e__":                   "a_b_c *d* **e**",
		"**a*":                              "**a*",
		"~~a~~ ~b~":                         "~~a~~ ~b~",
		"`` a`b `` `c":                      "`a`b` `c",
		`\*a\* \q`:                          `*a* \q`,
		"&lt;&#x41;&nope;&copy":             "<A&nope;&copy",
		"[a](http://b 'c') [d]( <e f> )":    "a (http://b) d (e|f)",
		"[http://b](http://b)":              "http://b",
		"[a](mailto:a@b) [m@b](mailto:m@b)": "a (a@b) m@b",
		"[a [b](c) d](e)":                   "[a b (c) d](e)",
		"![a *b*](c) ![](d)":                "[image: a b]|[image: ]",
		"[a][b] [^1]\n\n[b]: http://c":      "[a][b] [^1]||[b]: http://c",
		"<b>x</b> <http://a>":               "<b>x</b> http://a",
		"<div>\n*a*\n\n*b*":                 "<div>|*a*||*b*",
		"> שלום *a*\n\n|א|b|\n|-|-|":        "│ \u2066שלום *a*\u2069||\u2066א\u2069 │ b|──┼──",
		"**「a」**b":                          "**「a」**b",
	} {
		got := strings.ReplaceAll(strings.Join(bare.Lines(in, 19), "|"), strings.Repeat("─", 19), "────────")
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

// What a text brings along for the terminal does not get there: not in any place of it, not written by its number, not
// begun on one line and ended on another.
func TestNothingInATextSteersTheTerminal(t *testing.T) {
	hostile := "\x1b]0;title\a\x1b]52;c;ZXZpbA==\x1b\\\x1b[2J\x9b31m\u009b6n\u202e\r\b&#27;[31m&#x9b;6n&#7;&NewLine;&#8238;"
	places := []string{
		"%", "# %", "- %", "> %", "```%\n%\n```", "    %", "|%|%|\n|-|-|\n|%|%|", "[%](%)", "[%](http://%)", "![%](%)", "<http://a%>", "<div>%", "`%`", "**%**",
		"http://a%b", "[a](<%> \"%\")", "1. [ ] %", "a\x1b]0;\nb\a", "a\x1b\n[31mb", "%\n===",
	}
	for _, styles := range []theme.Styles{theme.Colours(), theme.Plain()} {
		r := New(styles)
		for _, place := range places {
			for _, width := range []int{3, 20, 200} {
				lines := r.Lines(strings.ReplaceAll(place, "%", hostile), width)
				checkLines(t, lines, width)
				if s := strings.Join(lines, ""); strings.Contains(s, "ZXZpbA") || strings.Contains(s, "title") {
					t.Errorf("%q: %q", place, s)
				}
			}
		}
	}
}

// An address is told to the terminal only when that is asked for, only one of the web, and shown all the same.
func TestHyperlinksAreAskedForAndShown(t *testing.T) {
	const text = "[a](http://b.c/d) [e](javascript:f) [g](http://h\u0301/) http://i.j"
	r := New(theme.Colours())
	if got := r.Lines(text, 100)[0]; strings.Contains(got, "\x1b]") {
		t.Errorf("not asked for: %q", got)
	}
	r.Hyperlinks = true
	got := r.Lines(text, 100)[0]
	for _, want := range []string{ansi.SetHyperlink("http://b.c/d"), ansi.SetHyperlink("http://i.j"), ansi.ResetHyperlink()} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if n := strings.Count(got, "\x1b]8;;http"); n != strings.Count(got, ansi.ResetHyperlink()) || strings.Contains(got, "]8;;javascript") || strings.Contains(got, "]8;;http://h") {
		t.Errorf("%q", got)
	}
	if plainly := ansi.Strip(got); plainly != "a (http://b.c/d) e (javascript:f) g (http://h\u0301/) http://i.j" {
		t.Errorf("%q", plainly)
	}
}

// Code shows the words and comments of its language, also where a comment or a string goes over lines; in a string
// there are none.
func TestCodeShowsItsLanguage(t *testing.T) {
	s := theme.Colours()
	r := New(s)
	word, note := s.Bold.Styled, s.Italic.Styled
	for in, want := range map[string]string{
		"go\nfunc f(x1 int) { return `a\nb` + \"//\\\"\" } // c": word("func") + " f(x1 " + word("int") + ") { " + word("return") + " `a" + "|" + "b` + " + `"//\""` + " } " + note("// c"),
		"C++\n/* a\nb */ 0x1F;":                                  note("/* a") + "|" + note("b */") + " 0x1F;",
		"sh\necho a#b # c":                                       word("echo") + " a#b " + note("# c"),
		"python\n'''a\n''' None":                                 "'''a|''' " + word("None"),
		"sql\nSelect 1 -- x":                                     word("Select") + " 1 " + note("-- x"),
		"rust\nfn f<'a>() {}":                                    word("fn") + " f<'a>() {}",
		"nolang\nif 1 // x":                                      "if 1 // x",
		"diff\n+a\n-b\n c\n@@ d":                                 s.Added.Styled("+") + "a|" + s.Removed.Styled("-") + "b" + "| c|" + note("@@ d"),
	} {
		got := strings.ReplaceAll(strings.Join(r.Lines("```"+in+"\n```", 80), "|"), codeMargin, "")
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

// A table is as wide as there is room: its cells are wrapped, and where columns make no sense it is a list.
func TestATableFitsItsRoom(t *testing.T) {
	const source = "| name | what it does |\n|---|---|\n| ls | lists *files* in a directory |\n"
	r := New(theme.Plain())
	for width, want := range map[int]string{
		60: "name │ what it does|─────┼─────────────────────────────|ls   │ lists *files* in a directory",
		24: "name │ what it does|─────┼──────────────────|ls   │ lists *files* in|     │ a directory",
		10: "• name: ls|  what it|  does:|  lists|  *files*|  in a|  director|  y",
	} {
		if got := strings.Join(r.Lines(source, width), "|"); got != want {
			t.Errorf("%d cells:\n got %s\nwant %s", width, got, want)
		}
	}
	// Of a long one the first rows say how wide the columns are.
	long := r.Lines("|a|b|\n|-|-|\n"+strings.Repeat("|c|d|\n", maxRows)+"|much longer|than before|\n", 60)
	if n := len(long); long[1] != "──┼──" || long[n-1] == long[2] || !strings.Contains(strings.Join(long[maxRows:], ""), "t") {
		t.Errorf("%q", long[maxRows:])
	}
}

// A line of the source that is longer than what is looked at stays what it was: words go on in their paragraph, with no
// word broken and nothing taken for the beginning of a block; code goes on as code.
func TestALongLineGoesOn(t *testing.T) {
	r := New(theme.Plain())
	for first := range len("word - # > ") {
		text := strings.Repeat("x", first+1) + strings.Repeat(" word - # >", 600)
		if got := strings.Join(r.Lines(text, 80), " "); got != text {
			t.Errorf("%.300q…", got)
		}
	}
	unbroken := strings.Repeat("日本", maxLine)
	if got := strings.Join(r.Lines(unbroken, 80), ""); got != unbroken {
		t.Errorf("%.300q…", got)
	}
	for _, before := range []string{"```\n", "    ", "<div>\n"} {
		got := strings.Join(r.Lines(before+strings.Repeat("#", 3*maxLine)+"\n", 70), "")
		if n := strings.Count(got, "#"); n != 3*maxLine || strings.Contains(got, "##### ####") {
			t.Errorf("%q: %d signs", before, n)
		}
	}
}
