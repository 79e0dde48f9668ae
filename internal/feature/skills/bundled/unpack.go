package bundled

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// Close removes the unpacked files. Skills with files can't be used afterwards.
func (b *Bundle) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unpacked {
		os.RemoveAll(b.dir) // ok: it is a temporary directory
	}
	b.closed = true
}

// unpack writes all skills' files into the bundle's directory, unless they are already there.
func (b *Bundle) unpack() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errors.New("unpacking the files of skills: the session has ended")
	}
	if b.unpacked {
		if _, err := os.Lstat(b.dir); !errors.Is(err, fs.ErrNotExist) { // old temporary files may have been removed
			return err
		}
	}
	if err := unpackInto(b.dir); err != nil {
		return fmt.Errorf("unpacking the files of skills: %w", err)
	}
	b.unpacked = true
	return nil
}

// unpackInto creates a directory and writes all skills' files into it. It never touches
// existing files: another process may have planted them.
func unpackInto(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// In a directory where others can rename entries, a symlink may have replaced it by now.
	made, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if open, err := root.Stat("."); err != nil || !made.IsDir() || !os.SameFile(made, open) || !fsys.OwnPrivate(open) {
		return fmt.Errorf("%s is not yours alone", dir)
	}
	return writeAll(root)
}

// writeAll writes all skills' files, none of which may exist yet.
func writeAll(root *os.Root) error {
	return fs.WalkDir(skills, "skills", func(name string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, "skills"), "/")
		switch {
		case err != nil || rel == "":
			return err
		case d.IsDir():
			return root.Mkdir(rel, 0o700)
		case path.Dir(rel) == ".": // a prompt
			return nil
		}
		data, err := skills.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(data)
		return errors.Join(err, file.Close())
	})
}
