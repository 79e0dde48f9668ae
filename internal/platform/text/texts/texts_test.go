package texts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCatalogue(t *testing.T) {
	c := New("A comment.\n-- greet --\nHello {},\n\n# you\n-- bye --\n  Bye. \n-- empty --\n", "-- greet --\n你好，{}\n")
	for _, tt := range []struct {
		language   Language
		name, want string
	}{
		{English, "greet", "Hello {},\n\n# you"},
		{Chinese, "greet", "你好，{}"},
		{Chinese, "bye", "Bye."},
		{"xx", "greet", "Hello {},\n\n# you"},
		{English, "empty", ""},
	} {
		if got := c.Text(tt.language, tt.name); got != tt.want {
			t.Errorf("%s %s: %q", tt.language, tt.name, got)
		}
	}
	if got := c.Text(Chinese, "greet", "{}"); got != "你好，{}" {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a text that nobody wrote is found")
		}
	}()
	c.Text(English, "nothing")
}

func TestCheck(t *testing.T) {
	c := New("-- a --\n{} x\n-- b --\nx\n-- c --\nx", "-- a --\nx\n-- c --\nx\n-- d --\nx")
	want := []string{"a has other gaps in Chinese", "d is missing in English"}
	if diff := cmp.Diff(want, c.Check()); diff != "" {
		t.Error(diff)
	}
}

func TestFill(t *testing.T) {
	if got := Fill("a {} b {} c {}", "{}", "2"); got != "a {} b 2 c {}" {
		t.Error(got)
	}
}
