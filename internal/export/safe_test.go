package export

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mayBe are the tags that a text may become, each as a whole.
var mayBe = regexp.MustCompile(`^</?(p|h[3-6]|blockquote|hr|pre|code|ul|ol|li|em|strong|del|br|table|thead|tbody|tr|th|td|div|a)( dir="auto"| start="\d+"| class="wide"| href="(https?://|mailto:)[^"<>]*" rel="noopener noreferrer nofollow")*>`)

var tagName = regexp.MustCompile(`^</?([a-z0-9]+)`)

// wellFormed reports what is wrong with HTML that was made of a text: a tag that it may not have, or one that is not
// closed.
func wellFormed(out string) string {
	var open []string
	for i := 0; i < len(out); i++ {
		if out[i] != '<' {
			continue
		}
		tag := mayBe.FindString(out[i:])
		if tag == "" {
			return "a tag of others: " + out[i:min(i+60, len(out))]
		}
		name := tagName.FindStringSubmatch(tag)[1]
		switch {
		case name == "hr" || name == "br":
		case tag[1] != '/':
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			return "closes what is not open: " + tag
		default:
			open = open[:len(open)-1]
		}
		i += len(tag) - 1
	}
	if len(open) > 0 {
		return "left open: " + strings.Join(open, " ")
	}
	return ""
}

// Whatever a text is, its HTML has the tags of this package alone, each closed, and no link but to pages and mail.
func TestTextNeverBecomesHTMLOfItsOwn(t *testing.T) {
	pieces := []string{
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;script&gt;", "&#60;b&#62;", "\"", "'", "`", "``", "```", "```js", "~~~", "*", "**", "***", "_", "__", "~~",
		"[", "](", ")", "](javascript:alert(1))", "](data:text/html,x)", "](https://x.example/\" onclick=\"y)", "![", "<https://x.example/>", "<javascript:alert(1)>", "https://x.example/?a=b&c",
		"\n", "\n\n", "> ", "- ", "1. ", "    ", "| a | b |\n|---|---|\n", "# ", "---", "===", "\\", "a", " ", "日本語", "\u202e", "</p>", "</pre>", "</details>", "<!--", "-->", "]]>", "mailto:a@b",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), "")
		if wrong := wellFormed(renderMarkdown(text)); wrong != "" {
			t.Fatalf("%q: %s\n%s", text, wrong, renderMarkdown(text))
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n\n- b\n  - c\n\n```\nd", "[a](http://b) *c* **d** `e`", "| a |\n|---|\n| b |", "> - 1. x\n> y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if wrong := wellFormed(renderMarkdown(text)); wrong != "" {
			t.Fatalf("%q: %s", text, wrong)
		}
		tame(text)
	})
}

// The usual Markdown of models looks as it should.
func TestMarkdownBecomesHTML(t *testing.T) {
	for in, want := range map[string]string{
		"a *b* **c** _d_ ~~e~~ `f<g`":         `<p dir="auto">a <em>b</em> <strong>c</strong> <em>d</em> <del>e</del> <code>f&lt;g</code></p>`,
		"# T\n\ntext":                         `<h3 dir="auto">T</h3>` + "\n" + `<p dir="auto">text</p>`,
		"T\n===\nU\n---":                      `<h3 dir="auto">T</h3>` + "\n" + `<h4 dir="auto">U</h4>`,
		"a\\*b snake_case_name 2*3*4":         `<p dir="auto">a*b snake_case_name 2<em>3</em>4</p>`,
		"```go\nx < y\n```\nz":                "<pre><code>x &lt; y</code></pre>\n" + `<p dir="auto">z</p>`,
		"```\nopen to the end":                "<pre><code>open to the end</code></pre>",
		"> a\n> b":                            "<blockquote>\n" + `<p dir="auto">a` + "\nb</p>\n</blockquote>",
		"- a\n- b\n  - c":                     "<ul>\n" + `<li dir="auto">a` + "\n</li>\n" + `<li dir="auto">b` + "\n<ul>\n" + `<li dir="auto">c` + "\n</li>\n</ul>\n</li>\n</ul>",
		"3. a\n4. b":                          `<ol start="3">` + "\n" + `<li dir="auto">a` + "\n</li>\n" + `<li dir="auto">b` + "\n</li>\n</ol>",
		"in\n1999. a year":                    `<p dir="auto">in` + "\n1999. a year</p>",
		"- [x] a":                             "<ul>\n" + `<li dir="auto">☑ a` + "\n</li>\n</ul>",
		"| a | b |\n|---|:-:|\n| `1` | 2\\|3": `<div class="wide"><table><thead><tr><th dir="auto">a</th><th dir="auto">b</th></tr>` + "\n</thead><tbody>\n" + `<tr><td dir="auto"><code>1</code></td><td dir="auto">2|3</td></tr>` + "\n</tbody></table></div>",
		"a | b":                               `<p dir="auto">a | b</p>`,
		"[t](https://x.y/a(b))":               `<p dir="auto"><a href="https://x.y/a%28b%29" rel="noopener noreferrer nofollow">t</a></p>`,
		"[t](javascript:x)":                   `<p dir="auto">t (<code>javascript:x</code>)</p>`,
		"[t](JaVaScRiPt:x) [u](//evil/x)":     `<p dir="auto">t (<code>JaVaScRiPt:x</code>) u (<code>//evil/x</code>)</p>`,
		"![alt](https://x.y/p.png)":           `<p dir="auto"><a href="https://x.y/p.png" rel="noopener noreferrer nofollow">image: alt</a></p>`,
		"see https://x.y/z. And":              `<p dir="auto">see <a href="https://x.y/z" rel="noopener noreferrer nofollow">https://x.y/z</a>. And</p>`,
		"<mailto:a@b.c> <b>":                  `<p dir="auto"><a href="mailto:a@b.c" rel="noopener noreferrer nofollow">mailto:a@b.c</a> &lt;b&gt;</p>`,
		"&amp; &lt; &nope;":                   `<p dir="auto">&amp; &lt; &amp;nope;</p>`,
		"a  \nb\\\nc":                         `<p dir="auto">a  <br>` + "\nb<br>\nc</p>",
		"---":                                 "<hr>",
		"    code":                            "<pre><code>code</code></pre>",
	} {
		if got := strings.TrimSuffix(renderMarkdown(in), "\n"); strings.ReplaceAll(got, "a%28b%29", "a%28b%29") != want && strings.ReplaceAll(got, "a(b)", "a%28b%29") != want {
			t.Errorf("%q:\n%s\nwant\n%s", in, got, want)
		}
	}
}

