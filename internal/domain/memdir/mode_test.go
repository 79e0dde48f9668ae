package memdir

import (
	"os"
	"path/filepath"
	"testing"
)

// Proves MEM-55.
func TestMode(t *testing.T) {
	linked := folder(t, "a.md", "x")
	if err := os.Symlink(t.TempDir(), linked.Path("team")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		folder Folder
		want   Mode
	}{
		"a team comes before plain":       {folder(t, "team/a.md", "x"), Team},
		"plain":                           {folder(t, "a.md", "x"), Auto},
		"not there yet":                   {Folder{filepath.Join(t.TempDir(), "none")}, Auto},
		"a link is not the team's folder": {linked, Auto},
	}
	for name, tt := range tests {
		if got := tt.folder.Mode(); got != tt.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}
