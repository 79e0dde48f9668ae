//go:build unix

package read

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/text/pdf"
	"adze/internal/tool"
)

// seeing returns the tool for a model with image support.
func seeing(d string) tool.Tool { return New(Config{Dir: func() string { return d }, Images: yes}) }

func codeOf(err error) int {
	var coded *tool.Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return 0
}

// Proves READ-01.
func TestGates(t *testing.T) {
	denied := func(path string) bool { return strings.HasPrefix(path, "/nowhere/secret") }
	tl := New(Config{Dir: func() string { return "/nowhere" }, Denied: denied})
	tests := []struct {
		name, input string
		code        int
		want        string
	}{
		{"malformed pages", `{"file_path":"a.pdf","pages":"5-2"}`, codePages, `pages is "5-2"`},
		{"malformed pages come first", `{"file_path":"/dev/zero","pages":"a"}`, codePages, `pages is "a"`},
		{"too many pages", `{"file_path":"secret/a.pdf","pages":"1-30"}`, codeTooMany, `pages is "1-30", which is 30 pages: ask for at most 20`},
		{"denied", `{"file_path":"secret/a.exe"}`, codeDenied, "/nowhere/secret/a.exe"},
		{"denied, roundabout", `{"file_path":"x/../secret"}`, codeDenied, "permission rule"},
		{"binary", `{"file_path":"a.exe"}`, codeBinary, ".exe"},
		{"device", `{"file_path":"/dev/zero"}`, codeDevice, "/dev/zero"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// The directory does not exist, so accessing the disk would fail.
			_, err := tl.Bind(json.RawMessage(tt.input))
			if codeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("code %d, %v; want %d, %s", codeOf(err), err, tt.code, tt.want)
			}
		})
	}
	if _, err := tl.Bind(json.RawMessage(`{"file_path":"//host/share/x"}`)); err != nil {
		t.Errorf("a share is for the permission rules: %v", err)
	}
	d := dir(t, map[string]string{"a.txt": "x"})
	if _, err := run(t, in(d), `{"file_path":"a.txt","pages":"1"}`); codeOf(err) != codePages || !strings.Contains(err.Error(), "PDF documents only") {
		t.Errorf("pages of a text: %v", err)
	}
}

// Proves READ-04, IMG-01, X-152.
func TestDispatch(t *testing.T) {
	picture, photo := string(pngOf(t, 3, 2)), string(jpegOf(t, 5, 4))
	d := dir(t, map[string]string{
		"a.txt": "text", "A.PNG": picture, "b.jpeg": photo, "n.IPYNB": notebookOf("1"), "d.Pdf": pdfOf("x"), "noext": "text",
		"picture.txt": picture, "photo.png": photo, "picture.pdf": picture, "document.txt": pdfOf("x"), "document.png": pdfOf("x"), "picture.ipynb": picture,
		"text.png": "hello", "empty.png": "", "text.pdf": "hello", "cut.png": picture[:len(picture)-20], "program.txt": "\x7fELF\x00\x01",
	})
	tests := []struct{ file, kind, media, err string }{
		{"a.txt", "text", "", ""},
		{"noext", "text", "", ""},
		{"A.PNG", "image", "image/png", ""},
		{"b.jpeg", "image", "image/jpeg", ""},
		{"n.IPYNB", "notebook", "", ""},
		{"d.Pdf", "pdf", "", ""},
		{"picture.txt", "image", "image/png", ""},
		{"photo.png", "image", "image/jpeg", ""},
		{"picture.pdf", "image", "image/png", ""},
		{"picture.ipynb", "image", "image/png", ""},
		{"document.txt", "pdf", "", ""},
		{"document.png", "pdf", "", ""},
		{"text.png", "text", "", ""},
		{"empty.png", "", "", "the picture is empty: it has 0 bytes"},
		{"cut.png", "", "", "the PNG picture is damaged"},
		{"text.pdf", "", "", "this is not a PDF document"},
		{"program.txt", "", "", "it contains null bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			res, err := run(t, seeing(d), string(input(tt.file)))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Structured.(Output).Type; got != tt.kind {
				t.Errorf("read as %s, want %s", got, tt.kind)
			}
			if img, ok := res.Parts[0].(*msg.Image); ok != (tt.media != "") || ok && img.MediaType != tt.media {
				t.Errorf("delivered as %T %v", res.Parts[0], img)
			}
		})
	}
}

