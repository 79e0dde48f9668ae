package paths

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUpwards(t *testing.T) {
	tests := []struct{ name, dir, top, home, want string }{
		{"at the top", "/h/r", "/h/r", "/h", "/h/r"},
		{"below the top", "/h/r/a/b", "/h/r", "/h", "/h/r/a/b /h/r/a /h/r"},
		{"elsewhere", "/srv/r/a", "/srv/r", "/h", "/srv/r/a /srv/r"},
		{"no top", "/h/a/b", "", "/h", "/h/a/b /h/a"},
		{"no top, not below home", "/tmp/a/b", "", "/h", "/tmp/a/b"},
		{"home", "/h", "/h", "/h", ""},
		{"home is the top", "/h/a", "/h", "/h", "/h/a"},
		{"home is below the top", "/h/a", "/", "/h", "/h/a"},
		{"a top that is elsewhere", "/srv/a/b", "/other", "/h", "/srv/a/b"},
		{"no home", "/a/b", "/", "", "/a/b /a /"},
	}
	for _, tt := range tests {
		local := filepath.FromSlash
		var got []string
		for _, dir := range Upwards(local(tt.dir), local(tt.top), local(tt.home)) {
			got = append(got, filepath.ToSlash(dir))
		}
		if !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}
