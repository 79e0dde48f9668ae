package terminal

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adze/internal/msg"
	"adze/internal/ui/edit"
)

func dot(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPictures checks that a picture is stored in a file only the user can read, and is sent
// from there.
//
// Proves X-120, SESS-62.
func TestPictures(t *testing.T) {
	home := t.TempDir()
	p := OpenPictures(home)
	source := filepath.Join(t.TempDir(), "shot.png")
	if err := os.WriteFile(source, dot(t, 40, 30), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := p.Read(t.Context(), source)
	if err != nil || got.Width != 40 || got.Height != 30 || got.MediaType != "image/png" || got.Data != nil || filepath.Dir(got.Path) != filepath.Join(home, "drafts", "images") {
		t.Fatalf("%+v, %v", got, err)
	}
	if info, err := os.Stat(got.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	os.Remove(source)
	part, err := OpenPictures(home).Part(got)
	if img, ok := part.(*msg.Image); err != nil || !ok || img.MediaType != "image/png" || !bytes.Equal(img.Data, dot(t, 40, 30)) {
		t.Errorf("%v, %v", part, err)
	}
	if kept, err := OpenPictures("").Take(t.Context(), dot(t, 1, 1)); err != nil || kept.Path != "" || kept.Data == nil {
		t.Errorf("without a home: %+v, %v", kept, err)
	} else if _, err := OpenPictures("").Part(kept); err != nil {
		t.Error(err)
	}
}

// TestPicturesRefused checks that invalid, too large, missing and foreign files are rejected.
func TestPicturesRefused(t *testing.T) {
	home := t.TempDir()
	p := OpenPictures(home)
	if _, err := p.Take(t.Context(), []byte("text")); err == nil {
		t.Error("a text was taken")
	}
	dir := t.TempDir()
	if _, err := p.Read(t.Context(), dir); err == nil {
		t.Error("a directory was taken")
	}
	outside := filepath.Join(dir, "secret.png")
	if err := os.WriteFile(outside, dot(t, 1, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"elsewhere": outside, "gone": filepath.Join(home, "drafts", "images", "gone"), "outside": filepath.Join(home, "drafts", "images", "..", "x"), "none": "",
	} {
		if _, err := p.Part(edit.Image{Path: path}); err == nil {
			t.Errorf("%s was sent", name)
		}
	}
}

func TestPicturesAge(t *testing.T) {
	p := OpenPictures(t.TempDir())
	one, err := p.Take(t.Context(), dot(t, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * pictureAge)
	if err := os.Chtimes(one.Path, long, long); err != nil {
		t.Fatal(err)
	}
	two, err := p.Take(t.Context(), dot(t, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(one.Path); !os.IsNotExist(err) {
		t.Error("it is kept for ever")
	}
	if _, err := os.Stat(two.Path); err != nil {
		t.Error(err)
	}
}
