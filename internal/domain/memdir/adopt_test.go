package memdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Proves MEM-03.
func TestAdopt(t *testing.T) {
	theirs := folder(t,
		"a.md", matter("A", "x", "user"), "deep/b.md", matter("B", "y", "project"),
		"key.md", "AKIAQ7RSTUVWXYZ2K4L9", "binary.md", "\x00", "large.md", strings.Repeat("x", maxAdopted+1),
		IndexName, "- [A](a.md) — x\n- [Key](key.md)\n",
	)
	secret := filepath.Join(t.TempDir(), "x.md")
	if err := os.WriteFile(secret, []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, theirs.Path("link.md")); err != nil {
		t.Fatal(err)
	}
	mine := Folder{filepath.Join(t.TempDir(), "memory")}
	if n := mine.Adoptable(theirs); n != 3 {
		t.Errorf("%d can be adopted", n)
	}
	copied, left, err := mine.Adopt(theirs)
	if copied != 2 || len(left) != 4 || err != nil {
		t.Error(copied, left, err)
	}
	if index, err := mine.Index(); index != "- [A](a.md) — x\n- [B](deep/b.md) — y\n" || err != nil {
		t.Errorf("%q, %v", index, err)
	}
	a, _ := mine.Find("a")
	was, _ := theirs.Find("a")
	if info, err := os.Stat(mine.Path("a.md")); err != nil || info.Mode().Perm() != 0o600 || !a.Modified.Equal(was.Modified) {
		t.Error(info, err)
	}
	if mine.Adoptable(theirs) != 0 {
		t.Error("a folder with memories would take over others")
	}
	if (Folder{t.TempDir()}).Adoptable(Folder{"/none"}) != 0 {
		t.Error("there is something to adopt where nothing is")
	}
}
