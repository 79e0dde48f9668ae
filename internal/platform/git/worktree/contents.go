package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IncludeFile lists patterns, in the syntax of ignore files, of ignored files that are copied
// into worktrees.
const IncludeFile = ".worktreeinclude"

const (
	// maxCopied limits the number of copied files, and maxBytes their total size.
	maxCopied = 5000
	maxBytes  = 1 << 30
	// maxNotes limits the notes to the user about missing files.
	maxNotes = 10
)

// contents describes the additional contents of a new worktree, apart from the committed files.
type contents struct {
	*repository
	rec    *record
	links  []string
	sparse []string
	copies []string
	notes  []string
	bytes  int64
	files  int
}

func (c *contents) note(format string, args ...any) {
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

// within cleans paths from a setting. It refuses paths that lead out of root.
func within(root string, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		clean := filepath.Clean(filepath.FromSlash(name))
		real, err := filepath.EvalSymlinks(filepath.Join(root, clean))
		switch {
		case name == "" || clean == "." || strings.ContainsAny(name, "\n\r\x00"):
			return nil, fmt.Errorf("%q is not a directory of the repository", name)
		case !filepath.IsLocal(clean):
			return nil, fmt.Errorf("%q leads out of the repository", name)
		case strings.EqualFold(strings.Split(filepath.ToSlash(clean), "/")[0], ".git"):
			return nil, fmt.Errorf("%q is where git keeps its own files", name)
		case err == nil && !contains(root, real):
			return nil, fmt.Errorf("%q leads out of the repository", name)
		}
		if !slices.Contains(all, clean) {
			all = append(all, clean)
		}
	}
	return all, nil
}

// contains reports whether path, which must not contain symlinks, is inside root.
func contains(root, path string) bool {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(real, path)
	return err == nil && filepath.IsLocal(rel)
}

// checkOut writes the committed files. The command does not touch the branch, so if it is
// killed, no lock is left on a branch that the next process deletes.
func (c *contents) checkOut(ctx context.Context) error {
	if len(c.sparse) > 0 {
		if err := c.narrow(ctx); err != nil {
			return err
		}
	}
	_, err := c.ask(ctx, c.rec.Path, checkoutTime, nil, "read-tree", "--reset", "-u", "HEAD")
	return err
}

// narrow sets up a sparse checkout of the wanted directories. It always includes the
// repository's hooks directory.
func (c *contents) narrow(ctx context.Context) error {
	dirs := c.sparse
	if hooks, err := c.hooks(ctx); err != nil {
		return err
	} else if hooks != "" && !slices.Contains(dirs, hooks) {
		dirs = append(slices.Clone(dirs), hooks)
	}
	var input bytes.Buffer
	for _, dir := range dirs {
		fmt.Fprintln(&input, quoted(filepath.ToSlash(dir)))
	}
	return c.exclusively(ctx, func() error {
		_, err := c.ask(ctx, c.rec.Path, askTime, input.Bytes(), "sparse-checkout", "set", "--cone", "--stdin")
		return err
	})
}

