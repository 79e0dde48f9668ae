package contacts

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Proves X-145.
func TestAdd(t *testing.T) {
	Add("b.example", Web)
	Add("A.example:8080", "")
	Add("b.example", Web)
	Add("b.example", Model)
	got, left := List()
	want := []Contact{{"a.example:8080", Other, 1}, {"b.example", Model, 1}, {"b.example", Web, 2}}
	less := func(a, b Contact) bool { return a.For < b.For }
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(less)); diff != "" || left != 0 {
		t.Error(diff, left)
	}
	for i := range maxHosts {
		Add(fmt.Sprint(i), Commands)
	}
	Add("b.example", Web)
	got, left = List()
	if len(got) != maxHosts || left != 3 {
		t.Errorf("%d are remembered, %d are not", len(got), left)
	}
	if last := got[len(got)-1]; last != (Contact{"b.example", Web, 3}) {
		t.Errorf("%v: a known host is still counted", last)
	}
}
