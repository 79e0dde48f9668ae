package edit

import (
	"slices"
	"strings"
	"testing"

	"adze/internal/ui/keys"
	"github.com/google/go-cmp/cmp"
)

// TestImages checks that an image is one character, shown by its size, sent with the text, and
// restored from drafts and the history.
//
// Proves X-120.
func TestImages(t *testing.T) {
	one := Image{MediaType: "image/png", Width: 1280, Height: 720, Path: "/drafts/one"}
	two := Image{MediaType: "image/jpeg", Width: 8, Height: 9, Path: "/drafts/two"}
	p := newTypist()
	p.types("see ")
	p.Attach(one)
	p.types(" and /tmp/two.jpg now")
	if !p.AttachFor("/tmp/two.jpg", two) || p.AttachFor("/tmp/two.jpg", two) {
		t.Error("a picture takes the place of its path, once")
	}
	p.types("!")
	const text = "see [Image #1 1280x720] and [Image #2 8x9] now!"
	rows, _, col := p.Rows(80, 0)
	if diff := cmp.Diff([]string{"> " + text}, rows); diff != "" || col != len(rows[0]) {
		t.Errorf("%d: %s", col, diff)
	}
	if diff := cmp.Diff([]Image{one, two}, p.Images()); p.Text() != text || diff != "" {
		t.Errorf("sent as %q, %s", p.Text(), diff)
	}
	q := newTypist()
	if err := q.Load(p.Save()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Image{one, two}, q.Images()); q.Text() != text || diff != "" {
		t.Errorf("brought back as %q, %s", q.Text(), diff)
	}
	p.types("\x01\x1bf\x06") // before the first image
	if got := p.types("\r"); !slices.Equal(got, []keys.Action{keys.Submit}) || len(p.Images()) != 2 {
		t.Errorf("Enter before a picture: %v", got)
	}
	p.types("\x1b[3~")
	if diff := cmp.Diff([]Image{two}, p.Images()); diff != "" {
		t.Errorf("deleted like a character: %s", diff)
	}
	p.types("\x1f")
	p.Clear()
	p.Remember(text)
	p.types("\x1b[A")
	if diff := cmp.Diff([]Image{one, two}, p.Images()); p.Text() != text || diff != "" {
		t.Errorf("called back as %q, %s", p.Text(), diff)
	}
}

// TestRevise checks that images survive external editing and reordering, and that images with
// deleted labels are removed.
//
// Proves X-120.
func TestRevise(t *testing.T) {
	one, two := Image{Width: 1, Height: 2, Path: "one"}, Image{Width: 3, Height: 4, Path: "two"}
	p := newTypist()
	p.types("see ")
	p.Attach(one)
	p.Attach(two)
	for _, tt := range []struct {
		text string
		want []Image
	}{
		{"[Image #2 3x4] is better\nthan [Image #1 1x2], [Image #1 1x2] or [Image #3 1x2]", []Image{two, one}},
		{"only [Image #2 3x4]", []Image{two}},
		{"", nil},
	} {
		p.Revise(tt.text)
		if diff := cmp.Diff(tt.want, p.Images()); p.Text() != tt.text || diff != "" {
			t.Errorf("%q is %q, %s", tt.text, p.Text(), diff)
		}
	}
	p.types("\x1f\x1f\x1f")
	if diff := cmp.Diff([]Image{one, two}, p.Images()); p.Text() != "see [Image #1 1x2][Image #2 3x4]" || diff != "" {
		t.Errorf("undone, it is %q, %s", p.Text(), diff)
	}
}

// TestImageForPath checks that the caret keeps its position when a path before, after or around
// it becomes an image.
func TestImageForPath(t *testing.T) {
	for _, tt := range []struct{ name, keys, want string }{
		{"before", "a /x.png b", "a [Image #1 1x1] b|"},
		{"after", "a /x.png b\x01", "|a [Image #1 1x1] b"},
		{"around", "a /x.png b\x01\x1bf\x06\x06\x06", "a [Image #1 1x1]| b"},
		{"another line", "a /x.png\nb", "a [Image #1 1x1]\nb|"},
	} {
		p := newTypist()
		p.types(tt.keys)
		p.AttachFor("/x.png", Image{Width: 1, Height: 1})
		p.types("|")
		if got := p.Text(); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestBefore checks reading and replacing the text before the caret in a text of any length.
func TestBefore(t *testing.T) {
	p := newTypist()
	p.types("see @ma now\x1bb\x1b[D")
	before, whole := p.Before()
	if before != "see @ma" || !whole {
		t.Errorf("%q, %v", before, whole)
	}
	p.Replace(3, "@main.go ")
	if got := p.Text(); got != "see @main.go  now" {
		t.Errorf("%q", got)
	}
	p.Set(strings.Repeat("é", 10_000))
	if before, whole := p.Before(); before != strings.Repeat("é", replaceable) || whole {
		t.Errorf("%d bytes, %v", len(before), whole)
	}
	p.Set("a\nb")
	if before, whole := p.Before(); before != "b" || whole {
		t.Errorf("%q, %v", before, whole)
	}
}
