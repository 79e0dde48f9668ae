package code

import (
	"strings"
	"sync"
)

// A language describes a language's syntax.
type language struct {
	delimited []delimiter
	starts    [256]bool // first bytes of the delimiters
	keywords  map[string]bool
	fold      bool // keywords are case-insensitive
	char      bool // single quotes enclose one character
	prefixed  bool // a string may directly follow a letter
	markup    bool // words are tags, and strings occur in tags
	dotted    bool // keywords may follow a dot
	shell     bool // words are keywords only in command position
}

// opens reports whether text begins with a string prefix letter rather than a word.
func (l *language) opens(text string) bool {
	if !l.starts[text[0]] {
		return false
	}
	for _, d := range l.delimited {
		if strings.HasPrefix(text, d.open) {
			return true
		}
	}
	return false
}

// A delimiter is a kind of comment or string.
type delimiter struct {
	class       Class
	open, close string // an empty close means the end of the line
	escapes     bool   // a backslash escapes the next character
	lines       bool   // may span lines
}

// Delimiters shared by several languages. Longer ones must precede their prefixes.
var (
	slashes  = delimiter{Comment, "//", "", false, false}
	stars    = delimiter{Comment, "/*", "*/", false, true}
	hash     = delimiter{Comment, "#", "", false, false}
	dashes   = delimiter{Comment, "--", "", false, false}
	double   = delimiter{String, `"`, `"`, true, false}
	single   = delimiter{String, "'", "'", true, false}
	backtick = delimiter{String, "`", "`", true, true}
	raw      = delimiter{String, "`", "`", false, true}
	triple   = delimiter{String, `"""`, `"""`, true, true}
	triples  = delimiter{String, "'''", "'''", true, true}
)

// languages returns the languages by name and file extension.
var languages = sync.OnceValue(func() map[string]*language {
	table := map[string]*language{}
	def := func(names, keywords string, l language) {
		l.keywords = map[string]bool{}
		for word := range strings.FieldsSeq(keywords) {
			l.keywords[word] = true
		}
		for _, d := range l.delimited {
			l.starts[d.open[0]] = true
		}
		if l.markup {
			l.starts['<'], l.starts['>'] = true, true
		}
		for name := range strings.FieldsSeq(names) {
			table[name] = &l
		}
	}
	define(def)
	return table
})

