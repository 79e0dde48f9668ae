package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// file returns a document with a classic cross-reference table. Objects are numbered from 1;
// the first is the catalog.
func file(trailer string, objects ...string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, at)
	return []byte(b.String())
}

func streamOf(dict, data string) string {
	return fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflate(data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(data)) // ok: writes to memory
	w.Close()             // ok: as above
	return b.String()
}

// document returns a document with one page per text, with fonts unlike LaTeX's.
func document(texts ...string) []byte {
	return file("", documentObjects(texts)...)
}

func documentObjects(texts []string) []string {
	kids := ""
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"}
	for _, text := range texts {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		content := "BT /F1 12 Tf 72 700 Td 14 TL"
		for _, line := range strings.Split(text, "\n") {
			content += fmt.Sprintf(" (%s) Tj T*", line)
		}
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>", n+1),
			streamOf("/Filter/FlateDecode", deflate(content+" ET")))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>>>", len(texts), kids)
	return objects
}

// withContent returns a document with one page that draws content. more lists additional
// objects, numbered from 6.
func withContent(resources, content string, more ...string) []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Count 1/Kids[4 0 R]>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources<<" + resources + ">>>>",
		streamOf("", content),
	}
	return file("", append(objects, more...)...)
}

// packed puts the objects into an object stream and the table into a cross-reference stream.
func packed(objects []string) []byte {
	var b, inside, index strings.Builder
	b.WriteString("%PDF-1.5\n")
	type place struct{ kind, a, b int }
	places := make([]place, len(objects)+2)
	n := len(objects) + 1
	count := 0
	for i, o := range objects {
		if strings.Contains(o, "stream") {
			places[i] = place{1, b.Len(), 0}
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
			continue
		}
		places[i] = place{2, n, count}
		count++
		fmt.Fprintf(&index, "%d %d ", i+1, inside.Len())
		inside.WriteString(o + " ")
	}
	places[n-1] = place{1, b.Len(), 0}
	fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, streamOf(fmt.Sprintf("/Type/ObjStm/N %d/First %d/Filter/FlateDecode", count, index.Len()), deflate(index.String()+inside.String())))
	at := b.Len()
	places[n] = place{1, at, 0}
	var table []byte
	above := make([]byte, 5)
	for _, p := range places { // the common predictor: up
		row := []byte{byte(p.kind), byte(p.a >> 16), byte(p.a >> 8), byte(p.a), byte(p.b)}
		table = append(table, 2)
		for i := range row {
			table = append(table, row[i]-above[i])
		}
		above = row
	}
	fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", n+1, streamOf(fmt.Sprintf(
		"/Type/XRef/Size %d/Index[1 %d]/W[1 3 1]/Root 1 0 R/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 5>>", n+2, n+1), deflate(string(table))), at)
	return []byte(b.String())
}
