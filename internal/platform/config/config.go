// Package config finds, merges and decodes settings, writes changes back, and follows the files. It
// knows how a setting is declared, not which ones there are: the composition root declares the keys,
// reads the values, and hands each part of the program its own. It does not decide whom to trust: that
// is said with each file. A wrong value never stops the program: it is reported, and the next best
// source counts. What to do about a file that cannot be read at all is left to the caller.
package config

import (
	"slices"

	"adze/internal/platform/scope"
)

// Sources are where settings come from.
type Sources struct {
	// Files are in order of precedence within their scope, lowest first.
	Files []File
	// Getenv returns the value of a variable; an empty one counts as not set. Variables win over all
	// files but managed ones.
	Getenv func(name string) string
	// Home is the user's home directory and Root the workspace, both absolute or empty.
	Home, Root string

	// Approved reports whether a claim of the workspace counts that has to be approved; nil approves none. Limits are
	// claims that stay when no file has them any more, because the user relies on them. Decided changes whenever these
	// may have changed.
	Approved func(Claim) bool
	Limits   []Claim
	Decided  int

	// Closest returns up to n words of among that may have been meant by word. It may be nil.
	Closest func(word string, among []string, n int) []string
}

// files returns all files, lowest first.
func (src *Sources) files() []File {
	files := slices.Clone(src.Files)
	slices.SortStableFunc(files, func(a, b File) int { return scope.Compare(b.Scope, a.Scope) })
	return files
}

// TextOrFile returns what a flag says: settings themselves as a JSON object, or the name of a file.
func TextOrFile(from scope.Scope, flag, value string) File {
	if isObject(value) {
		return File{Scope: from, Path: flag, Text: value}
	}
	return File{Scope: from, Path: value, Required: true}
}

// A Warning says what is wrong with the settings, in one line.
type Warning struct {
	Where string // file:line:column, a variable, or --settings
	Text  string
}

// String returns the line.
func (w Warning) String() string { return w.Where + ": " + w.Text }

// Settings are the values in force. It does not change and may be used from any goroutine.
type Settings struct {
	keys   map[string]*Key // by name, other names included
	values map[string]value
	parts  map[string][]Part
	rules  []Rule // lowest first
	dirs   []Directory
	vars   []Var

	outdone  []string // see Outdone
	claims   []Claim
	waiting  []Claim
	retained []Claim
	withheld int
	demoted  []Demoted
	local    []string // see LocalFiles
	invalid  []*InvalidFile
	src      Sources
}

type value struct {
	v      any
	origin string // empty for the default
	scope  scope.Scope
	file   bool // the origin is a file, of that scope
}

// Load reads the sources and returns the value of every key, and what is wrong. It panics on keys
// that are declared wrongly. See [Settings.Invalid] for files that count for nothing.
func Load(src Sources, keys []Key) (*Settings, []Warning) {
	var docs []*document
	var invalid []*InvalidFile
	for _, f := range src.files() {
		doc, err := readDocument(f)
		if err != nil {
			invalid = append(invalid, err.(*InvalidFile))
			continue
		}
		docs = append(docs, doc)
	}
	s, warnings := merge(src, docs, keys)
	s.invalid = invalid
	return s, warnings
}

// Invalid returns the files that cannot be used.
func (s *Settings) Invalid() []*InvalidFile { return s.invalid }

// A Demoted file is one of local settings that counts like one of the project, because it is not known to be the
// user's own.
type Demoted struct {
	File  string
	Names []string // the settings in it that do not count for that reason; a variable is env.NAME
}

// Demoted returns the local files with settings that do not count because the files are not known to be the user's
// own.
func (s *Settings) Demoted() []Demoted { return s.demoted }

// LocalFiles returns the local files there are that are not known to be the user's own.
func (s *Settings) LocalFiles() []string { return s.local }

// Withheld returns how many rules and directories of the workspace do not count before the user
// trusts it, although the rest of its settings does.
func (s *Settings) Withheld() int { return s.withheld }
