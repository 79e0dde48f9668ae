package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ExportFile writes a session to a file, which is the user's own and appears only when it is complete.
func ExportFile(path string, info *Info, o ExportOptions) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".export-*") // of mode 0600
	if err != nil {
		return fmt.Errorf("exporting session: %w", err)
	}
	defer os.Remove(tmp.Name()) // ok: gone already, if all went well
	err = errors.Join(Export(tmp, info, o), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}

// FormatOf returns the format that goes with the name of a file.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".htm":
		return HTML
	case ".json":
		return JSON
	}
	return Markdown
}
