package change

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"

	"adze/internal/platform/filestate"
)

// Enabled reports why files cannot be changed, or nil: a nil f has no place for locks.
func (f *Files) Enabled() error {
	if f == nil {
		return errors.New("without a state home files cannot be locked, and are not changed")
	}
	return nil
}

// Restore makes the state know the file that a writing tool left, by the structured result of an earlier
// call; see [tool.Traits].
func (f *Files) Restore(structured json.RawMessage) {
	var c struct {
		FilePath     string `json:"filePath"`
		NotebookPath string `json:"notebook_path"`
		Type         string `json:"type"` // of a file that was written as a whole
		ContentHash  string `json:"contentHash"`
	}
	if f == nil || f.State == nil || json.Unmarshal(structured, &c) != nil {
		return
	}
	path := c.FilePath + c.NotebookPath // there is one of them
	// An edit of a file of which only a part was seen does not say which part that is now.
	if known, ok := f.State.Get(path); c.Type == "" && !(ok && known.Complete) {
		c.ContentHash = ""
	}
	Recall(f.State, filestate.Entry{Path: path, Origin: filestate.Edit, Complete: true}, c.ContentHash)
}

// Recall records e with its hash, in hexadecimal. Without one nothing could be compared, and the file is
// not known; neither is one that is gone. Whether the file still is what it was is looked at before it is
// changed.
func Recall(state *filestate.Store, e filestate.Entry, hash string) {
	n, err := hex.Decode(e.Hash[:], []byte(hash[:min(len(hash), 2*len(e.Hash))]))
	if _, gone := os.Lstat(e.Path); err != nil || n < len(e.Hash) || gone != nil {
		state.Forget(e.Path)
		return
	}
	state.Record(e)
}