// define defines the languages.
func define(def func(names, keywords string, l language)) {
	const c = `auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short
		signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL nullptr`
	const js = `async await break case catch class const continue debugger default delete do else export extends false finally for from function get if
		import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield`
	cLike := []delimiter{slashes, stars, double, single}

	def("go golang go.mod", `break case chan const continue default defer else fallthrough for func go goto if import interface map package range return
		select struct switch type var true false nil iota any bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32
		uint64 uintptr append cap clear close copy delete len make max min new panic print println recover module require replace`,
		language{delimited: []delimiter{slashes, stars, double, raw, single}, char: true})
	def("c h", c, language{delimited: cLike, char: true})
	def("cpp c++ cc cxx hpp hh hxx", c+` alignas alignof catch class concept constexpr const_cast decltype delete dynamic_cast explicit export final friend mutable
		namespace new noexcept operator override private protected public reinterpret_cast requires static_assert static_cast template this throw try
		typename using virtual co_await co_return co_yield`, language{delimited: cLike, char: true})
	def("csharp cs c#", `abstract as async await base bool break byte case catch char class const continue decimal default delegate do double else enum event
		explicit extern false finally fixed float for foreach get if implicit in int interface internal is lock long namespace new null object operator out
		override params private protected public readonly record ref return sbyte sealed set short sizeof static string struct switch this throw true try
		typeof uint ulong unchecked unsafe ushort using var virtual void volatile when where while yield`,
		language{delimited: []delimiter{slashes, stars, triple, double, single}, char: true})
	def("java", `abstract assert boolean break byte case catch char class const continue default do double else enum extends false final finally float for if
		implements import instanceof int interface long native new null package permits private protected public record return sealed short static super
		switch synchronized this throw throws transient true try var void volatile while yield`,
		language{delimited: []delimiter{slashes, stars, triple, double, single}, char: true})
	def("kotlin kt kts", `abstract as break by catch class companion const constructor continue data do else enum false final finally for fun get if import in
		init inline interface internal is it lateinit null object open operator out override package private protected public return sealed set super
		suspend this throw true try typealias val var vararg when where while`,
		language{delimited: []delimiter{slashes, stars, triple, double, single}, char: true})
	def("rust rs", `as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self
		static struct super trait true type union unsafe use where while bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec
		Option Result Some None Ok Err`, language{delimited: []delimiter{slashes, stars, {String, `r#"`, `"#`, false, true}, {String, `r"`, `"`, false, true}, {String, `"`, `"`, true, true}, single}, char: true})
	def("swift", `actor any as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false
		fileprivate for func get guard if import in init inout internal is lazy let mutating nil open operator override private protocol public repeat return
		self Self set some static struct subscript super switch throw throws true try typealias var weak where while`,
		language{delimited: []delimiter{slashes, stars, triple, double}})
	def("javascript js jsx mjs cjs node", js, language{delimited: []delimiter{slashes, stars, double, single, backtick}})
	def("typescript ts tsx mts cts", js+` abstract any as asserts bigint boolean declare enum implements infer interface is keyof module namespace never number
		object override private protected public readonly satisfies string symbol type unique unknown`,
		language{delimited: []delimiter{slashes, stars, double, single, backtick}})
	def("python py pyi py3 python3 pyw", `and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda
		match None nonlocal not or pass raise return self True try while with yield bool bytes dict float int list set str tuple print len range`,
		language{delimited: []delimiter{hash, triple, triples, double, single}, prefixed: true})
	def("ruby rb rake gemfile rakefile", `alias and attr_accessor attr_reader begin break case class def defined? do else elsif end ensure extend false for if in include
		module next nil not or private protected public raise redo require require_relative rescue retry return self super then true undef unless until
		when while yield`, language{delimited: []delimiter{{Comment, "=begin", "=end", false, true}, hash, double, single}})
	def("php", `abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends false final
		finally fn for foreach function global if implements include instanceof insteadof interface isset list match namespace new null or print private
		protected public readonly require require_once return static switch this throw trait true try unset use var while yield`,
		language{delimited: []delimiter{slashes, stars, hash, double, single}})
	def("lua", `and break do else elseif end false for function goto if in local nil not or repeat return then true until while`,
		language{delimited: []delimiter{{Comment, "--[[", "]]", false, true}, dashes, {String, "[[", "]]", false, true}, double, single}})
	def("bash sh shell zsh ksh console shellscript .bashrc .profile", `break case continue declare do done elif else esac eval exec exit export fi for function if in local
		read readonly return select set shift source then trap unset until while cd echo printf test true false`,
		language{delimited: []delimiter{hash, {String, `"`, `"`, true, true}, {String, "'", "'", false, true}}, shell: true})
	def("sql psql mysql sqlite postgresql", `add all alter and as asc begin between by case check column commit constraint create cross database default delete desc
		distinct drop else end exists foreign from full group having if in index inner insert int integer into is join key left like limit not null offset on
		or order outer primary references returning right rollback select set table text then timestamp transaction trigger union unique update using
		values varchar view when where with`, language{delimited: []delimiter{dashes, stars, {String, "'", "'", false, true}, double}, fold: true})
	def("json jsonc json5 jsonl", `true false null`, language{delimited: []delimiter{slashes, stars, double}})
	def("yaml yml", `true false null yes no on off`, language{delimited: []delimiter{hash, double, {String, "'", "'", false, false}}})
	def("toml ini conf cfg editorconfig", `true false`, language{delimited: []delimiter{hash, triple, triples, double, single}})
	def("html htm xml svg xhtml vue", ``, language{delimited: []delimiter{{Comment, "<!--", "-->", false, true}, {String, `"`, `"`, false, true}, {String, "'", "'", false, true}}, markup: true})
	def("css scss less", `important media import charset keyframes font-face supports from to and not only`,
		language{delimited: []delimiter{stars, double, single}, dotted: true})
	def("make makefile mk gnumakefile", `define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath`, language{delimited: []delimiter{hash}})
	def("dockerfile docker containerfile", `add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user volume workdir`,
		language{delimited: []delimiter{hash, double}, fold: true})
}
