package app

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/filehistory"
	"adze/internal/platform/filestate"
	"adze/internal/tool"
)

// rewind restores the files of the session to what they were before a message.
func (d *hosting) rewind(ctx context.Context, in struct {
	Message string `json:"user_message_id"`
	Dry     bool   `json:"dry_run"`
}) (any, error) {
	report, err := d.b.files.Rewind(ctx, in.Message, filehistory.Options{Dry: in.Dry})
	if err != nil {
		return object{"canRewind": false, "error": err.Error()}, nil
	}
	return object{
		"canRewind": true, "filesChanged": append([]string{}, report.Paths...),
		"insertions": report.Insertions, "deletions": report.Deletions,
	}, nil
}

// seedRead notes that the conversation knows a file, as the host saw it being read earlier. A file that
// is newer is not known.
func (d *hosting) seedRead(_ context.Context, in struct {
	Path  string  `json:"path"`
	MTime float64 `json:"mtime"`
}) (any, error) {
	path := d.resolvePath(in.Path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxHostFile {
		return nil, fmt.Errorf("%s is not a file of at most %d MB", path, maxHostFile>>20)
	}
	if float64(info.ModTime().UnixMilli()) > in.MTime {
		return none{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d.b.state.Record(filestate.Entry{
		Path: path, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Origin: filestate.Injected,
		Offset: 1, Complete: true, Content: data,
	})
	return none{}, nil
}

// maxHostFile bounds what a host reads of a file, in bytes.
const maxHostFile = 10 << 20

// readFile returns the content of a file that the model may read, too.
func (d *hosting) readFile(ctx context.Context, in struct {
	Path     string `json:"path"`
	Max      int64  `json:"max_bytes"`
	Encoding string `json:"encoding"`
}) (any, error) {
	path := d.resolvePath(in.Path)
	if err := d.mayRead(ctx, path); err != nil {
		return nil, err
	}
	limit := int64(maxHostFile)
	if in.Max > 0 {
		limit = min(limit, in.Max)
	}
	data, more, err := readStart(path, limit)
	if err != nil {
		return nil, err
	}
	answer := object{"absPath": path}
	if more {
		answer["truncated"] = true
	}
	if in.Encoding == "base64" {
		answer["contents"], answer["encoding"] = base64.StdEncoding.EncodeToString(data), "base64"
		return answer, nil
	}
	answer["lossy"] = !utf8.Valid(data)
	answer["contents"] = strings.ToValidUTF8(string(data), "\uFFFD")
	return answer, nil
}

// readStart returns at most n bytes of a regular file, and whether there are more.
func readStart(path string, n int64) (data []byte, more bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() // ok: it was only read
	data, err = io.ReadAll(io.LimitReader(f, n+1))
	if int64(len(data)) > n {
		return data[:n], true, err
	}
	return data, false, err
}

// mayRead asks the permission gate as it is asked about a call of the model.
func (d *hosting) mayRead(ctx context.Context, path string) error {
	const name = "Read"
	t, _, ok := d.s.Pool().Lookup(name)
	if !ok {
		return errors.New("files may not be read in this session")
	}
	input, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		return err
	}
	call, err := t.Bind(input)
	if err != nil {
		return err
	}
	u := &tool.Use{Tool: t, Call: call}
	u.Name, u.Input = name, input
	if err := d.b.gate.Before(ctx, u); err != nil {
		return err
	}
	if u.Verdict.Decision != tool.Allow {
		return fmt.Errorf("%s may not be read: %s", path, u.Verdict.Reason)
	}
	return nil
}

// suggestions are the files that a person may mean by what is typed.
func (d *hosting) suggestions(ctx context.Context, in struct {
	Query string `json:"query"`
}) (any, error) {
	const most = 15
	matches, err := d.index.Find(ctx, in.Query, most)
	if err != nil {
		return nil, err
	}
	found := []object{}
	for _, m := range matches {
		found = append(found, object{"path": m.Path, "isDirectory": m.Dir, "score": m.Score})
	}
	return object{"suggestions": found}, nil
}
