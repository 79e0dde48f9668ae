package read

import (
	"encoding/json"
	"fmt"

	"adze/internal/platform/fs/filestate"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// restore restores the state recorded by an earlier call from its structured result.
func (r *reader) restore(structured json.RawMessage) {
	var seen struct {
		Type string   `json:"type"`
		File struct { // a notebook has no line fields
			FilePath    string `json:"filePath"`
			NumLines    int    `json:"numLines"`
			StartLine   int    `json:"startLine"`
			TotalLines  int    `json:"totalLines"`
			ContentHash string `json:"contentHash"`
			CutLines    []int  `json:"cutLines"`
		} `json:"file"`
	}
	if r.State == nil || json.Unmarshal(structured, &seen) != nil || seen.Type != "text" && seen.Type != "notebook" {
		return
	}
	e := filestate.Entry{
		Path: seen.File.FilePath, Origin: filestate.Read,
		Offset: seen.File.StartLine, Lines: seen.File.NumLines, Total: seen.File.TotalLines,
		Complete: seen.File.NumLines == seen.File.TotalLines, // both are 0 for a notebook
	}
	e.Cut(seen.File.CutLines)
	change.Recall(r.State, e, seen.File.ContentHash)
}

// redisplay returns the display of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	var out struct {
		Type string          `json:"type"`
		File json.RawMessage `json:"file"`
	}
	if json.Unmarshal(structured, &out) != nil {
		return nil
	}
	switch out.Type {
	case "text":
		var f OutputFile
		json.Unmarshal(out.File, &f) // ok: then its name is enough
		return tool.File{Path: f.FilePath, First: f.StartLine, Count: f.NumLines, Len: f.TotalLines}
	case "image":
		var f imageOutput
		json.Unmarshal(out.File, &f) // ok: then its kind is enough
		return tool.Plain{Text: fmt.Sprintf("%s image, %dx%d pixels", format(f.MediaType), f.Dimensions.OriginalWidth, f.Dimensions.OriginalHeight)}
	case "notebook":
		var f notebookOutput
		json.Unmarshal(out.File, &f) // ok: then its kind is enough
		return tool.Plain{Text: counted(len(f.Cells), "cell")}
	case "pdf", "parts":
		var f pdfOutput
		json.Unmarshal(out.File, &f) // ok: then its kind is enough
		return tool.Plain{Text: counted(f.Count, "page")}
	case "file_unchanged":
		return tool.Plain{Text: "unchanged"}
	}
	return nil
}