// Proves READ-07.
func TestSuggestionsRespectRules(t *testing.T) {
	d := dir(t, map[string]string{"src/a.tsx": "x", "src/a.zz": "x", "lib/b.go": "x"})
	open := New(Config{Dir: func() string { return d }})
	closed := New(Config{Dir: func() string { return d }, Denied: func(path string) bool {
		return strings.HasSuffix(path, ".tsx") || strings.Contains(path, "/lib/")
	}})
	for missing, near := range map[string]string{"src/a.ts": "src/a.tsx", "other/lib/b.go": "lib/b.go"} {
		near = "mean " + near
		if _, err := run(t, open, string(input(missing))); err == nil || !strings.Contains(err.Error(), near) || !strings.Contains(err.Error(), d) {
			t.Errorf("%s: %v", missing, err)
		}
		if _, err := run(t, closed, string(input(missing))); err == nil || strings.Contains(err.Error(), near) {
			t.Errorf("%s, with rules: %v", missing, err)
		}
	}
	if _, err := run(t, closed, `{"file_path":"src/a.ts"}`); err == nil || !strings.Contains(err.Error(), "src/a.zz") {
		t.Errorf("the candidate that may be read is not mentioned: %v", err)
	}
}

// Proves READ-08, X-139.
func TestScreenshotNames(t *testing.T) {
	const narrow, plain = "Shot at 9.41.00\u202fAM", "Shot at 9.41.00 AM"
	for _, ext := range []string{".png", ".jpg"} {
		for stored, typed := range map[string]string{narrow: plain, plain: narrow, strings.ToLower(narrow): strings.ToLower(plain)} {
			d := dir(t, map[string]string{stored + ext: string(pngOf(t, 3, 2))})
			res, err := run(t, seeing(d), string(input(typed+ext)))
			if err != nil {
				t.Fatalf("%q for %q: %v", typed, stored, err)
			}
			if got := res.Structured.(Output).File.(imageOutput).FilePath; got != filepath.Join(d, stored+ext) {
				t.Errorf("opened %q", got)
			}
		}
	}
	d := dir(t, map[string]string{narrow + ".png": string(pngOf(t, 3, 2))})
	call, err := seeing(d).Bind(input(plain + ".png"))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := tool.As[tool.Accesser](call)
	want := []tool.Access{{Verb: tool.Read, Target: plain + ".png"}, {Verb: tool.Read, Target: filepath.Join(d, narrow+".png")}}
	if diff := cmp.Diff(want, a.Access()); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
	ruled := New(Config{Dir: func() string { return d }, Images: yes, Denied: func(path string) bool { return strings.Contains(path, "\u202f") }})
	if _, err := run(t, ruled, string(input(plain+".png"))); err == nil || !strings.Contains(err.Error(), plain+".png does not exist") {
		t.Errorf("a denied spelling: %v", err)
	}
	if _, err := run(t, seeing(d), string(input("Other 1 PM.png"))); err == nil || !strings.Contains(err.Error(), "Other 1 PM.png does not exist") {
		t.Errorf("both missing: %v", err)
	}
	for _, name := range []string{"a AM.txt", "AM.png", "a.png", "xAM.png"} {
		if twin := screenshotTwin(name); twin != "" {
			t.Errorf("%s has the twin %q", name, twin)
		}
	}
}

