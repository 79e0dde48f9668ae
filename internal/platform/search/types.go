package search

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/platform/text/rank"
)

// typeTable lists the file names of each type: a word that begins with a dot is an extension,
// any other word a whole name or, with a star or a bracket, a name pattern.
const typeTable = `
ada .adb .ads
agda .agda .lagda
aidl .aidl
amake .bp .mk
asciidoc .adoc .asc .asciidoc
asm .asm .s .S
asp .ascx .ascx.cs .ascx.vb .aspx .aspx.cs .aspx.vb
astro .astro
ats .ats .dats .hats .sats
avro .avdl .avpr .avsc
awk .awk
bash .bash .csh .ksh .sh .tcsh .zsh .bashrc .zshrc .profile .bash_login .bash_logout .bash_profile .cshrc .kshrc .login .logout .tcshrc .zlogin .zlogout .zprofile .zshenv bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc
bazel .bazel .bzl BUILD WORKSPACE .BUILD .bazelrc
bitbake .bb .bbappend .bbclass .conf .inc
brotli .br
buildstream .bst
bzip2 .bz2 .tbz2
c .c .h .H .cats .c.in .h.in .H.in
c++ .C .cc .cpp .cxx .h .H .hh .hpp .hxx .inl .ipp .tpp .C.in .h.in .H.in .cpp.in .hpp.in .cxx.in .hxx.in .cc.in .hh.in
cabal .cabal
cbor .cbor
ceylon .ceylon
clojure .clj .cljc .cljs .cljx .edn
cmake .cmake CMakeLists.txt
coffee .coffee
coffeescript .coffee
config .cfg .conf .config .ini
coq .v
cpp .C .cc .cpp .cxx .h .H .hh .hpp .hxx .inl .ipp .tpp .C.in .h.in .H.in .cpp.in .hpp.in .cxx.in .hxx.in .cc.in .hh.in
creole .creole
crystal .cr .ecr Projectfile
cs .cs
csharp .cs
cshtml .cshtml
csproj .csproj
css .css .scss
csv .csv
cuda .cu .cuh
cython .pyx .pxi .pxd
d .d
dart .dart
dhall .dhall
diff .diff .patch
docker Dockerfile *Dockerfile* Dockerfile.* .dockerfile
dvc .dvc Dvcfile
ebuild .ebuild
edn .edn
elisp .el
elixir .ex .eex .exs .heex .leex .livemd
elm .elm
erb .erb
erlang .erl .hrl
fidl .fidl
fish .fish
flatbuffers .fbs
fortran .f .F .f77 .F77 .f90 .F90 .f95 .F95 .pfo
fsharp .fs .fsi .fsx
fut .fut
gap .g .gap .gd .gi .tst
gleam .gleam
gn .gn .gni
go .go
golang .go
gradle .gradle .gradle.kts gradlew gradle.properties
graphql .graphql .graphqls
groovy .groovy .gradle
gzip .gz .tgz
h .h .hh .hpp
haml .haml
handlebars .hbs
haskell .hs .lhs .hsc .c2hs .cpphs
hbs .hbs
hcl .hcl .tf
hs .hs .lhs
html .htm .html .ejs
idris .idr .lidr
ini .ini .cfg
java .java .jsp .jspx .properties
javascript .js .jsx .cjs .mjs .vue
jinja .j2 .jinja .jinja2
jl .jl
js .js .jsx .cjs .mjs .vue
json .json .sarif composer.lock
jsonl .jsonl
julia .jl
jupyter .ipynb .jpynb
k .k
kotlin .kt .kts
less .less
license *[.\-]LICEN[CS]E* AGPL-*[0-9]* APACHE-*[0-9]* BSD-*[0-9]* CC-BY-* COPYING COPYING[.\-]* COPYRIGHT COPYRIGHT[.\-]* EULA EULA[.\-]* GFDL-*[0-9]* GNU-*[0-9]* GPL-*[0-9]* LGPL-*[0-9]* LICEN[CS]E LICEN[CS]E[.\-]* MIT-*[0-9]* MPL-*[0-9]* NOTICE NOTICE[.\-]* OFL-*[0-9]* PATENTS PATENTS[.\-]* UNLICEN[CS]E UNLICEN[CS]E[.\-]* agpl[.\-]* gpl[.\-]* lgpl[.\-]* licen[cs]e licen[cs]e.*
lisp .el .jl .lisp .lsp .sc .scm
lock .lock package-lock.json
log .log
lua .lua
lz4 .lz4
lzma .lzma
m4 .ac .m4
make .mak .mk Gnumakefile Makefile.* [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in
mako .mako .mao
man *.[0-9][cEFMmpSx] *.[0-9lnpx]
markdown .md .mdx .markdown .mkd .mkdn .mdown .mdwn
matlab .m
md .md .mdx .markdown .mkd .mkdn .mdown .mdwn
meson meson.build meson_options.txt
minified .min.css .min.html .min.js
mint .mint
mk .mk mkfile
ml .ml .mli .mll .mly
msbuild .csproj .fsproj .proj .props .targets .vcxproj
nim .nim .nimble .nims .nimf
nix .nix
objc .h .m
objcpp .h .mm
ocaml .ml .mli .mll .mly
org .org .org_archive
pascal .dpr .lpr .pas .pp .inc
pdf .pdf
perl .perl .pl .PL .plh .plx .pm .t
php .php .php3 .php4 .php5 .php7 .php8 .phtml
po .po
pod .pod
postscript .eps .ps
prolog .pl .pro .prolog .P
protobuf .proto
ps .ps1 .psd1 .psm1 .cdxml .ps1xml
puppet .epp .erb .pp .rb
purs .purs
py .py .pyi
python .py .pyi
qmake .prf .pri .pro
qml .qml
r .r .R .Rmd .Rnw
racket .rkt
rdoc .rdoc
readme *README README*
red .r .red .reds
robot .robot
rst .rst
ruby .rb .rbw .gemspec .ru Gemfile Rakefile config.ru .irbrc
rust .rs
sass .sass .scss
scala .scala .sbt
sh .bash .csh .ksh .sh .tcsh .zsh .bashrc .zshrc .profile .bash_login .bash_logout .bash_profile .cshrc .kshrc .login .logout .tcshrc .zlogin .zlogout .zprofile .zshenv bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc
shell .bash .csh .ksh .sh .tcsh .zsh .bashrc .zshrc .profile
slim .skim .slim .slime
smarty .tpl
sml .sig .sml
solidity .sol
soy .soy
spark .spark
spec .spec
sql .sql .psql
stylus .styl
sv .h .sv .svh .v .vg
svelte .svelte .svelte.ts
svg .svg
swift .swift
swig .def .i
systemd .automount .conf .device .link .mount .path .scope .service .slice .socket .swap .target .timer
taskpaper .taskpaper
tcl .tcl
terraform .tf .tf.json .tfvars .tfvars.json terraform.rc
tex .tex .ltx .cls .sty .bib .dtx .ins
textile .textile
tf .tf
thrift .thrift
toml .toml Cargo.lock
ts .ts .tsx .cts .mts
twig .twig
txt .txt
typescript .ts .tsx .cts .mts
typoscript .ts .typoscript
vala .vala
vb .vb
vcl .vcl
verilog .v .vh .sv .svh
vhdl .vhd .vhdl
vim .vim .vimrc vimrc gvimrc
vimscript .vim
vue .vue
webidl .idl .webidl .widl
wgsl .wgsl
wiki .mediawiki .wiki
xml .xml .xsd .xsl .xslt .dtd .rng .sch .xhtml .xjb .xml.dist
xz .txz .xz
yacc .y
yaml .yaml .yml
yang .yang
z .Z
zig .zig
zsh .zsh .zshenv .zlogin .zlogout .zprofile .zshrc zshenv zlogin zlogout zprofile zshrc
zstd .zst .zstd
`

// typeFilter returns a filter for the files of a type; an empty name matches all.
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
		close = rank.Closest(name, known, 3)
	}
	if len(close) == 0 {
		return nil, fmt.Errorf("unknown file type %q: use glob instead, such as *.%s", name, strings.TrimPrefix(name, "."))
	}
	return nil, fmt.Errorf("unknown file type %q: did you mean %s? Or use glob instead", name, strings.Join(close, ", "))
}

// ofType returns a filter for the words of a table line.
func ofType(words []string) func(rel string) bool {
	return func(rel string) bool {
		name := path.Base(rel)
		return slices.ContainsFunc(words, func(word string) bool {
			switch {
			case word[0] == '.':
				return strings.HasSuffix(name, word)
			case strings.ContainsAny(word, "*["):
				ok, _ := path.Match(word, name) // ok: the table has no malformed pattern
				return ok
			}
			return name == word
		})
	}
}
