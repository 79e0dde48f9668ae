package textlist

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func texts(l List) []string {
	all := []string{}
	for i := range l.Len() {
		all = append(all, l.At(i))
	}
	return all
}

func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.String()).Draw(t, "texts")
		if got := texts(Of(want...)); !slices.Equal(got, want) {
			t.Errorf("%q became %q", want, got)
		}
	})
	if List("").Len() != 0 {
		t.Error("there are texts in nothing")
	}
}

// FuzzList checks that a damaged list is safe to use.
func FuzzList(f *testing.F) {
	f.Add(string(Of("a", "", "bc")))
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff")
	f.Add("\x02\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00ab")
	f.Fuzz(func(t *testing.T, data string) {
		for _, text := range texts(List(data)) {
			if !strings.Contains(data, text) {
				t.Errorf("%q is not in %q", text, data)
			}
		}
	})
}
