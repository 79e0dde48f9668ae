package read

import (
	"encoding/json"
	"slices"
	"strconv"

	"adze/internal/msg"
)

// Output is the structured result, in a format that hooks and clients know. File has the type
// below that corresponds to Type. Pictures and documents themselves are only in the message.
type Output struct {
	Type string `json:"type"`
	File any    `json:"file"`
}

type (
	// OutputFile is part of a text file; type text. ContentHash is the hash of the whole file,
	// or empty if it was too large, also in the types below.
	OutputFile struct {
		FilePath    string `json:"filePath"`
		Content     string `json:"content"`
		NumLines    int    `json:"numLines"`
		StartLine   int    `json:"startLine"`
		TotalLines  int    `json:"totalLines"`
		ContentHash string `json:"contentHash"`
		// CutLines lists the lines that were truncated for the model.
		CutLines []int `json:"cutLines,omitempty"`
	}

	// imageOutput is a picture; type image.
	imageOutput struct {
		FilePath     string     `json:"filePath"`
		MediaType    string     `json:"type"`
		OriginalSize int        `json:"originalSize"`
		Dimensions   dimensions `json:"dimensions"`
	}
	dimensions struct {
		OriginalWidth  int `json:"originalWidth"`
		OriginalHeight int `json:"originalHeight"`
		DisplayWidth   int `json:"displayWidth"`
		DisplayHeight  int `json:"displayHeight"`
	}

	// notebookOutput is a notebook; type notebook.
	notebookOutput struct {
		FilePath    string       `json:"filePath"`
		Cells       []cellOutput `json:"cells"`
		ContentHash string       `json:"contentHash"`
	}
	cellOutput struct {
		ID     string `json:"cell_id"`
		Type   string `json:"cellType"`
		Source string `json:"source"`
	}

	// pdfOutput is a document or some of its pages: type pdf, or parts if they were sent as
	// pictures.
	pdfOutput struct {
		FilePath     string `json:"filePath"`
		OriginalSize int    `json:"originalSize"`
		FirstPage    int    `json:"firstPage"`
		Count        int    `json:"count"`
		TotalPages   int    `json:"totalPages"`
	}

	// unchangedFile is a file that the model has already seen; type file_unchanged.
	unchangedFile struct {
		FilePath string `json:"filePath"`
	}
)

// AppendJSON appends the output to dst. Text is by far the largest and most frequent output, so
// it is encoded without the copies that reflection would make.
func (o Output) AppendJSON(dst []byte) ([]byte, error) {
	f, ok := o.File.(OutputFile)
	if !ok {
		data, err := json.Marshal(o)
		return append(dst, data...), err
	}
	dst = slices.Grow(dst, len(f.Content)+len(f.Content)/8+256)
	dst = msg.AppendString(append(dst, `{"type":`...), o.Type)
	dst = msg.AppendString(append(dst, `,"file":{"filePath":`...), f.FilePath)
	dst = msg.AppendString(append(dst, `,"content":`...), f.Content)
	dst = strconv.AppendInt(append(dst, `,"numLines":`...), int64(f.NumLines), 10)
	dst = strconv.AppendInt(append(dst, `,"startLine":`...), int64(f.StartLine), 10)
	dst = strconv.AppendInt(append(dst, `,"totalLines":`...), int64(f.TotalLines), 10)
	dst = msg.AppendString(append(dst, `,"contentHash":`...), f.ContentHash)
	for i, n := range f.CutLines {
		if i == 0 {
			dst = append(dst, `,"cutLines":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	if f.CutLines != nil {
		dst = append(dst, ']')
	}
	return append(dst, "}}"...), nil
}
