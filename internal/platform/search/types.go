package search

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/platform/spell"
)

// typeTable says which names the files of a type have: a word that begins with a dot is an extension,
// any other word a whole name or, with a star, a pattern of names.
const typeTable = `
ada .adb .ads
asciidoc .adoc .asc .asciidoc
asm .asm .s .S
astro .astro
avro .avdl .avpr .avsc
awk .awk
bash .bash .csh .ksh .sh .tcsh .zsh .bashrc .zshrc .profile
bazel .bazel .bzl BUILD WORKSPACE
c .c .h .H .cats
c++ .C .cc .cpp .cxx .h .H .hh .hpp .hxx .inl .ipp .tpp
clojure .clj .cljc .cljs .cljx .edn
cmake .cmake CMakeLists.txt
coffee .coffee
cpp .C .cc .cpp .cxx .h .H .hh .hpp .hxx .inl .ipp .tpp
crystal .cr .ecr Projectfile
cs .cs
csharp .cs
csproj .csproj
css .css .scss
csv .csv
cuda .cu .cuh
cython .pyx .pxi .pxd
d .d
dart .dart
diff .diff .patch
docker Dockerfile *Dockerfile* Dockerfile.* .dockerfile
elisp .el
elixir .ex .eex .exs .heex .leex .livemd
elm .elm
erb .erb
erlang .erl .hrl
fish .fish
fortran .f .F .f77 .F77 .f90 .F90 .f95 .F95
fsharp .fs .fsi .fsx
gleam .gleam
go .go
golang .go
gradle .gradle .gradle.kts gradlew gradle.properties
graphql .graphql .graphqls
groovy .groovy .gradle
h .h .hh .hpp
haml .haml
handlebars .hbs
haskell .hs .lhs .hsc .c2hs .cpphs
hcl .hcl .tf
html .htm .html .ejs
ini .ini .cfg
java .java .jsp .jspx .properties
javascript .js .jsx .cjs .mjs .vue
jinja .j2 .jinja .jinja2
js .js .jsx .cjs .mjs .vue
json .json .sarif
jsonl .jsonl
julia .jl
jupyter .ipynb .jpynb
kotlin .kt .kts
less .less
lisp .el .jl .lisp .lsp .sc .scm
log .log
lua .lua
make .mak .mk GNUmakefile Gnumakefile gnumakefile Makefile makefile Makefile.*
markdown .md .mdx .markdown .mkd .mkdn .mdown .mdwn
matlab .m
md .md .mdx .markdown .mkd .mkdn .mdown .mdwn
meson meson.build meson_options.txt
mk .mk
ml .ml .mli .mll .mly
nim .nim .nimble .nims
nix .nix
objc .h .m
objcpp .h .mm
ocaml .ml .mli .mll .mly
org .org
pascal .dpr .lpr .pas .pp .inc
perl .perl .pl .PL .plh .plx .pm .t
php .php .php3 .php4 .php5 .php7 .php8 .phtml
prolog .pl .pro .prolog .P
protobuf .proto
ps .ps1 .psd1 .psm1
puppet .epp .erb .pp .rb
py .py .pyi
python .py .pyi
qml .qml
r .r .R .Rmd .Rnw
rst .rst
ruby .rb .rbw .gemspec .ru Gemfile Rakefile config.ru
rust .rs
sass .sass .scss
scala .scala .sbt
sh .bash .csh .ksh .sh .tcsh .zsh .bashrc .zshrc .profile
shell .bash .csh .ksh .sh .tcsh .zsh .bashrc .zshrc .profile
solidity .sol
sql .sql .psql
svelte .svelte .svelte.ts
svg .svg
swift .swift
tcl .tcl
terraform .tf .tf.json .tfvars .tfvars.json terraform.rc
tex .tex .ltx .cls .sty .bib .dtx .ins
thrift .thrift
toml .toml Cargo.lock
ts .ts .tsx .cts .mts
txt .txt
typescript .ts .tsx .cts .mts
vb .vb
verilog .v .vh .sv .svh
vhdl .vhd .vhdl
vim .vim .vimrc vimrc gvimrc
vue .vue
wgsl .wgsl
xml .xml .xsd .xsl .xslt .dtd .rng .sch .xhtml .xjb
yaml .yaml .yml
zig .zig
zsh .zsh .zshenv .zlogin .zlogout .zprofile .zshrc zshenv
`

// typeFilter returns what chooses the files of a type; an empty one chooses all.
func typeFilter(name string) (func(rel string) bool, error) {
	if name == "" {
		return func(string) bool { return true }, nil
	}
	var known, close []string
	for line := range strings.Lines(typeTable) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == name {
			return ofType(words[1:]), nil
		}
		known = append(known, words[0])
		if slices.Contains(words[1:], "."+strings.TrimPrefix(name, ".")) {
			close = append(close, words[0])
		}
	}
	if len(close) == 0 {
		close = spell.Closest(name, known, 3)
	}
	if len(close) == 0 {
		return nil, fmt.Errorf("there is no file type %q: use glob instead, such as *.%s", name, strings.TrimPrefix(name, "."))
	}
	return nil, fmt.Errorf("there is no file type %q: did you mean %s? Or use glob instead", name, strings.Join(close, ", "))
}

// ofType chooses by the words of a line of the table.
func ofType(words []string) func(rel string) bool {
	return func(rel string) bool {
		name := path.Base(rel)
		return slices.ContainsFunc(words, func(word string) bool {
			switch {
			case word[0] == '.':
				return strings.HasSuffix(name, word)
			case strings.Contains(word, "*"):
				ok, _ := path.Match(word, name) // ok: the table has no malformed pattern
				return ok
			}
			return name == word
		})
	}
}
