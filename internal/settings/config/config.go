// Package config finds, merges and decodes settings, writes changes back and follows the files.
//
// The composition root declares the keys and passes the values to the parts of the program that
// use them. The caller also specifies how far each file is trusted. An invalid value never
// stops the program: it is reported, and the next source is used. The caller handles files that
// cannot be read at all.
package config

import (
	"slices"

	"adze/internal/platform/fs/scope"
)

// Sources specifies where settings come from.
type Sources struct {
	// Files are in ascending order of precedence within their scope.
	Files []File
	// Getenv returns the value of an environment variable; empty means unset. Variables take
	// precedence over all files except managed ones.
	Getenv func(name string) string
	// Home is the user's home directory and Root is the workspace. Both are absolute or empty.
	Home, Root string

	// Approved reports whether a workspace claim that needs approval has been approved; nil
	// approves none. Limits are claims that stay in effect after they are removed from all
	// files, because the user relies on them. Decided changes whenever either may have changed.
	Approved func(Claim) bool
	Limits   []Claim
	Decided  int

	// Closest returns up to n of the words in among that are similar to word. It may be nil.
	Closest func(word string, among []string, n int) []string
}

// files returns all files in ascending order of precedence.
func (src *Sources) files() []File {
	files := slices.Clone(src.Files)
	slices.SortStableFunc(files, func(a, b File) int { return scope.Compare(b.Scope, a.Scope) })
	return files
}

// TextOrFile interprets a flag's value as settings in the form of a JSON object, or as the name
// of a file.
func TextOrFile(from scope.Scope, flag, value string) File {
	if isObject(value) {
		return File{Scope: from, Path: flag, Text: value}
	}
	return File{Scope: from, Path: value, Required: true}
}

// A Warning describes a problem with the settings on one line.
type Warning struct {
	Where string // file:line:column, a variable, or --settings
	Text  string
}

// String formats the warning on one line.
func (w Warning) String() string { return w.Where + ": " + w.Text }

// Settings holds the effective values. It is immutable and safe for concurrent use.
type Settings struct {
	keys   map[string]*Key // keyed by name and alias
	values map[string]value
	parts  map[string][]Part
	rules  []Rule // lowest precedence first
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
	file   bool // set in a file with that scope
}

// Load reads the sources and returns the value of every key, and warnings. It panics if a key
// is declared incorrectly. See [Settings.Invalid] for files that were ignored.
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

// A Demoted file is a local settings file that is treated like a project file because it may
// not be the user's own.
type Demoted struct {
	File  string
	Names []string // ignored settings; a variable is env.NAME
}

// Demoted returns the local files with settings that are ignored because the files may not be
// the user's own.
func (s *Settings) Demoted() []Demoted { return s.demoted }

// LocalFiles returns the existing local files that may not be the user's own.
func (s *Settings) LocalFiles() []string { return s.local }

// Withheld returns the number of workspace rules and directories that are ignored until the
// user trusts the workspace, although its other settings are in effect.
func (s *Settings) Withheld() int { return s.withheld }
