package bundled

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"adze/internal/platform/fsys"
)

// Close removes what was unpacked. Skills that have files cannot be used afterwards.
func (b *Bundle) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unpacked {
		os.RemoveAll(b.dir) // ok: it is a directory for temporary files
	}
	b.closed = true
}

// unpack writes the files of all skills into the directory of the bundle, unless they are there.
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

// unpackInto makes a directory and writes the files of all skills into it. What is there already is not touched: another
// process may have put it in the way.
func unpackInto(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// Where others may rename things, a link may have taken its place since.
	made, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if open, err := root.Stat("."); err != nil || !made.IsDir() || !os.SameFile(made, open) || !fsys.OwnPrivate(open) {
		return fmt.Errorf("%s is not yours alone", dir)
	}
	return writeAll(root)
}

// writeAll writes the files of all skills, each of which must not be there yet.
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
