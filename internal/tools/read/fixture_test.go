//go:build unix

package read

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

func yes() bool { return true }

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func jpegOf(t testing.TB, w, h int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, image.NewGray(image.Rect(0, 0, w, h)), nil); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func notebookOf(sources ...string) string {
	var cells []string
	for i, s := range sources {
		cells = append(cells, fmt.Sprintf(`{"id":"c%d","cell_type":"code","source":%q,"outputs":[]}`, i, s))
	}
	return `{"cells":[` + strings.Join(cells, ",") + `],"metadata":{}}`
}

// writePDF writes objects, the first of which is the catalog, without a cross-reference table,
// which readers reconstruct.
func writePDF(objects ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	table := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, o := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	b.WriteString(table)
	fmt.Fprintf(&b, "trailer\n<</Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", at)
	return b.String()
}

// pdfOf returns a document with a page per text.
func pdfOf(texts ...string) string { return writePDF(pdfObjects(texts...)...) }

func pdfObjects(texts ...string) []string {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1>>"}
	kids := ""
	for _, text := range texts {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		content := "BT /F 9 Tf (" + text + ") Tj ET"
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>", n+1),
			fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]>>", kids)
	return objects
}

// scannedPDF returns a one-page document that contains only a picture.
func scannedPDF(t testing.TB) string {
	picture := jpegOf(t, 30, 40)
	return writePDF("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>",
		"<</Type/Page/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>", "<</Length 5>>\nstream\n/I Do\nendstream",
		fmt.Sprintf("<</Subtype/Image/Filter/DCTDecode/Length %d>>\nstream\n%s\nendstream", len(picture), picture))
}
