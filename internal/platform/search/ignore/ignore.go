// Package ignore decides which paths of a tree git would not show as untracked, and what .ignore and
// .rgignore files leave out besides. Where other programs read these files differently, git is
// right. It runs no program; reading directories is left to the walk, which tells it what is in them.
//
// Precedence, highest first: .rgignore, .ignore, .gitignore, info/exclude of the repository, the
// user's own excludes (core.excludesFile). Of the files of one kind the one nearest to the path comes
// first, and in a file the last line that matches. The git kinds count only inside a repository. A
// directory that is ignored takes everything below with it; the walk sees to that by not entering.
package ignore

import "strings"

// A Dir knows the rules that apply to the entries of one directory. Directories without rules of
// their own share the Dir of their parent. A nil Dir ignores nothing. It may be used by several
// goroutines.
type Dir struct {
	rgignore, ignore, gitignore *level
	repo                        *repo // nil outside of repositories
}

// A level is an ignore file and where it lies.
type level struct {
	file *File
	base int    // length of the path of its directory, slash included
	up   *level // the next one above that has rules
}

// IgnoresFile reports whether the file path is ignored. The path is absolute, separated by slashes,
// and lies directly in the directory of d or in one that shares its rules.
func (d *Dir) IgnoresFile(path string) bool { return d.ignores(path, entryFile) }

// IgnoresDir is like [Dir.IgnoresFile], for a directory. Links are files, wherever they point.
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
