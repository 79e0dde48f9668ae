package change

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"

	"adze/internal/platform/fs/filestate"
)

// Enabled returns the reason files cannot be changed, or nil: a nil f has no place for locks.
func (f *Files) Enabled() error {
	if f == nil {
		return errors.New("without a state home files cannot be locked, and are not changed")
	}
	return nil
}

// Restore restores the record of a changed file from an earlier call's structured result; see
// [tool.Traits].
func (f *Files) Restore(structured json.RawMessage) {
	var c struct {
		FilePath     string `json:"filePath"`
		NotebookPath string `json:"notebook_path"`
		Type         string `json:"type"` // set if the whole file was written
		ContentHash  string `json:"contentHash"`
	}
	if f == nil || f.State == nil || json.Unmarshal(structured, &c) != nil {
		return
	}
	path := c.FilePath + c.NotebookPath // only one is set
	// After an edit of a partly seen file, it is unknown which part has been seen.
	if known, ok := f.State.Get(path); c.Type == "" && !(ok && known.Complete) {
		c.ContentHash = ""
	}
	Recall(f.State, filestate.Entry{Path: path, Origin: filestate.Edit, Complete: true}, c.ContentHash)
}

// Recall records e with its hash in hexadecimal. Without a valid hash, or if the file is gone,
// it removes the file's record instead. The content is compared before the file is changed.
func Recall(state *filestate.Store, e filestate.Entry, hash string) {
	n, err := hex.Decode(e.Hash[:], []byte(hash[:min(len(hash), 2*len(e.Hash))]))
	if _, gone := os.Lstat(e.Path); err != nil || n < len(e.Hash) || gone != nil {
		state.Forget(e.Path)
		return
	}
	state.Record(e)
}
