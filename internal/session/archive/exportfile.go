package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// ExportFile writes a session to a file that only the user can access. The file appears only
// when it is complete.
func ExportFile(path string, info *Info, o ExportOptions) error {
	tmp, err := fsys.CreateTemp(filepath.Dir(path), ".export-")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("directory %s does not exist; create it first, or choose another name", filepath.Dir(path))
	case err != nil:
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			err = e.Err // drop the path: it names the temporary file
		}
		return fmt.Errorf("exporting the session to %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // ok: already renamed on success
	err = errors.Join(Export(tmp, info, o), tmp.Close())
	if err == nil {
		err = fsys.Rename(tmp.Name(), path)
	}
	return err
}

// FormatOf returns the format for a file name.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".htm":
		return HTML
	case ".json":
		return JSON
	}
	return Markdown
}
