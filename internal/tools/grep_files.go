package tools

import (
	"bytes"
	"context"
	_ "embed"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/perdure/perdure/internal/session"
)

//go:embed grep_files.md
var grepDescription string

// Bounds of a Grep.
const (
	maxExpr      = 2000     // bytes of an expression
	maxGrepFile  = 32 << 20 // bytes of a file that is searched
	maxContext   = 100      // lines around a match
	grepLimit    = 250      // entries shown if the model names no limit
	maxGrepLimit = 100_000
	maxGrepChars = 500 // of a line shown
)

// grepFiles finds lines in files.
type grepFiles struct{}

func (grepFiles) Spec() Spec {
	return Spec{
		Name: "Grep", Description: strings.TrimSpace(grepDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"The RE2 regular expression, matched line by line"},` +
			`"path":{"type":"string","description":"The file or directory to search in: the working directory if left out"},` +
			`"glob":{"type":"string","description":"Search only files whose name matches, such as *.go or src/**/*.ts"},` +
			`"output_mode":{"type":"string","enum":["files_with_matches","content","count"],"description":"What to show: files_with_matches if left out"},` +
			`"-i":{"type":"boolean","description":"Ignore case"},` +
			`"-n":{"type":"boolean","description":"Show line numbers (content only): true if left out"},` +
			`"-A":{"type":"integer","description":"Lines to show after each match (content only)"},` +
			`"-B":{"type":"integer","description":"Lines to show before each match (content only)"},` +
			`"-C":{"type":"integer","description":"Lines to show around each match (content only)"},` +
			`"head_limit":{"type":"integer","description":"Show only the first so many lines or files: 250 if left out, 0 for all"}},` +
			`"required":["pattern"]}`,
	}
}

// Path is what permission rules look at.
func (grepFiles) Path(c Call) string {
	if path := parse(c).text("path"); path != "" {
		return path
	}
	return "."
}

// grep is one search.
type grep struct {
	re            *regexp.Regexp
	literal       []byte // every match begins with it; empty if unknown
	mode, glob    string
	before, after int
	numbers       bool

	env     Env // whose secrets are hidden
	out     grepOutput
	skipped int // files over the bound
}

func (in *input) grep() *grep {
	expr := in.nonEmpty("pattern")
	if in.flag("-i", false) && expr != "" {
		expr = "(?i)" + expr
	}
	around := in.number("-C", in.number("context", 0, 0, maxContext), 0, maxContext)
	g := &grep{
		re: in.pattern("pattern", expr, maxExpr), glob: in.text("glob"),
		mode:    in.choice("output_mode", "files_with_matches", "content", "count"),
		before:  int(in.number("-B", around, 0, maxContext)),
		after:   int(in.number("-A", around, 0, maxContext)),
		numbers: in.flag("-n", true),
	}
	in.glob("glob", g.glob)
	g.out.limit = int(in.number("head_limit", grepLimit, 0, maxGrepLimit))
	if g.out.limit == 0 {
		g.out.limit = maxGrepLimit
	}
	if g.re != nil {
		prefix, _ := g.re.LiteralPrefix()
		g.literal = []byte(prefix)
	}
	return g
}

// Run searches.
func (grepFiles) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	g, path := in.grep(), in.text("path")
	g.env = env
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	root, info, refusal := searchRoot(env, path)
	tree, ok := env.Files.(Tree)
	switch {
	case refusal != nil:
		return *refusal, nil
	case !ok:
		return failure("this filesystem can't be searched"), nil
	}
	if !info.Dir {
		g.file(tree, root, shown(env, root))
		return g.result(nil), nil
	}
	rules := &ignores{files: env.Files}
	rules.start(root)
	w := &walker{tree: tree, depth: maxDepth + 1, hide: env.Hidden}
	w.enter = func(rel string) { rules.enter(filepath.Join(root, rel)) }
	w.skip = func(rel string, dir bool) bool {
		name := filepath.Base(rel)
		return dir && unwanted(name) && !strings.Contains(g.glob, name) || rules.ignored(filepath.Join(root, rel), dir)
	}
	w.visit = func(rel string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || !g.wants(rel) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		abs := filepath.Join(root, rel)
		g.file(tree, abs, shown(env, abs))
		if g.out.full {
			return errStop
		}
		return nil
	}
	if err := w.run(ctx, root); err != nil {
		return Result{}, err
	}
	return g.result(w.notes()), nil
}

// wants reports whether a file's name matches the glob; one without a slash is for the last element alone.
func (g *grep) wants(rel string) bool {
	switch {
	case g.glob == "":
		return true
	case strings.Contains(g.glob, "/"):
		return doublestar.MatchUnvalidated(strings.TrimPrefix(g.glob, "/"), rel)
	}
	return doublestar.MatchUnvalidated(g.glob, filepath.Base(rel))
}

// file searches one file. Binary files and those that can't be read are passed over.
func (g *grep) file(tree Tree, path, name string) {
	f, _, err := tree.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxGrepFile+1))
	switch {
	case err != nil || bytes.IndexByte(b[:min(len(b), sniffBytes)], 0) >= 0:
	case len(b) > maxGrepFile:
		g.skipped++
	case len(g.literal) > 0 && !bytes.Contains(b, g.literal):
	default:
		g.search(name, bytes.TrimPrefix(b, []byte(byteOrderMark)))
	}
}
