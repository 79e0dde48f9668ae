package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/textfile"
	"adze/internal/tool"
)

// A fileRead is a call with its file open.
type fileRead struct {
	*call
	path string // opened path
	real string // opened path with symlinks resolved
	file *os.File
	info fs.FileInfo
}

func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	f, at, err := c.open(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return tool.Result{}, fmt.Errorf("reading %w", err)
	}
	res, err := (&fileRead{c, at.path, at.real, f, info}).read(ctx)
	if err == nil {
		c.discovered(filepath.Dir(at.path))
	}
	return res, err
}

// read reads the file by its content, regardless of its name.
func (r *fileRead) read(ctx context.Context) (tool.Result, error) {
	kind := kindByName(r.path)
	ranged := r.in.Offset != nil || r.in.Limit != nil
	if kind == notebookFile && ranged {
		kind = textFile // line numbers refer to the file, not to cells
	}
	if tooLarge := r.tooLarge(ctx, kind); tooLarge != nil {
		return tool.Result{}, tooLarge
	}
	head := make([]byte, 1024)
	n, err := r.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return tool.Result{}, fmt.Errorf("reading %w", err)
	}
	if found := kindByContent(kind, head[:n]); found != kind {
		if kind = found; kind == textFile {
			if tooLarge := r.tooLarge(ctx, kind); tooLarge != nil {
				return tool.Result{}, tooLarge
			}
		}
	}
	if kind != pdfFile && r.in.Pages != "" {
		return tool.Result{}, &tool.Error{Code: codePages, Text: fmt.Sprintf("pages applies to PDF documents only, and %s is not one. Omit it; for lines of text use offset and limit.", r.path)}
	}
	switch kind {
	case imageFile:
		return r.readImage(ctx)
	case pdfFile:
		return r.readPDF(ctx)
	case notebookFile:
		return r.readNotebook(ctx)
	}
	return r.readText(ctx)
}

// tooLarge rejects a file by its size. Pictures and documents have their own limits.
func (r *fileRead) tooLarge(ctx context.Context, kind kind) error {
	size, most, advice := r.info.Size(), r.MaxBytes, ""
	switch {
	case kind == imageFile || kind == pdfFile:
		most, advice = maxMediaFile, "Make it smaller with a shell command first."
	case kind == notebookFile:
		advice = "Look at single cells with a shell command such as jq."
	case r.in.Limit != nil:
		return nil
	}
	switch {
	case size <= most:
		return nil
	case advice == "":
		return r.tooLong(ctx)
	}
	return fmt.Errorf("%s has %d bytes, and at most %d are read at once. %s", r.path, size, most, advice)
}

// whole reads all of the file.
func (r *fileRead) whole() ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(r.info.Size()) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.NewSectionReader(r.file, 0, maxMediaFile+1)); err != nil {
		return nil, fmt.Errorf("reading %w", err)
	}
	after, err := r.file.Stat()
	if err != nil || after.Size() != r.info.Size() || !after.ModTime().Equal(r.info.ModTime()) {
		return nil, fmt.Errorf("reading %s: %w", r.path, textfile.ErrChanging)
	}
	return buf.Bytes(), nil
}

// entry returns the state entry for reading the whole file.
func (r *fileRead) entry(data []byte) filestate.Entry {
	return filestate.Entry{
		Path: r.path, Real: r.real, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(r.info), Origin: filestate.Read,
		Offset: 1, Complete: true, Content: data,
	}
}

// record records the delivered content.
func (r *fileRead) record(e filestate.Entry) {
	if r.State != nil {
		r.State.Record(e)
	}
}

// repeats reports whether the model still has the content that e would deliver. If in doubt, it
// returns false.
func (r *fileRead) repeats(e filestate.Entry) bool {
	if r.State == nil || r.Repeat {
		return false
	}
	had := r.had
	return had.Path == e.Path && had.Shown && had.Origin == filestate.Read && had.Stamp == e.Stamp && had.Hash == e.Hash &&
		had.Offset == e.Offset && had.Limit == e.Limit
}

// unchanged returns the result for content that the model already has.
func (r *fileRead) unchanged() tool.Result {
	text := fmt.Sprintf("%s is unchanged since you last read it; that result is still valid.", r.path)
	return tool.Result{
		Parts:      []msg.Part{&msg.Text{Text: text}},
		Display:    tool.Plain{Text: "unchanged"},
		Structured: Output{"file_unchanged", unchangedFile{r.path}},
	}
}
