package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
)

// partialSuffix is the suffix of the file with the content after the last record: an arriving
// answer, or the results of finished calls of the last answer, as records.
const partialSuffix = ".partial"

// SavePartial saves e, an arriving answer, in a file next to the log, replacing an earlier one.
// It survives the end of the process, but not a power loss. [Resume] appends it to the log.
func (l *Log) SavePartial(e msg.Entry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	path, opt := l.path+partialSuffix, l.opt
	l.mu.Unlock()
	temp := path + ".new"
	if err := writePrivate(temp, appendRecord(nil, e, &opt)); err != nil {
		os.Remove(temp) // ok: the write error is returned
		return fmt.Errorf("saving an answer that is arriving: %w", err)
	}
	return fsys.Rename(temp, path)
}

// createPrivate creates a file, replacing any file at path. It does not follow a symlink there:
// a transcript may be in a folder that another user can write to.
func createPrivate(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func writePrivate(path string, data []byte) error {
	f, err := createPrivate(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// AddPartial adds e, the result of a call in the last answer, to the file next to the log. It
// survives the end of the process, but not a power loss. [Resume] appends all results to the
// log as a message.
func (l *Log) AddPartial(e msg.Entry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	path, opt := l.path+partialSuffix, l.opt
	l.mu.Unlock()
	l.results.Lock()
	defer l.results.Unlock()
	if l.results.file == nil {
		f, err := createPrivate(path)
		if err != nil {
			return fmt.Errorf("saving the result of a call: %w", err)
		}
		l.results.file = f
	}
	if _, err := l.results.file.Write(appendRecord(nil, e, &opt)); err != nil {
		return fmt.Errorf("saving the result of a call: %w", err)
	}
	return nil
}

// A resultsFile is the open file with the results of finished calls.
type resultsFile struct {
	sync.Mutex
	file *os.File
}

func (r *resultsFile) close() error {
	r.Lock()
	defer r.Unlock()
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// DropPartial removes the file of [Log.SavePartial] and [Log.AddPartial] after its content was
// logged or withdrawn.
func (l *Log) DropPartial() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.results.close(), removePartial(l.Path()))
}

// removePartial removes the partial file of the log at path, if it exists.
func removePartial(path string) error {
	for _, name := range []string{path + partialSuffix, path + partialSuffix + ".new"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// restorePartial adds the partial answer or call results of a killed process to the contents
// and returns them. It ignores records that do not follow the last message: they are in the log
// already, or no longer part of the conversation.
func (c *Contents) restorePartial(path string, structured bool) (e msg.Entry, ok bool) {
	f, _, err := openRegular(path + partialSuffix)
	if err != nil || len(c.Entries) == 0 {
		return e, false
	}
	defer f.Close()
	last := c.Entries[len(c.Entries)-1]
	results := finished{uses: last.Message.Uses()}
	for in := newLines(io.LimitReader(f, maxLine)); ; {
		line, _, err := in.next()
		if err != nil {
			break
		}
		e, _, err := decodeEntry(line, structured)
		switch {
		case err != nil || e.Parent != last.ID:
		case e.Message.Role == msg.User:
			results.add(e)
		case len(e.Message.Parts) > 0 && len(e.Message.Uses()) == 0:
			e.Aborted = true
			c.Entries = append(c.Entries, e)
			c.Notices = append(c.Notices, "adze was killed during an answer. The saved part is in the conversation, as an interrupted answer.")
			return e, true
		}
	}
	if e, ok = results.entry(); !ok {
		return e, false
	}
	c.Entries = append(c.Entries, e)
	c.Notices = append(c.Notices, fmt.Sprintf("adze was killed before %d of %d calls had finished. The results of the others are in the conversation.", len(results.uses)-len(results.byID), len(results.uses)))
	return e, true
}

// finished collects the saved results of the last answer's calls.
type finished struct {
	uses  []*msg.ToolUse
	first msg.Entry
	byID  map[string]*msg.ToolResult
	texts []msg.Part
	extra map[string]json.RawMessage
}

// add adds the results in e that match a use, and the texts after them.
func (f *finished) add(e msg.Entry) {
	taken := false
	for _, p := range e.Message.Parts {
		switch p := p.(type) {
		case *msg.ToolResult:
			taken = f.byID[p.ID] == nil && slices.ContainsFunc(f.uses, func(u *msg.ToolUse) bool { return u.ID == p.ID })
			if !taken {
				continue
			}
			if f.byID == nil {
				f.first, f.byID, f.extra = e, make(map[string]*msg.ToolResult), make(map[string]json.RawMessage)
			}
			f.byID[p.ID] = p
			if value, ok := e.Structured[p.ID]; ok {
				f.extra[p.ID] = value
			}
		case *msg.Text:
			if taken {
				f.texts = append(f.texts, p)
			}
		}
	}
}

// entry returns a message with the results in the order of the uses. It reports whether there
// are any.
func (f *finished) entry() (msg.Entry, bool) {
	if f.byID == nil {
		return msg.Entry{}, false
	}
	e := msg.Entry{ID: f.first.ID, Parent: f.first.Parent, Time: f.first.Time, Message: msg.Message{Role: msg.User}}
	for _, u := range f.uses {
		if r := f.byID[u.ID]; r != nil {
			e.Message.Parts = append(e.Message.Parts, r)
		}
	}
	e.Message.Parts = append(e.Message.Parts, f.texts...)
	if len(f.extra) > 0 {
		e.Structured = f.extra
	}
	return e, true
}
