package markdown

import (
	"strings"
	"sync"
)

// language is as much of a language as colours need.
type language struct {
	notes  []string // what begins a comment to the end of the line
	long   []long
	quotes string // what begins and ends a string of one line
	words  map[string]bool
	fold   bool // words in any case
	dashes bool // words may have - in them
}

// long is what may go over several lines.
type long struct {
	open, shut string
	look       attr
}

// languages are those that have colours, by each of their names.
var languages = sync.OnceValue(func() map[string]*language {
	cLike := []long{{"/*", "*/", codeNote}}
	slashes := []string{"//"}
	hash := []string{"#"}
	all := map[string]*language{}
	add := func(names string, l language, words string) {
		l.words = map[string]bool{}
		for _, w := range strings.Fields(words) {
			l.words[w] = true
		}
		for _, n := range strings.Fields(names) {
			all[n] = &l
		}
	}
	c := language{notes: slashes, long: cLike, quotes: `"'`}
	ticks := c
	ticks.long = append([]long{{"`", "`", codeText}}, cLike...)
	triple := c
	triple.long = append([]long{{`"""`, `"""`, codeText}}, cLike...)
	plainHash := language{notes: hash, quotes: `"'`}
	add("go golang", ticks, goWords)
	add("js javascript jsx mjs ts typescript tsx", ticks, jsWords)
	add("java kotlin kt scala swift cs csharp c# dart", triple, javaWords)
	add("c h cpp c++ cc hpp objc", c, cWords)
	add("rust rs", language{notes: slashes, long: cLike, quotes: `"`}, rustWords)
	add("php", language{notes: []string{"//", "#"}, long: cLike, quotes: `"'`}, phpWords)
	python := plainHash
	python.long = []long{{`"""`, `"""`, codeText}, {"'''", "'''", codeText}}
	add("python py python3", python, pythonWords)
	add("ruby rb", plainHash, rubyWords)
	add("sh bash shell zsh console fish", plainHash, shellWords)
	add("dockerfile docker", language{notes: hash, quotes: `"'`, fold: true}, "from run cmd label expose env add copy entrypoint volume user workdir arg onbuild healthcheck shell as")
	add("make makefile", plainHash, "ifeq ifneq ifdef ifndef else endif include define endef export override")
	add("yaml yml", language{notes: hash, quotes: `"'`}, "true false null yes no on off")
	add("toml ini conf cfg", python, "true false")
	add("json jsonc json5 jsonl", language{notes: slashes, quotes: `"`}, "true false null")
	add("sql postgres mysql sqlite", language{notes: []string{"--"}, long: cLike, quotes: `'"`, fold: true}, sqlWords)
	add("lua", language{notes: []string{"--"}, quotes: `"'`}, "and break do else elseif end false for function goto if in local nil not or repeat return then true until while")
	add("css scss less", language{long: cLike, quotes: `"'`, dashes: true}, "important media import from to and not only supports keyframes")
	add("html xml svg vue", language{long: []long{{"<!--", "-->", codeNote}}, quotes: `"`}, "")
	return all
})

const (
	goWords = "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select " +
		"struct switch type var nil true false iota string int int64 int32 uint64 byte rune bool error any float64"
	jsWords = "as async await break case catch class const continue debugger default delete do else enum export extends false finally for from " +
		"function get if implements import in instanceof interface let new null of private protected public readonly return set static super " +
		"switch this throw true try type typeof undefined var void while yield string number boolean any never unknown"
	javaWords = "abstract as async await base boolean break byte case catch char class companion const continue data def default defer do double else " +
		"enum extends extension false final finally float for foreach fun func get guard if implements import in init inner int interface internal is " +
		"lateinit let long namespace native new nil null object open out override package private protected protocol public record return sealed self " +
		"set short static string struct super suspend switch synchronized this throw throws trait true try typealias using val var virtual void volatile " +
		"when where while with yield"
	cWords = "alignas alignof auto bool break case catch char class concept const consteval constexpr continue decltype default delete do double else " +
		"enum explicit extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private " +
		"protected public register requires return short signed sizeof static struct switch template this throw true try typedef typename union " +
		"unsigned using virtual void volatile while include define ifdef ifndef endif NULL size_t"
	rustWords = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self " +
		"Self static struct super trait true type unsafe use where while i32 i64 u8 u32 u64 usize f64 bool str String Option Result Vec Some None Ok Err"
	phpWords = "abstract and array as break case catch class clone const continue declare default do echo else elseif empty enum extends false final " +
		"finally fn for foreach function global if implements include instanceof interface isset list match namespace new null or print private " +
		"protected public readonly require require_once return static switch throw trait true try unset use var while yield"
	pythonWords = "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match " +
		"nonlocal not or pass raise return try while with yield None True False self"
	rubyWords = "alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo require rescue retry " +
		"return self super then true undef unless until when while yield attr_accessor attr_reader private"
	shellWords = "if then else elif fi for while until do done case esac in function return local export readonly declare set unset shift exit break " +
		"continue trap eval exec source cd echo printf test sudo"
	sqlWords = "select from where insert into values update set delete create table drop alter add column index view join left right inner outer full " +
		"on as and or not null is in between like order by group having limit offset distinct union all case when then else end primary key " +
		"foreign references unique default constraint check begin commit rollback transaction with recursive returning exists integer text " +
		"varchar boolean timestamp true false asc desc if cascade"
)
