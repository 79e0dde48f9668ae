package change

import (
	"encoding/hex"
	"encoding/json"
	"iter"
	"os"

	"adze/internal/platform/filestate"
)

// Restore makes state know what the results of earlier calls say of files: those of a transcript, by the
// name of the tool and with the structured result of each, oldest first. A file that is gone is not known.
// Whether a file still is what it was is not looked at before it is changed.
func Restore(state *filestate.Store, results iter.Seq2[string, json.RawMessage]) {
	for tool, structured := range results {
		switch tool {
		case "Read":
			restoreRead(state, structured)
		case "Edit", "Write", "NotebookEdit":
			restoreChange(state, structured)
		}
	}
}

// A seen is what a structured result of Read says of the file; one of the file itself has no lines.
type seen struct {
	Type string `json:"type"`
	File struct {
		FilePath    string `json:"filePath"`
		NumLines    int    `json:"numLines"`
		StartLine   int    `json:"startLine"`
		TotalLines  int    `json:"totalLines"`
		ContentHash string `json:"contentHash"`
	} `json:"file"`
}

func restoreRead(state *filestate.Store, structured json.RawMessage) {
	var s seen
	if json.Unmarshal(structured, &s) != nil || s.Type != "text" && s.Type != "notebook" {
		return
	}
	restore(state, filestate.Entry{
		Path: s.File.FilePath, Origin: filestate.Read,
		Offset: s.File.StartLine, Lines: s.File.NumLines, Total: s.File.TotalLines,
		Complete: s.File.NumLines == s.File.TotalLines, // for a notebook both are 0
	}, s.File.ContentHash)
}

func restoreChange(state *filestate.Store, structured json.RawMessage) {
	var c struct {
		FilePath     string `json:"filePath"`
		NotebookPath string `json:"notebook_path"`
		Type         string `json:"type"` // of Write
		ContentHash  string `json:"contentHash"`
	}
	if json.Unmarshal(structured, &c) != nil {
		return
	}
	path := c.FilePath + c.NotebookPath // there is one of them
	// An edit of a file of which only a part was seen does not say which part that is now.
	if known, ok := state.Get(path); c.Type == "" && !(ok && known.Complete) {
		c.ContentHash = ""
	}
	restore(state, filestate.Entry{Path: path, Origin: filestate.Edit, Complete: true}, c.ContentHash)
}

// restore records e with its hash. Without one nothing could be compared, and the file is not known.
func restore(state *filestate.Store, e filestate.Entry, hash string) {
	n, err := hex.Decode(e.Hash[:], []byte(hash[:min(len(hash), 2*len(e.Hash))]))
	if _, gone := os.Lstat(e.Path); err != nil || n < len(e.Hash) || gone != nil {
		state.Forget(e.Path)
		return
	}
	state.Record(e)
}
