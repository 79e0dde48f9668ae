package read

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Proves READ-11.
func TestOutputAsJSON(t *testing.T) {
	for _, o := range []Output{
		{"text", OutputFile{"/a \"b\"/c", "one\n\ttwo\r\n\x01\x7f<&>\u2028 ä \U0001f600", 2, 3, 40, "abc", []int{3, 4}}},
		{"text", OutputFile{}},
		{"image", imageOutput{FilePath: "/x.png", MediaType: "image/png", OriginalSize: 7, Dimensions: dimensions{1, 2, 3, 4}}},
		{"file_unchanged", unchangedFile{"/x"}},
	} {
		got, err := o.AppendJSON([]byte("before"))
		if err != nil || string(got[:6]) != "before" {
			t.Fatalf("%s, %v", got, err)
		}
		want, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(got[6:], &a); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal(want, &b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(b, a))
		}
	}
}