// Proves IMG-02.
func TestImageResult(t *testing.T) {
	d := dir(t, map[string]string{"wide.png": string(pngOf(t, 4000, 1000)), "small.png": string(pngOf(t, 30, 20))})
	for file, want := range map[string]struct {
		text string
		dims dimensions
	}{
		"wide.png":  {"PNG image, 4000x1000 pixels, shown at 2000x500: multiply coordinates by 2 to find them in the file.", dimensions{4000, 1000, 2000, 500}},
		"small.png": {"PNG image, 30x20 pixels.", dimensions{30, 20, 30, 20}},
	} {
		res, err := run(t, seeing(d), string(input(file)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.text, msg.PlainText(res.Parts)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.dims, res.Structured.(Output).File.(imageOutput).Dimensions); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Proves IMG-02.
func TestImageIsOpenedOnce(t *testing.T) {
	d := dir(t, map[string]string{"p.png": string(pngOf(t, 3000, 100))})
	path := filepath.Join(d, "p.png")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // opening it again would fail
		t.Fatal(err)
	}
	r := &fileRead{&call{reader: &reader{Config: Config{Images: yes, MaxTokens: 1000, MaxBytes: 1}}}, path, path, f, info}
	if res, err := r.read(t.Context()); err != nil || res.Structured.(Output).File.(imageOutput).Dimensions.DisplayWidth != 2000 {
		t.Errorf("got %+v, %v", res.Structured, err)
	}
}

// Proves IMG-03.
func TestTextOnlyModel(t *testing.T) {
	d := dir(t, map[string]string{"p.png": string(pngOf(t, 30, 20)), "s.pdf": scannedPDF(t)})
	s := filestate.New()
	res, err := run(t, New(Config{Dir: func() string { return d }, State: s}), `{"file_path":"p.png"}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Parts) != 1 || !strings.Contains(msg.PlainText(res.Parts), "PNG image, 30x20 pixels") {
		t.Errorf("got %v", msg.PlainText(res.Parts))
	}
	if _, ok := s.Get(filepath.Join(d, "p.png")); ok {
		t.Error("a picture that was not shown counts as read")
	}
	res, err = run(t, in(d), `{"file_path":"s.pdf"}`)
	if err != nil || len(res.Parts) != 1 || !strings.Contains(msg.PlainText(res.Parts), "the model in use takes none") {
		t.Errorf("a scanned page: %v, %v", msg.PlainText(res.Parts), err)
	}
}

// Proves NB-01.
func TestNotebook(t *testing.T) {
	nb := `{"cells":[{"id":"a","cell_type":"markdown","source":"# T"},{"cell_type":"code","source":["x = 1\n","x"],"outputs":[
{"output_type":"stream","text":"out\n"},{"output_type":"display_data","data":{"image/png":"` + base64Of(pngOf(t, 3, 2)) + `"}},
{"output_type":"stream","text":"` + strings.Repeat("y", 20) + `"}]},{"id":"big","cell_type":"code","source":"z","outputs":[{"output_type":"stream","text":"` + strings.Repeat("z", 10_001) + `"}]}],
"metadata":{"language_info":{"name":"julia"}}}`
	d := dir(t, map[string]string{"n.ipynb": nb, "cut.ipynb": nb[:100], "none.ipynb": `{"a":1}`, "large.ipynb": notebookOf(strings.Repeat("x", 300<<10)), "long.ipynb": notebookOf(strings.Repeat("x", 60_000))})
	res, err := run(t, seeing(d), `{"file_path":"n.ipynb"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `<cell id="a" type="markdown">
# T
</cell>

<cell id="cell-1" type="code" language="julia">
x = 1
x
</cell>
<output>
out
</output>
|image/png|<output>
yyyyyyyyyyyyyyyyyyyy
</output>

<cell id="big" type="code" language="julia">
z
</cell>
<output>10001 characters are left out. See them with: jq '.cells[2].outputs' '` + d + `/n.ipynb'</output>
`
	var got strings.Builder
	for _, p := range res.Parts {
		switch p := p.(type) {
		case *msg.Text:
			got.WriteString(p.Text)
		case *msg.Image:
			got.WriteString("|" + p.MediaType + "|")
		}
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for file, want := range map[string]string{
		"cut.ipynb":   "line 1, column 100: unexpected end of JSON input",
		"none.ipynb":  "line 1, column 1: no list of cells",
		"large.ipynb": "at most 262144 are read at once. Look at single cells with a shell command such as jq.",
		"long.ipynb":  "this would be about 30018 tokens",
	} {
		if _, err := run(t, seeing(d), string(input(file))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
	if got := outputType(t, seeing(d), `{"file_path":"cut.ipynb","offset":1,"limit":1}`); got != "text" {
		t.Errorf("lines of a notebook are %s", got)
	}
}

func base64Of(data []byte) string {
	out, _ := json.Marshal(data) // ok: always marshals
	return strings.Trim(string(out), `"`)
}

// pagesOf returns a document of n pages, each with its number.
func pagesOf(n int) string {
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("page-%d", i+1))
	}
	return pdfOf(texts...)
}

// Proves PDF-01, PDF-02.
func TestPDF(t *testing.T) {
	d := dir(t, map[string]string{
		"two.pdf": pagesOf(2), "ten.pdf": pagesOf(10), "eleven.pdf": pagesOf(11), "forty.pdf": pagesOf(40),
		"locked.pdf": strings.Replace(pagesOf(1), "/Root 1 0 R", "/Root 1 0 R/Encrypt 9 0 R", 1), "broken.pdf": "%PDF-1.4\nnothing",
		"large.pdf": pdfOf(strings.Repeat("(x)", 9), strings.Repeat("word ", 30_000)),
	})
	tests := []struct {
		name, file, pages string
		first, count      int
		code              int
		want              string // expected in the error or the text
	}{
		{"small", "two.pdf", "", 1, 2, 0, "[page 1 of 2]\npage-1\n\n[page 2 of 2]\npage-2"},
		{"just small enough", "ten.pdf", "", 1, 10, 0, "page-10"},
		{"one page", "forty.pdf", "3", 3, 1, 0, "[page 3 of 40]\npage-3"},
		{"several", "forty.pdf", "1-5", 1, 5, 0, "page-5"},
		{"to the end", "eleven.pdf", "10-", 10, 2, 0, "page-11"},
		{"cut", "eleven.pdf", "10-15", 10, 2, 0, "(The document has only 11 pages.)"},
		{"too many without asking", "eleven.pdf", "", 0, 0, 0, `has 11 pages, and at most 10 are read at once by default. Give pages, such as "1-10".`},
		{"too many", "forty.pdf", "1-30", 0, 0, codeTooMany, `pages is "1-30", which is 30 pages`},
		{"too many to the end", "forty.pdf", "10-", 0, 0, codeTooMany, `pages is "10-", which is 31 pages`},
		{"reversed", "two.pdf", "5-2", 0, 0, codePages, `pages is "5-2"`},
		{"zero", "two.pdf", "0", 0, 0, codePages, `pages is "0"`},
		{"no number", "two.pdf", "a", 0, 0, codePages, `pages is "a"`},
		{"past the end", "two.pdf", "3", 0, 0, 0, "has only 2 pages"},
		{"encrypted", "locked.pdf", "", 0, 0, 0, "the PDF document is encrypted, and cannot be opened without a password. Ask the user"},
		{"damaged", "broken.pdf", "", 0, 0, 0, "the PDF document is damaged: no pages were found in it. Try to repair"},
		{"too much text", "large.pdf", "", 0, 0, 0, "tokens; one read returns at most 25000. Ask for fewer pages."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call, err := json.Marshal(Input{FilePath: tt.file, Pages: tt.pages})
			if err != nil {
				t.Fatal(err)
			}
			res, err := run(t, in(d), string(call))
			if tt.count == 0 {
				if err == nil || codeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("code %d, %v; want %d, %s", codeOf(err), err, tt.code, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := msg.PlainText(res.Parts); !strings.Contains(text, tt.want) {
				t.Errorf("got %s, want %s", text, tt.want)
			}
			got := res.Structured.(Output).File.(pdfOutput)
			if got.FirstPage != tt.first || got.Count != tt.count {
				t.Errorf("delivered %+v", got)
			}
		})
	}
}

// Proves PDF-02.
func TestPDFDelivery(t *testing.T) {
	d := dir(t, map[string]string{"two.pdf": pagesOf(2), "forty.pdf": pagesOf(40), "scan.pdf": scannedPDF(t)})
	deliver := func(c Config, input string) tool.Result {
		t.Helper()
		c.Dir = func() string { return d }
		res, err := run(t, New(c), input)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	t.Run("document", func(t *testing.T) {
		res := deliver(Config{Documents: yes, Images: yes}, `{"file_path":"two.pdf"}`)
		want := &msg.Document{MediaType: "application/pdf", Title: "two.pdf", Data: []byte(pagesOf(2))}
		if diff := cmp.Diff([]msg.Part{want}, res.Parts); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	// R3 of the second review: damaged documents that others would have to repair are
	// rewritten.
	t.Run("repaired", func(t *testing.T) {
		for name, data := range map[string]string{"before.pdf": "\r\n\r\n" + pagesOf(2), "table.pdf": strings.Replace(pagesOf(2), "startxref\n", "startxref\n9", 1)} {
			if err := os.WriteFile(filepath.Join(d, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			res := deliver(Config{Documents: yes}, `{"file_path":"`+name+`"}`)
			doc, ok := res.Parts[0].(*msg.Document)
			if !ok || !bytes.HasPrefix(doc.Data, []byte("%PDF-")) {
				t.Fatalf("%s: delivered as %T", name, res.Parts[0])
			}
			part, err := pdf.Open(t.Context(), doc.Data)
			if err != nil || !part.Sound() || part.Pages() != 2 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("pages as a document", func(t *testing.T) {
		res := deliver(Config{Documents: yes}, `{"file_path":"forty.pdf","pages":"7-8"}`)
		part, err := pdf.Open(t.Context(), res.Parts[0].(*msg.Document).Data)
		if err != nil || part.Pages() != 2 {
			t.Fatalf("%v", err)
		}
		if text, err := part.Text(t.Context(), 1); err != nil || text != "page-7" {
			t.Errorf("the first page is %q, %v", text, err)
		}
	})
	t.Run("pictures", func(t *testing.T) {
		res := deliver(Config{Images: yes}, `{"file_path":"scan.pdf"}`)
		if res.Structured.(Output).Type != "parts" || len(res.Parts) != 2 || !bytes.Equal(res.Parts[1].(*msg.Image).Data, jpegOf(t, 30, 40)) {
			t.Errorf("got %v", res.Parts)
		}
	})
	t.Run("text", func(t *testing.T) {
		res := deliver(Config{}, `{"file_path":"two.pdf"}`)
		if diff := cmp.Diff([]msg.Part{&msg.Text{Text: "[page 1 of 2]\npage-1\n\n[page 2 of 2]\npage-2\n\n"}}, res.Parts); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("too large for a document", func(t *testing.T) {
		large := writePDF(append(pdfObjects("page-1"), strings.Repeat("%"+strings.Repeat("x", 1023)+"\n", maxDocument>>10)+"null")...)
		if err := os.WriteFile(filepath.Join(d, "large.pdf"), []byte(large), 0o600); err != nil {
			t.Fatal(err)
		}
		res := deliver(Config{Documents: yes}, `{"file_path":"large.pdf"}`)
		if _, ok := res.Parts[0].(*msg.Text); !ok {
			t.Errorf("delivered as %T", res.Parts[0])
		}
	})
}
