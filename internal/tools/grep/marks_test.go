package grep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool"
)

// TestMarks checks that the user sees the files and the matching parts of lines.
//
// Proves TOOL-17.
func TestMarks(t *testing.T) {
	dir := fixture(t, map[string]string{"cart.go": "a\nx.Round(y.Round())\nb\n", "tax.go": "round\nRound(\n"})
	tl := in(t, dir, nil)
	for _, tt := range []struct {
		input string
		want  tool.List
	}{
		{`{"pattern":"Round\\(","output_mode":"content","-B":1}`, tool.List{
			Items: []string{"cart.go-1-a", "cart.go:2:x.Round(y.Round())", "--", "tax.go-1-round", "tax.go:2:Round("},
			Total: 4, Unit: "lines", Files: []string{"cart.go", "tax.go"},
			Marks: [][]tool.Mark{nil, {{From: 12, To: 18}, {From: 20, To: 26}}, nil, nil, {{From: 9, To: 15}}},
		}},
		{`{"pattern":"x*","output_mode":"content","-n":false,"glob":"cart*","head_limit":2}`, tool.List{
			Items: []string{"cart.go:a", "cart.go:x.Round(y.Round())"}, Total: 2, Unit: "lines", Files: []string{"cart.go"},
			Marks: [][]tool.Mark{nil, {{From: 8, To: 9}}},
		}},
		{`{"pattern":"Round"}`, tool.List{Items: []string{"cart.go", "tax.go"}, Total: 2, Unit: "files"}},
	} {
		_, res := run(t, tl, tt.input)
		if diff := cmp.Diff(tt.want, res.Display); diff != "" {
			t.Errorf("%s:\n%s", tt.input, diff)
		}
	}
	call, err := tl.Bind([]byte(`{"pattern":"Round","glob":"*.go"}`))
	if err != nil {
		t.Fatal(err)
	}
	if verb, object := tool.PastOf(Name, call); verb != "Searched" || object != "Round in *.go" {
		t.Errorf("%q %q", verb, object)
	}
}
