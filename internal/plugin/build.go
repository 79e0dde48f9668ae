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

// A Builder writes files that were fetched into an empty folder. Their names mean the same on every system, and nothing is
// written outside of the folder or through a link. With an error the folder is of no use.
type Builder struct {
	root  *os.Root
	names map[string]string // as they are written, by what a system that ignores case takes them for
	links []buildLink
	files int
	bytes int64
}

type buildLink struct{ name, target string }

// NewBuilder makes the folder.
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

// Check returns why a file of this name and size cannot be added, or nil.
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
			return nil // and so are its parents
		}
		file = false
	}
	return nil
}

// foldName returns what a system that tells neither case nor forms of Unicode apart takes a name for.
func foldName(name string) string {
	return norm.NFD.String(strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFD.String(name)))
}

// checkPath returns why a name with slashes cannot be used on every system.
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

// File makes a file, whose name was checked. The caller closes it.
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

// Link adds a link, whose name was checked.
func (b *Builder) Link(name, target string) { b.links = append(b.links, buildLink{name, target}) }

// Close makes the links, after all files, so that no file is written through one.
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

// Copy copies the folder called name of a folder, through no link that leads out of it, to a new folder: that of a plugin to
// be installed.
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
	t, err := scan(root, id) // which keeps the limits
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

// copy copies a file or a link.
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
