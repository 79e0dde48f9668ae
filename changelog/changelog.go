// Package changelog provides the release notes of this version, from the files in its
// directory.
package changelog

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
)

// files holds unreleased, and latest after the first release.
//
//go:embed *
var files embed.FS

// A Note is one release note.
type Note struct {
	// Kind is its category, such as Enhancement.
	Kind, Title, Text string
}

// Notes returns the release notes ordered by file name: unreleased changes or, without any, the
// latest release.
func Notes() ([]Note, error) {
	notes, err := read(files, "unreleased")
	if err == nil && len(notes) == 0 {
		notes, err = read(files, "latest")
	}
	return notes, err
}

// read returns the notes in a directory, which need not exist.
func read(files fs.FS, folder string) ([]Note, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var notes []Note
	for _, e := range entries {
		data, err := fs.ReadFile(files, folder+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		head, text, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
		kind, title, ok := strings.Cut(head, ": ")
		if !ok || strings.HasPrefix(kind, "#") {
			continue // the README
		}
		notes = append(notes, Note{kind, title, strings.Join(strings.Fields(text), " ")})
	}
	return notes, nil
}
