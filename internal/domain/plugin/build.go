package plugin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Builder writes fetched files into an empty directory. It accepts only names that are valid
// on every operating system, and never writes outside the directory or through a symlink. After
// an error the directory is unusable.
type Builder struct {
	root  *os.Root
	names map[string]string // original names, keyed by foldName
	links []buildLink
	files int
	bytes int64
}

type buildLink struct{ name, target string }

// NewBuilder creates the directory.
func NewBuilder(dir string) (*Builder, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Builder{root: root, names: map[string]string{}}, nil
}

// Check returns the reason a file of this name and size can't be added, or nil.
func (b *Builder) Check(name string, size int64) error {
	if b.files++; b.files > MaxFiles {
		return fmt.Errorf("there are more than %d files", MaxFiles)
	}
	if b.bytes += size; size < 0 || b.bytes > MaxTree {
		return fmt.Errorf("the files have more than %d MB", MaxTree>>20)
	}
	if err := checkPath(name); err != nil {
		return fmt.Errorf("the name %q cannot be used: %w", name, err)
	}
	if strings.Count(name, "/") > maxDepth {
		return fmt.Errorf("%s: folders are nested more than %d deep", name, maxDepth)
	}
	file := true
	for part := range parents(name) {
		key := foldName(part)
		switch other, there := b.names[key]; {
		case !there:
			b.names[key] = part
		case other != part:
			return fmt.Errorf("some systems cannot tell %q from %q", part, other)
		case file:
			return fmt.Errorf("%q is there twice", part)
		default:
			return nil // parents are already recorded
		}
		file = false
	}
	return nil
}

// foldName returns a key that is equal for names that differ only in case or Unicode
// normalization.
func foldName(name string) string {
	return norm.NFD.String(strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFD.String(name)))
}

// checkPath returns an error if a slash-separated name is not usable on every operating system.
func checkPath(name string) error {
	if !utf8.ValidString(name) {
		return errors.New("it is not valid UTF-8")
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return errEscapes
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\\' {
			return fmt.Errorf("it has the character %U", r)
		}
	}
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		if part == ".git" || part == "git~1" || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return fmt.Errorf("%q stands for something else on some systems", part)
		}
	}
	return nil
}

// File creates a file whose name was checked. The caller closes it.
func (b *Builder) File(name string, executable bool) (io.WriteCloser, error) {
	local := filepath.FromSlash(name)
	if err := b.root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	return b.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// Link records a symlink whose name was checked.
func (b *Builder) Link(name, target string) { b.links = append(b.links, buildLink{name, target}) }

// Close creates the symlinks. It runs after all files are written so that no file is written
// through one.
func (b *Builder) Close() error {
	defer b.root.Close()
	for _, l := range b.links {
		local := filepath.FromSlash(l.name)
		if err := b.root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			return err
		}
		if err := b.root.Symlink(l.target, local); err != nil {
			return err
		}
	}
	return nil
}

// Copy copies directory name inside from to a new directory, as a plugin to be installed. It
// does not follow symlinks that lead out of from.
func Copy(from, name, to string, id ID) error {
	outer, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer outer.Close()
	root, err := outer.OpenRoot(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the marketplace has no folder %s", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, plain(err))
	}
	defer root.Close()
	t, err := scan(root, id) // scan enforces the limits
	if err != nil {
		return err
	}
	b, err := NewBuilder(to)
	if err != nil {
		return err
	}
	for _, f := range t.files {
		if err := b.copy(root, f); err != nil {
			b.root.Close()
			return fmt.Errorf("copying %s: %w", f.name, err)
		}
	}
	return b.Close()
}

// copy copies one file or symlink.
func (b *Builder) copy(root *os.Root, f treeFile) error {
	if err := b.Check(f.name, 0); err != nil {
		return err
	}
	local := filepath.FromSlash(f.name)
	if f.kind == "link" {
		target, err := root.Readlink(local)
		b.Link(f.name, target)
		return err
	}
	in, err := root.OpenFile(local, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := b.File(f.name, f.kind == "exec")
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, MaxTree-b.bytes+1))
	if b.bytes += n; err == nil && b.bytes > MaxTree {
		err = fmt.Errorf("the files have more than %d MB", MaxTree>>20)
	}
	return errors.Join(err, out.Close())
}
