package changelog

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Proves X-134.
func TestNotes(t *testing.T) {
	made, err := read(fstest.MapFS{
		"latest/README.md": {Data: []byte("# How: so\n\nText.\n")},
		"latest/b":         {Data: []byte("Bugfix: Nothing is lost: never\n\nIt was\nbefore.\n")},
	}, "latest")
	if err != nil || len(made) != 1 || made[0] != (Note{"Bugfix", "Nothing is lost: never", "It was before."}) {
		t.Errorf("%+v, %v", made, err)
	}
	if none, err := read(fstest.MapFS{}, "latest"); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	notes, err := Notes()
	if err != nil || len(notes) == 0 {
		t.Fatal(len(notes), err)
	}
	for _, n := range notes {
		if n.Title == "" || n.Text == "" || strings.Contains(n.Kind, " ") {
			t.Errorf("%+v is not complete", n)
		}
	}
}
