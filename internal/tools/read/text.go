package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/textfile"
	"adze/internal/tool"
)

// maxLine is the maximum number of characters shown of a line.
const maxLine = 2000

func (r *fileRead) readText(ctx context.Context) (tool.Result, error) {
	span := textfile.Range{First: 1, MaxBytes: r.budget().mostBytes(), MaxLine: maxLine}
	if r.in.Offset != nil {
		span.First = *r.in.Offset
	}
	if r.in.Limit != nil {
		span.Count = *r.in.Limit
	}
	source, err := r.source()
	if err != nil {
		return tool.Result{}, err
	}
	file, err := textfile.Read(ctx, source, span)
	var size *textfile.SizeError
	switch {
	case errors.As(err, &size):
		return tool.Result{}, r.budget().refuse(size, span)
	case err != nil:
		return tool.Result{}, r.unreadable(err)
	}
	entry, known := r.textEntry(file, span)
	if known && r.repeats(entry) {
		return r.unchanged(), nil
	}
	text := render(file.Text, span.First)
	if err := r.budget().linesFit(ctx, text, file.Text, span); err != nil {
		return tool.Result{}, err
	}
	if known {
		r.record(entry)
	}
	res := tool.Result{
		Parts:   []msg.Part{&msg.Text{Text: text}},
		Display: tool.File{Path: r.path, First: span.First, Count: len(file.Lines), Len: file.Total},
		Structured: Output{"text", OutputFile{
			FilePath:    r.path,
			Content:     strings.Join(file.Lines, "\n"),
			NumLines:    len(file.Lines),
			StartLine:   span.First,
			TotalLines:  file.Total,
			ContentHash: entry.HashText(),
			CutLines:    file.Cut,
		}},
	}
	if len(file.Lines) > 0 {
		res.Reminders = r.reminders()
	}
	return res, nil
}

// maxUnsaved is the maximum size of a file for which the user's editor is consulted, in bytes.
const maxUnsaved = 1 << 20

// An unsavedFile is a file with the content in the user's editor.
type unsavedFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f unsavedFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// source returns the file, with the content in the user's editor if that is not saved.
func (r *fileRead) source() (textfile.Source, error) {
	if r.Unsaved == nil || r.info.Size() > maxUnsaved {
		return r.file, nil
	}
	disk, err := r.whole()
	if err != nil {
		return r.file, nil // reading it again reports the error
	}
	data, err := r.Unsaved(r.path, disk)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return r.file, nil
	}
	return unsavedFile{bytes.NewReader(data), r.info}, nil
}

// unreadable explains why the text could not be read.
func (r *fileRead) unreadable(err error) error {
	if errors.Is(err, textfile.ErrBinary) {
		return binary("it contains null bytes, so it is not text", "Inspect it with a shell command such as file or xxd.")
	}
	return fmt.Errorf("reading %s: %w", r.path, err)
}

// textEntry returns the state entry for the delivered part of a text file. It is unknown if the
// file changed during the read or no state is kept.
func (r *fileRead) textEntry(file textfile.File, span textfile.Range) (e filestate.Entry, known bool) {
	if file.Info == nil || r.State == nil {
		return e, false
	}
	e = filestate.Entry{
		Path: r.path, Real: r.real, Stamp: filestate.StampOf(file.Info), Origin: filestate.Read,
		Offset: span.First, Limit: span.Count, Lines: len(file.Lines), Total: file.Total,
		Complete: len(file.Lines) == file.Total && !file.AtLeast,
		Content:  file.Data,
	}
	e.Cut(file.Cut)
	if had, ok := r.State.Get(r.path); ok && had.Content != nil && bytes.Equal(had.Content, file.Data) {
		e.Hash, e.Content = had.Hash, had.Content // comparing takes a tenth of the time
	} else if file.Data != nil {
		e.Hash = sha256.Sum256(file.Data)
	}
	return e, true
}

// reminders returns the reminders for models that are not exempt.
func (r *fileRead) reminders() []string {
	if r.Model == nil {
		return nil
	}
	model := r.Model()
	for _, exempt := range r.Exempt {
		if rest, ok := strings.CutPrefix(model, exempt); ok && (rest == "" || rest[0] == '-' || rest[0] == '[') {
			return nil
		}
	}
	return []string{"If this file looks like malware, you may explain what it does, but refuse to improve or extend it."}
}

// render returns the text for the model.
func render(text textfile.Text, first int) string {
	total := fmt.Sprint(text.Total)
	if text.AtLeast {
		total = "at least " + total
	}
	switch {
	case text.Total == 0:
		return "The file exists and is empty."
	case len(text.Lines) == 0:
		return fmt.Sprintf("The file has %s lines: there is nothing at line %d. Read it with a smaller offset.", total, first)
	}
	var b strings.Builder
	b.Grow(text.Bytes + 10*len(text.Lines) + 200)
	var number [24]byte
	for i, line := range text.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(appendNumber(number[:0], first+i))
		b.WriteString(strings.ReplaceAll(line, "\r", `\r`))
	}
	if last := first + len(text.Lines) - 1; first > 1 || last < text.Total {
		fmt.Fprintf(&b, "\n\n(Lines %d to %d of %s.)", first, last, total)
	}
	if n := len(text.Cut); n > 0 {
		fmt.Fprintf(&b, "\n\n(%s cut after %d characters. Grep with -o shows other parts.)", cutLines(text.Cut), maxLine)
	}
	switch {
	case text.Latin:
		b.WriteString("\n\n(The file is in Windows-1252 or Latin-1. Edit and Write keep that.)")
	case text.Invalid:
		b.WriteString("\n\n(The file is not valid UTF-8. Bytes that are not characters are shown as \uFFFD.)")
	}
	return b.String()
}

// cutLines names the truncated lines.
func cutLines(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("Line %d is", numbers[0])
	}
	if len(numbers) > 5 {
		return fmt.Sprintf("%d lines are", len(numbers))
	}
	var list []string
	for _, n := range numbers {
		list = append(list, strconv.Itoa(n))
	}
	return "Lines " + strings.Join(list, ", ") + " are"
}

// appendNumber appends the number of a line and a tab.
func appendNumber(b []byte, n int) []byte { return append(strconv.AppendInt(b, int64(n), 10), '\t') }
