// Package changelog holds what is new in this version, as it is written in the files beside it.
package changelog

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
)

// files holds unreleased, and latest once there was a release.
//
//go:embed *
var files embed.FS

// A Note is one thing that is new.
type Note struct {
	// Kind is what it is, such as Enhancement.
	Kind, Title, Text string
}

// Notes returns what is new, in the order of the names of the files: what is not released yet, or what the latest
// release has brought.
func Notes() ([]Note, error) {
	notes, err := read(files, "unreleased")
	if err == nil && len(notes) == 0 {
		notes, err = read(files, "latest")
	}
	return notes, err
}

// read returns the notes in a folder, which need not exist.
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
			continue // the file that explains the folder
		}
		notes = append(notes, Note{kind, title, strings.Join(strings.Fields(text), " ")})
	}
	return notes, nil
}
