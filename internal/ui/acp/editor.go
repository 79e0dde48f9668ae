package acp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

// An editor gives access to the client's unsaved files. It implements [change.Editor].
type editor struct {
	t *thread

	mu      sync.Mutex
	unsaved map[string]form          // files that were unsaved when they were last looked at
	writing map[string]chan struct{} // closed when the client has a file's new content
}

// A form describes the parts of a text file that an editor leaves out.
type form struct{ mark, returns bool }

const (
	// editorWait limits how long a call waits for the client.
	editorWait = 10 * time.Second
	// maxUnsaved is the maximum size of a file's unsaved content in bytes.
	maxUnsaved = 1 << 20
)

var byteOrderMark = []byte("\ufeff")

// Unsaved implements [change.Editor]. A client that answers with an error does not have the
// file open; one that does not answer fails the call, so that no text of the user is
// overlooked.
func (e *editor) Unsaved(path string, disk []byte) ([]byte, error) {
	if e.t.id == "" || !utf8.Valid(disk) || bytes.IndexByte(disk, 0) >= 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(e.t.ctx, editorWait, fmt.Errorf("the editor does not answer whether %s has unsaved changes. Ask the user", path))
	defer cancel()
	e.mu.Lock()
	writing := e.writing[path]
	e.mu.Unlock()
	if writing != nil {
		select {
		case <-writing:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	var out readResponse
	err := e.t.s.conn.call(ctx, "fs/read_text_file", readRequest{e.t.id, path}, &out)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, errGone) {
		return nil, err
	}
	var data []byte
	var left form
	if err == nil && out.Content != nil {
		data, left = asOnDisk([]byte(*out.Content), disk)
	}
	e.mu.Lock()
	if delete(e.unsaved, path); data != nil {
		e.unsaved[path] = left
	}
	e.mu.Unlock()
	if len(data) > maxUnsaved {
		return nil, fmt.Errorf("%s has unsaved changes in the editor and is too large to be read from it. Ask the user to save it", path)
	}
	return data, nil
}

// asOnDisk returns the text in the form of the file on disk, or nil if it is the same, and the
// parts that the editor has left out.
func asOnDisk(text, disk []byte) ([]byte, form) {
	left := form{
		mark:    bytes.HasPrefix(disk, byteOrderMark) && !bytes.HasPrefix(text, byteOrderMark),
		returns: bytes.Contains(disk, []byte("\r\n")) && !bytes.Contains(text, []byte("\r\n")),
	}
	if left.returns {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if left.mark {
		text = append(bytes.Clone(byteOrderMark), text...)
	}
	if bytes.Equal(text, disk) {
		return nil, left
	}
	return append([]byte{}, text...), left
}

// asInEditor returns the content of a file as the editor writes it.
func asInEditor(data []byte, left form) string {
	if left.mark {
		data = bytes.TrimPrefix(data, byteOrderMark)
	}
	if left.returns {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return string(data)
}

// Changed implements [change.Listener]: the client gets the new content of a file that it has
// unsaved. Editors read other files again themselves.
func (e *editor) Changed(_ context.Context, path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	left, ok := e.unsaved[path]
	if !ok {
		return nil
	}
	delete(e.unsaved, path)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	e.writing[path] = done
	go func() { // the call does not wait
		defer close(done)
		ctx, cancel := context.WithTimeout(e.t.ctx, editorWait)
		defer cancel()
		if err := e.t.s.conn.call(ctx, "fs/write_text_file", writeRequest{e.t.id, path, asInEditor(data, left)}, &none{}); err != nil && e.t.ctx.Err() == nil {
			e.t.s.cfg.Say(fmt.Sprintf("%s was changed on disk, but not in the editor: %v", path, err))
		}
	}()
	return nil
}
