// Package ignore decides which paths git would not show as untracked, and which paths .ignore
// and .rgignore files exclude in addition. Where other programs read these files differently,
// git is authoritative. It runs no programs, and relies on the walk for directory listings.
//
// Precedence, highest first: .rgignore, .ignore, .gitignore, the repository's info/exclude, the
// user's excludes (core.excludesFile). Among files of one kind the nearest to the path wins,
// and within a file the last matching line. The git kinds count only inside a repository. An
// ignored directory excludes everything below it; the walk ensures that by not entering it.
package ignore

import "strings"

// A Dir holds the rules that apply to the entries of a directory. Directories without their own
// rules share their parent's Dir. A nil Dir ignores nothing. It is safe for concurrent use.
type Dir struct {
	rgignore, ignore, gitignore *level
	repo                        *repo // nil outside repositories
}

// A level is an ignore file and its location.
type level struct {
	file *File
	base int    // length of its directory's path, including the slash
	up   *level // next level above with rules
}

// IgnoresFile reports whether the file at path is ignored. The path is absolute and
// slash-separated, and directly inside d's directory or a directory that shares its rules.
func (d *Dir) IgnoresFile(path string) bool { return d.ignores(path, entryFile) }

// IgnoresDir is like [Dir.IgnoresFile] for a directory. Links count as files, regardless of
// their target.
func (d *Dir) IgnoresDir(path string) bool { return d.ignores(path, entryDir) }

func (d *Dir) ignores(path string, kind entryKind) bool {
	if d == nil {
		return false
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, l := range [...]*level{d.rgignore, d.ignore, d.gitignore} {
		for ; l != nil; l = l.up {
			if v := l.file.match(path[l.base:], name, kind); v != undecided {
				return v == ignored
			}
		}
	}
	if d.repo == nil {
		return false
	}
	for _, f := range [...]*File{d.repo.exclude, d.repo.global} {
		if v := f.match(path[d.repo.base:], name, kind); v != undecided {
			return v == ignored
		}
	}
	return false
}
