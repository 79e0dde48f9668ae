package gitinfo

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/git/gitrepo"
)

const (
	// maxRef is the maximum size of a file with one reference.
	maxRef = 4 << 10
	// maxPacked is the maximum size of packed-refs. Git is faster with a larger file.
	maxPacked = 1 << 20
)

// refs are a repository's references, read from git's files.
type refs struct {
	dir, common string
	packed      []byte
	head        string // full name of the checked-out branch, or the commit
	branch      string // short name; empty if HEAD is detached
}

// openRefs reads the references, unless they are stored in a form that only git understands.
func openRefs(repo *gitrepo.Repository) (*refs, bool) {
	if repo.Tables() {
		return nil, false
	}
	r := &refs{dir: repo.Dir(), common: repo.Common()}
	var err error
	if r.packed, err = fsys.ReadSmall(filepath.Join(r.common, "packed-refs"), maxPacked); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	head, ok := readRef(filepath.Join(r.dir, "HEAD"))
	if !ok {
		return nil, false
	}
	r.head = head
	if name, symbolic := strings.CutPrefix(head, "ref: "); symbolic {
		if r.head = name; !legalRef(name) {
			return nil, false
		}
		if r.branch, ok = strings.CutPrefix(name, "refs/heads/"); !ok {
			return nil, false
		}
	}
	return r, true
}

// usual returns the remote's default branch, or a branch with a usual name.
func (r *refs) usual() string {
	if target, ok := readRef(filepath.Join(r.common, "refs", "remotes", "origin", "HEAD")); ok {
		branch, ok := strings.CutPrefix(target, "ref: refs/remotes/origin/")
		if ok && legalRef(target[len("ref: "):]) && r.commit(target[len("ref: "):]) != "" {
			return branch
		}
	}
	for _, branch := range []string{"main", "master"} {
		if r.commit("refs/heads/"+branch) != "" {
			return branch
		}
	}
	return ""
}

// current returns the checked-out commit, or "".
func (r *refs) current() string {
	if r.branch == "" {
		return r.head
	}
	return r.commit(r.head)
}

// commit returns the commit that a reference points to, or "".
func (r *refs) commit(name string) string {
	if id, ok := readRef(filepath.Join(r.common, filepath.FromSlash(name))); ok {
		if isID(id) {
			return id
		}
		return ""
	}
	end := []byte(" " + name + "\n")
	for at := 0; ; {
		i := bytes.Index(r.packed[at:], end)
		if i < 0 {
			return ""
		}
		start := bytes.LastIndexByte(r.packed[:at+i], '\n') + 1
		if id := string(r.packed[start : at+i]); isID(id) {
			return id
		}
		at += i + len(end)
	}
}

// readRef returns the line of a file that holds one reference. It does not follow links: git
// must.
func readRef(path string) (string, bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := fsys.ReadSmall(path, maxRef)
	line, _ := strings.CutSuffix(string(data), "\n")
	return line, err == nil && (isID(line) || strings.HasPrefix(line, "ref: ") && legalRef(line[len("ref: "):]))
}

// legalRef reports whether name is a valid reference name that stays inside the repository.
func legalRef(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	control := func(c rune) bool { return c <= ' ' || c == 0x7f || c == 0xfffd }
	return strings.HasPrefix(name, "refs/") && !strings.ContainsAny(name, `~^:?*[\`) && !strings.Contains(name, "..") && !strings.ContainsFunc(name, control)
}

// isID reports whether text is an object name.
func isID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
