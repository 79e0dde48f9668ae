package notebook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pretty = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text é"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "calc",
   "metadata": {"tags": ["a", "source"]},
   "outputs": [
    {"output_type": "stream", "text": ["1\n"]}
   ],
   "source": "print(1)"
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

// Proves NB-02.
func TestCells(t *testing.T) {
	compact := `{"cells":[{"cell_type":"code","source":["a"],"outputs":[1],"execution_count":3}],"nbformat":4,"nbformat_minor":4}`
	crlf := strings.ReplaceAll(pretty, "\n", "\r\n")
	tests := []struct {
		name, file, from, to string
		change               func(*book) []patch
	}{
		{"replace a list", pretty, "[\n    \"# Title\\n\",\n    \"text é\"\n   ]", "[\n    \"new\\n\",\n    \"<é>\"\n   ]",
			func(b *book) []patch { return b.replace(0, "new\n<é>") }},
		{"replace by nothing", pretty, "[\n    \"# Title\\n\",\n    \"text é\"\n   ]", "[]",
			func(b *book) []patch { return b.replace(0, "") }},
		{"replace a string and clear", pretty,
			"\"execution_count\": 7,\n   \"id\": \"calc\",\n   \"metadata\": {\"tags\": [\"a\", \"source\"]},\n   \"outputs\": [\n    {\"output_type\": \"stream\", \"text\": [\"1\\n\"]}\n   ],\n   \"source\": \"print(1)\"",
			"\"execution_count\": null,\n   \"id\": \"calc\",\n   \"metadata\": {\"tags\": [\"a\", \"source\"]},\n   \"outputs\": [],\n   \"source\": \"print(2)\\n\"",
			func(b *book) []patch { return b.replace(1, "print(2)\n") }},
		{"replace on one line", compact, `"source":["a"],"outputs":[1],"execution_count":3`, `"source":["b\n", "c"],"outputs":[],"execution_count":null`,
			func(b *book) []patch { return b.replace(0, "b\nc") }},
		{"replace in a CRLF file", crlf, "[\r\n    \"# Title\\n\",\r\n    \"text é\"\r\n   ]", "[\r\n    \"x\\n\",\r\n    \"y\"\r\n   ]",
			func(b *book) []patch { return b.replace(0, "x\ny") }},
		{"insert at the top", pretty, " \"cells\": [\n  {", " \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"new1\",\n   \"metadata\": {},\n   \"source\": [\n    \"hi\"\n   ]\n  },\n  {",
			func(b *book) []patch { return b.insert(-1, "markdown", "hi", "new1") }},
		{"insert at the end", pretty, "\"print(1)\"\n  }\n", "\"print(1)\"\n  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"new1\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": []\n  }\n",
			func(b *book) []patch { return b.insert(1, "code", "", "new1") }},
		{"insert on one line", compact, `"execution_count":3}]`, `"execution_count":3}, {"cell_type": "markdown", "metadata": {}, "source": ["x"]}]`,
			func(b *book) []patch { return b.insert(0, "markdown", "x", "") }},
		{"insert the first", "{\n  \"cells\": [],\n  \"nbformat\": 4\n}", "[]", "[\n    {\n      \"cell_type\": \"markdown\",\n      \"metadata\": {},\n      \"source\": [\n        \"x\"\n      ]\n    }\n  ]",
			func(b *book) []patch { return b.insert(-1, "markdown", "x", "") }},
		{"delete the first", pretty, pretty[strings.Index(pretty, "{\n   \"cell_type\": \"mark"):strings.Index(pretty, "{\n   \"cell_type\": \"code")], "",
			func(b *book) []patch { return b.remove(0) }},
		{"delete the last", pretty, pretty[strings.Index(pretty, ",\n  {\n   \"cell_type\": \"code"):strings.Index(pretty, "\n ],\n \"metadata\"")], "",
			func(b *book) []patch { return b.remove(1) }},
		{"delete the only one", compact, compact[9:strings.Index(compact, `,"nbformat"`)], "[]",
			func(b *book) []patch { return b.remove(0) }},
		{"another type", pretty, pretty[strings.Index(pretty, "{\n   \"cell_type\": \"code"):strings.Index(pretty, "\n ],\n \"metadata\"")],
			"{\n   \"cell_type\": \"markdown\",\n   \"id\": \"calc\",\n   \"metadata\": {\"tags\": [\"a\", \"source\"]},\n   \"source\": [\n    \"t\"\n   ]\n  }",
			func(b *book) []patch { return b.retype(1, "markdown", "t") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Count(tt.file, tt.from) != 1 {
				t.Fatalf("%q is in the file %d times", tt.from, strings.Count(tt.file, tt.from))
			}
			b, err := open([]byte(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			got := string(bytes.Join(b.apply(tt.change(b)), nil))
			if diff := cmp.Diff(strings.Replace(tt.file, tt.from, tt.to, 1), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}

func TestFind(t *testing.T) {
	b, err := open([]byte(strings.Replace(pretty, `"calc"`, `"cell-0"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"intro": 0, "cell-0": 1, "cell-1": 1, "cell-2": -1, "cell--1": -1, "x": -1, "": -1} {
		got, ok := b.find(id)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("find(%q) = %d, want %d", id, got, want)
		}
	}
	if !b.hasIDs() {
		t.Error("format 4.5 has ids")
	}
	for _, odd := range []string{`{}`, `{"cells":1}`, `{"cells":[null]}`, `[]`, `"x"`} {
		if _, err := open([]byte(odd)); err == nil {
			t.Errorf("%s was opened", odd)
		}
	}
}

// FuzzCells applies every change to arbitrary notebooks: other cells keep every byte, the
// changed cell has the expected source, and the file stays a valid notebook.
func FuzzCells(f *testing.F) {
	f.Add([]byte(pretty), 0, "x\ny", "markdown", 0)
	f.Add([]byte(`{"cells":[]}`), 0, "x", "code", 1)
	f.Add([]byte("\ufeff{\"cells\": [ {\"source\":\"\\u00e9\\\"\"} , {} ]}"), 1, "\x00<>&", "code", 2)
	f.Add([]byte(`{"cells":[{"source":["a"],"source":["b"]}],"a":{"cells":[{}]}}`), 0, "", "raw", 3)
	f.Fuzz(func(t *testing.T, data []byte, at int, source, kind string, how int) {
		before, b, err := parse(data)
		if err != nil {
			return
		}
		raw := func(b *book) (cells []string) {
			for _, n := range b.cells.items {
				cells = append(cells, string(b.data[n.start:n.end]))
			}
			return cells
		}
		cells := raw(b)
		if len(cells) == 0 {
			how, at = 1, -1
		} else {
			at = abs(at) % len(cells)
		}
		source = strings.ToValidUTF8(source, "?")
		kind = strings.ToValidUTF8(kind, "?")
		var patches []patch
		want := append([]string(nil), cells...)
		changed := at
		switch abs(how) % 4 {
		case 0:
			patches = b.replace(at, source)
		case 1:
			patches = b.insert(at, kind, source, "id1")
			changed = at + 1
			want = append(want[:changed], append([]string{""}, want[changed:]...)...)
		case 2:
			patches = b.remove(at)
			changed = -1
			want = append(want[:at], want[at+1:]...)
		case 3:
			patches = b.retype(at, kind, source)
		}
		out := bytes.Join(b.apply(patches), nil)
		after, c, err := parse(out)
		if err != nil {
			t.Fatalf("%s became %s: %v", data, out, err)
		}
		got := raw(c)
		if changed >= 0 {
			if after.Cells[changed].Source != source && !otherwiseSpelt(got[changed]) {
				t.Fatalf("the source is %q, want %q", after.Cells[changed].Source, source)
			}
			got[changed], want[changed] = "", ""
		}
		if !slices.Equal(want, got) {
			t.Fatalf("other cells changed (-want +got):\n%s", cmp.Diff(want, got))
		}
		if after.Language != before.Language {
			t.Fatalf("the language became %s", after.Language)
		}
		outside := func(b *book) string { return string(b.data[:b.cells.start]) + "|" + string(b.data[b.cells.end:]) }
		if outside(b) != outside(c) {
			t.Fatalf("content around the cells changed")
		}
	})
}

// otherwiseSpelt reports whether a cell has a key such as SOURCE, which the reader treats as
// the source.
func otherwiseSpelt(cell string) bool {
	var keys map[string]json.RawMessage
	json.Unmarshal([]byte(cell), &keys) // ok: it was parsed before
	for key := range keys {
		if key != "source" && strings.EqualFold(key, "source") {
			return true
		}
	}
	return false
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