// A text that was made to be slow takes no longer than its length allows.
func TestMarkdownIsNotSlow(t *testing.T) {
	for _, piece := range []string{"[", "*a ", "**a", "`a``", "![", "_a ", "](", "> ", "- ", "<h", "\\", "&amp", "| ", "https://", "a\n", "1. "} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		began := time.Now()
		renderMarkdown(text)
		tame(text)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q: %v for a megabyte", piece, took)
		} else {
			t.Logf("%q: %v", piece, took)
		}
	}
}

// In Markdown, no tag and no image of others is left outside of what every program takes for code.
func TestTame(t *testing.T) {
	for in, want := range map[string]string{
		"a <b> c":                        `a &lt;b> c`,
		"`<b>` and <i>":                  "`<b>` and &lt;i>",
		"```html\n<b>\n```\n<i>":         "```html\n<b>\n```\n&lt;i>",
		"<https://x.y/> <javascript:x>":  `<https://x.y/> &lt;javascript:x>`,
		"![a](https://x.y/p)":            `&#33;[a](https://x.y/p)`,
		"a ` b\n` <img> `":               "a ` b\n` &lt;img> `",
		"`<img>``":                       "`&lt;img>``",
		"- x\n  ```\n<img>":              "- x\n  ```\n&lt;img>",
		"  ```\n```\n<img>":              "  ```\n```\n&lt;img>",
		"`a | b <img> `":                 "`a | b &lt;img> `",
		"- ```\n```\n<img>":              "- ```\n```\n&lt;img>",
		"<!-- x":                         `&lt;!-- x`,
		"\\<img> \\\\<img>":              `&lt;img> \\&lt;img>`,
		"~~~\n<b>\n~~\n<i>\n~~~~\n<u>":   "~~~\n<b>\n~~\n<i>\n~~~~\n&lt;u>",
		"```a`b\n<img>":                  "```a`b\n&lt;img>",
		"\\\\\\\n\\<b>\\![a](http://x/)": "\\\\\\\n&lt;b>&#33;[a](http://x/)", // behind such a line break a backslash is overlooked
		"```\n\t  ```\n```\n<b>":         "```\n\t  ```\n```\n&lt;b>",
		"\\\\\\\n\\``<b>``":              "\\\\\\\n\\``&lt;b>``",
		"text with no sign":              "text with no sign",
	} {
		if got := tame(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
