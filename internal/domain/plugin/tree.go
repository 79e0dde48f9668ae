package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxDepth bounds the nesting of a plugin's directories.
const maxDepth = 32

// A tree holds all files of a plugin except git metadata.
type tree struct {
	files   []treeFile // sorted by name
	links   []string   // names of symlinks
	escapes []string   // names of symlinks that are dangling or lead out of the tree
	bytes   int64
}

// A treeFile is a file or symlink.
type treeFile struct {
	name string // slash-separated
	kind string // file, exec or link
	// sum is the hash of the content, or of a symlink's target.
	sum [sha256.Size]byte
}

// scan reads all files. It returns an error if they can't be read or exceed the limits. If the
// plugin is under development (it has no marketplace), packages installed in its directory are
// not part of it.
func scan(root *os.Root, id ID) (*tree, error) {
	t := &tree{}
	s := &scanner{root: root, tree: t, hash: sha256.New(), developed: id.Market == ""}
	if err := s.folder(".", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(t.files, func(a, b treeFile) int { return strings.Compare(a.name, b.name) })
	slices.Sort(t.links)
	slices.Sort(t.escapes)
	return t, nil
}

// CheckLinks returns an error if a directory can't be installed as a plugin because it has a
// symlink that is dangling or leads out of it.
func CheckLinks(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return err
		}
		if _, err := root.Stat(filepath.FromSlash(name)); err != nil {
			return linkError(name)
		}
		return nil
	})
}

// linkError returns the error for a plugin with an escaping symlink.
func linkError(name string) error {
	return fmt.Errorf("%s is a link that leads out of the plugin, or nowhere: it is not installed", name)
}

type scanner struct {
	root      *os.Root
	tree      *tree
	hash      hash.Hash
	entries   int
	developed bool
}

// folder reads the files in a directory and below.
func (s *scanner) folder(name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: folders are nested more than %d deep", name, maxDepth)
	}
	dir, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(512)
		for _, e := range entries {
			if strings.EqualFold(e.Name(), ".git") || s.developed && e.IsDir() && e.Name() == "node_modules" {
				continue
			}
			if s.entries++; s.entries > MaxFiles {
				return fmt.Errorf("it has more than %d files: remove files that do not belong to the plugin", MaxFiles)
			}
			if err := s.entry(path.Join(name, e.Name()), e.Type(), depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *scanner) entry(name string, mode fs.FileMode, depth int) error {
	switch {
	case mode.IsDir():
		return s.folder(name, depth+1)
	case mode&fs.ModeSymlink != 0:
		target, err := s.root.Readlink(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		s.tree.links = append(s.tree.links, name)
		if _, err := s.root.Stat(filepath.FromSlash(name)); err != nil {
			s.tree.escapes = append(s.tree.escapes, name)
		}
		s.tree.files = append(s.tree.files, treeFile{name, "link", sha256.Sum256([]byte(target))})
		return nil
	case mode.IsRegular():
		return s.file(name)
	}
	return fmt.Errorf("%s: it is neither a file, a folder nor a link", name)
}

func (s *scanner) file(name string) error {
	file, err := s.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: it is not a regular file", name)
	}
	s.hash.Reset()
	n, err := io.Copy(s.hash, io.LimitReader(file, MaxTree-s.tree.bytes+1))
	if err != nil {
		return err
	}
	if s.tree.bytes += n; s.tree.bytes > MaxTree {
		return fmt.Errorf("its files have more than %d MB", MaxTree>>20)
	}
	f := treeFile{name: name, kind: kindOf(info.Mode())}
	s.hash.Sum(f.sum[:0])
	s.tree.files = append(s.tree.files, f)
	return nil
}

// kindOf returns a file's kind, from the mode bits that git preserves.
func kindOf(mode fs.FileMode) string {
	if mode&0o100 != 0 {
		return "exec"
	}
	return "file"
}

// hash returns the hash of all files, with their names, kinds and symlink targets.
func (t *tree) hash() string {
	h := sha256.New()
	for _, f := range t.files {
		fmt.Fprintf(h, "%s %d %s %x\n", f.kind, len(f.name), f.name, f.sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// under returns the first of names that is name or inside it, or "".
func under(names []string, name string) string {
	for _, n := range names {
		if name == "." || n == name || strings.HasPrefix(n, name+"/") {
			return n
		}
	}
	return ""
}