// quoted quotes a path as git expects it in a list.
func quoted(path string) string {
	plain := func(c rune) bool { return c >= ' ' && c < 0x7f && c != '"' && c != '\\' }
	if strings.IndexFunc(path, func(c rune) bool { return !plain(c) }) < 0 {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// hooks returns the hooks directory that the repository configures, if it is inside the
// repository, or "".
func (c *contents) hooks(ctx context.Context) (string, error) {
	out, err := c.git(ctx, c.top, "config", "--local", "--get", "core.hooksPath")
	var no *gitError
	if errors.As(err, &no) {
		return "", nil
	}
	dir := filepath.Clean(filepath.FromSlash(strings.TrimSuffix(out, "\n")))
	if err != nil || !filepath.IsLocal(dir) || dir == "." {
		return "", err
	}
	return dir, nil
}

// addExtras adds content that is not in the repository: symlinks to directories, the hooks
// directory, settings files and ignored files to copy.
func (c *contents) addExtras(ctx context.Context) error {
	hooks, err := c.hooks(ctx)
	if err != nil {
		return err
	}
	links := c.links
	if hooks != "" {
		if clean, err := within(c.root, []string{hooks}); err == nil {
			links = append(slices.Clone(links), clean...)
		}
	}
	for _, name := range links {
		if err := c.link(ctx, name); err != nil {
			return fmt.Errorf("linking %s: %w", name, err)
		}
	}
	files, err := c.included(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(c.copies, files) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.copy(name); err != nil {
			return fmt.Errorf("copying %s: %w", name, err)
		}
	}
	if links, err := c.git(ctx, c.rec.Path, "ls-files", "-z", "--", ".gitmodules"); err == nil && links != "" {
		c.note("submodules are not checked out: git submodule update --init does it")
	}
	return nil
}

// link shares a directory of the main working tree with the worktree. It skips a directory that
// does not exist or that the worktree already has.
func (c *contents) link(ctx context.Context, name string) error {
	from, to := filepath.Join(c.root, name), filepath.Join(c.rec.Path, name)
	if info, err := os.Stat(from); err != nil || !info.IsDir() || exists(to) {
		return nil
	}
	if err := c.parent(name); err != nil {
		return err
	}
	if c.ignored(ctx, name) { // the directory is ignored, but a symlink may not be
		if err := c.exclude(from); err != nil {
			return err
		}
	}
	if err := os.Symlink(from, to); err != nil {
		return err
	}
	c.rec.Brought[filepath.ToSlash(name)] = fingerprint{Link: from}
	return nil
}

// ignored reports whether git ignores a path of the main working tree.
func (c *contents) ignored(ctx context.Context, name string) bool {
	_, err := c.git(ctx, c.root, "check-ignore", "--quiet", "--", name)
	return err == nil
}

// parent creates the parent directory of a file in the worktree. It fails if a committed
// symlink leads out of the worktree.
func (c *contents) parent(name string) error {
	tree, err := os.OpenRoot(c.rec.Path)
	if err != nil {
		return err
	}
	defer tree.Close()
	return tree.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o755)
}

// included returns the ignored files to copy.
func (c *contents) included(ctx context.Context) ([]string, error) {
	file := filepath.Join(c.root, IncludeFile)
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		c.note("%s is not a file, and nothing was copied by it", IncludeFile)
		return nil, nil
	}
	out, err := c.git(ctx, c.root, "ls-files", "--others", "--ignored", "-z", "--exclude-from="+file)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(strings.Split(out, "\x00"), func(name string) bool {
		return name == "" || strings.HasSuffix(name, "/") || strings.HasPrefix(name, Folder+"/")
	})
	if len(names) == 0 {
		return nil, nil
	}
	out, err = c.ask(ctx, c.root, askTime, []byte(strings.Join(names, "\x00")), "check-ignore", "-z", "--stdin")
	var no *gitError
	if errors.As(err, &no) && no.message == "" {
		return nil, nil // no file is ignored
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

// copy copies a file of the main working tree into the worktree. It skips a file that does not
// exist, that the worktree already has, or that leads out of the repository.
func (c *contents) copy(name string) error {
	name = filepath.FromSlash(name)
	from, to := filepath.Join(c.root, name), filepath.Join(c.rec.Path, name)
	real, err := filepath.EvalSymlinks(from)
	if errors.Is(err, fs.ErrNotExist) || exists(to) {
		return nil
	}
	if err != nil || !filepath.IsLocal(name) || !contains(c.root, real) {
		c.note("%s was not copied: it leads out of the repository", name)
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case err != nil || !info.Mode().IsRegular():
		c.note("%s was not copied: it is not a file", name)
		return nil
	case c.files >= maxCopied || c.bytes+info.Size() > maxBytes:
		c.note("%s was not copied: at most %d files and %d MB are", name, maxCopied, maxBytes>>20)
		return nil
	}
	if err := c.parent(name); err != nil {
		return err
	}
	hash, err := copyFile(real, to, info)
	if err != nil {
		return err
	}
	c.files, c.bytes = c.files+1, c.bytes+info.Size()
	c.rec.Brought[filepath.ToSlash(name)] = fingerprint{Hash: hash}
	return nil
}

// copyFile copies a file and returns the hash of its content.
func copyFile(from, to string, info fs.FileInfo) (string, error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), io.LimitReader(in, info.Size()))
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, out.Close())
}

// holds reports whether a file that was added to a worktree is unchanged.
func (p fingerprint) holds(path string) bool {
	if p.Link != "" {
		target, err := os.Readlink(path)
		return err == nil && target == p.Link
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	in, err := os.Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	h := sha256.New()
	_, err = io.Copy(h, in)
	return err == nil && hex.EncodeToString(h.Sum(nil)) == p.Hash
}
