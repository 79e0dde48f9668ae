package notebook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const png = "\x89PNG\r\n\x1a\n..."

func sample() string {
	return `{"cells":[
 {"id":"intro","cell_type":"markdown","source":["# Title\n","text"]},
 {"cell_type":"code","source":"print(1)\n","outputs":[
  {"output_type":"stream","name":"stdout","text":["1\n","2\n"]},
  {"output_type":"display_data","data":{"text/plain":"<Figure>","image/png":"` + base64.StdEncoding.EncodeToString([]byte(png)) + `\n"}},
  {"output_type":"execute_result","data":{"text/html":"<b>x</b>","text/plain":["x"]}}]},
 {"id":"bad","cell_type":"code","source":[],"outputs":[
  {"output_type":"error","ename":"E","evalue":"v","traceback":["\u001b[0;31mE\u001b[0m: v"]},
  {"output_type":"error","ename":"E","evalue":"v"},
  {"output_type":"display_data","data":{"application/x":{"a":1}}}]}
],"metadata":{"language_info":{"name":"R"}},"nbformat":4,"nbformat_minor":5}`
}

func TestRender(t *testing.T) {
	n, err := Parse([]byte(sample()))
	if err != nil {
		t.Fatal(err)
	}
	want := []Output{
		{Text: `<cell id="intro" type="markdown">
# Title
text
</cell>

<cell id="cell-1" type="code" language="r">
print(1)
</cell>
<output>
1
2
</output>
`},
		{MediaType: "image/png", Data: []byte(png)},
		{Text: `<output>
x
</output>

<cell id="bad" type="code" language="r">
</cell>
<output>
E: v
</output>
<output>
E: v
</output>
<output>
[output of type application/x]
</output>
`},
	}
	if diff := cmp.Diff(want, n.Render("/a/b.ipynb")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRenderLargeOutput(t *testing.T) {
	for _, size := range []int{maxOutput, maxOutput + 1} {
		n, err := Parse(fmt.Appendf(nil, `{"cells":[{"cell_type":"code","source":"x","outputs":[{"output_type":"stream","text":%q}]}]}`, strings.Repeat("é", size)))
		if err != nil {
			t.Fatal(err)
		}
		got := n.Render("/it's.ipynb")[0].Text
		hint := "10001 characters are left out. See them with: jq '.cells[0].outputs' '/it'\\''s.ipynb'"
		if strings.Contains(got, "éé") == strings.Contains(got, hint) || strings.Contains(got, hint) != (size > maxOutput) {
			t.Errorf("%d characters: %.200s", size, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"{\n \"cells\": [\n  {\"x\": }": "line 3, column 9: invalid character '}' looking for beginning of value",
		"{\n \"cells\": [":              "line 2, column 11: unexpected end of JSON input",
		"":                              "line 1, column 1: unexpected end of JSON input",
		"{}":                            "line 1, column 1: no list of cells in it, so it is not a notebook of format 4",
		"[]":                            "line 1, column 1: the file cannot be of the type array",
		"{\"cells\":\n5}":               "line 2, column 1: cells cannot be of the type number",
	} {
		_, err := Parse([]byte(in))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("Parse(%q) = %v, want %s", in, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample()))
	f.Add([]byte(`{"cells":[]}`))
	f.Add([]byte(`{"cells":[{"source":{"a":1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 {
				t.Errorf("Parse(%q) = %v", data, err)
			}
			return
		}
		if len(n.Render("x")) == 0 {
			t.Errorf("%q renders as nothing", data)
		}
	})
}
