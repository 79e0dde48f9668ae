package notebook

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/tooltest"
)

type world struct {
	*change.Files
	t    testing.TB
	root string
}

func newWorld(t testing.TB, content string) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir()}
	w.Files = &change.Files{
		Dir: func() string { return w.root }, Home: func() string { return "" },
		State: filestate.New(), Replacer: replace.New(t.TempDir()),
	}
	if err := os.WriteFile(w.path(), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	w.State.Record(filestate.Entry{Path: w.path(), Hash: sha256.Sum256([]byte(content)), Origin: filestate.Read, Complete: true})
	return w
}

func (w *world) path() string { return filepath.Join(w.root, "a.ipynb") }

func (w *world) run(in Input) (tool.Result, error) {
	w.t.Helper()
	if in.NotebookPath == "" {
		in.NotebookPath = "a.ipynb"
	}
	input, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	call, err := New(Config{w.Files}).Bind(input)
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(w.t.Context(), func(tool.Progress) {})
}

func TestContract(t *testing.T) {
	w := newWorld(t, pretty)
	tooltest.Run(t, New(Config{w.Files}), tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"replace": `{"notebook_path":"a.ipynb","cell_id":"intro","new_source":"x"}`,
			"insert":  `{"notebook_path":"a.ipynb","new_source":"x","cell_type":"code","edit_mode":"insert"}`,
		},
		Dir: w.root,
	})
}

// Proves NB-02, X-002.
func TestRun(t *testing.T) {
	w := newWorld(t, pretty)
	res, err := w.run(Input{CellID: "calc", NewSource: new("print(2)")})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"execution_count": 7`, `"execution_count": null`, "print(1)", "print(2)",
		"[\n    {\"output_type\": \"stream\", \"text\": [\"1\\n\"]}\n   ]", "[]").Replace(pretty)
	got, err := os.ReadFile(w.path())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out := res.Structured.(Output)
	if out.OldSource != "print(1)" || out.NewSource != "print(2)" || out.CellID != "calc" || out.CellType != "code" || out.Language != "python" || *out.OriginalFile != pretty {
		t.Errorf("structured %+v", out)
	}
	if d := res.Display.(tool.Diff); d.Added != 1 || d.Removed != 1 {
		t.Errorf("display %+v", d)
	}

	res, err = w.run(Input{CellID: "intro", NewSource: new("new"), CellType: "code", EditMode: "insert"})
	if err != nil {
		t.Fatal(err)
	}
	id := res.Structured.(Output).CellID
	if len(id) != 8 || !strings.Contains(res.Parts[0].(*msg.Text).Text, "cell "+id) {
		t.Errorf("the new cell is %q", id)
	}
	if _, err := w.run(Input{CellID: id, EditMode: "delete"}); err != nil { // using the generated ID
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(w.path()); string(got) != want {
		t.Errorf("inserting and deleting left a trace:\n%s", cmp.Diff(want, string(got)))
	}

	old := newWorld(t, `{"cells":[],"nbformat":4,"nbformat_minor":4}`)
	if _, err := old.run(Input{NewSource: new("x"), CellType: "markdown", EditMode: "insert"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(old.path()); strings.Contains(string(got), `"id"`) {
		t.Errorf("format 4.4 got an id: %s", got)
	}
}

// Proves NB-02.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name, file string
		in         Input
		code       int
		text       string
	}{
		{"not a notebook", pretty, Input{NotebookPath: "a.py", CellID: "x"}, codeNotNotebook, "change it with Edit"},
		{"unknown mode", pretty, Input{CellID: "intro", EditMode: "move"}, 0, `"replace", "insert", "delete"`},
		{"unknown type", pretty, Input{CellID: "intro", CellType: "raw"}, 0, `"code", "markdown"`},
		{"insert without a type", pretty, Input{CellID: "intro", EditMode: "insert"}, 0, "cell_type is missing"},
		{"no cell named", pretty, Input{NewSource: new("x")}, 0, "cell_id is missing"},
		{"no source", pretty, Input{CellID: "intro"}, 0, "new_source: required"},
		{"no such cell", pretty, Input{EditMode: "delete", CellID: "nobody"}, codeNoCell, "Its cells are intro, calc."},
		{"missing", pretty, Input{NotebookPath: "b.ipynb", EditMode: "delete", CellID: "x"}, change.CodeMissing, "does not exist"},
		{"damaged", "{\"cells\": [\n}", Input{EditMode: "delete", CellID: "x"}, 0, "line 2, column 1"},
		{"no cells", `{"x":1}`, Input{EditMode: "delete", CellID: "x"}, 0, "no list of cells"},
		{"odd cells", `{"cells":[null]}`, Input{EditMode: "delete", CellID: "cell-0"}, 0, "not an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.file)
			_, err := w.run(tt.in)
			var e *tool.Error
			code := 0
			if errors.As(err, &e) {
				code = e.Code
			}
			if err == nil || code != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("code %d: %v", code, err)
			}
			if got, _ := os.ReadFile(w.path()); string(got) != tt.file {
				t.Errorf("and yet it became %s", got)
			}
		})
	}
}
