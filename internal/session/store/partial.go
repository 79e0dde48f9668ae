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
)

// partialSuffix ends the name of the file with what follows the last record: an answer that is still arriving, or the results of
// those calls of the last answer that have finished, one record each.
const partialSuffix = ".partial"

// SavePartial keeps e, an answer that is still arriving, in a file next to the log, in place of the one before. It survives the
// end of the process, not a loss of power. [Resume] appends it to the log.
func (l *Log) SavePartial(e msg.Entry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	path, opt := l.path+partialSuffix, l.opt
	l.mu.Unlock()
	temp := path + ".new"
	if err := writePrivate(temp, appendRecord(nil, e, &opt)); err != nil {
		os.Remove(temp) // ok: the error that counts is known
		return fmt.Errorf("saving an answer that is arriving: %w", err)
	}
	return os.Rename(temp, path)
}

// createPrivate makes a file in place of what is at path. It follows no link there: a transcript may be in a folder that
// another user can write to.
func createPrivate(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func writePrivate(path string, data []byte) error {
	f, err := createPrivate(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// AddPartial keeps e, the result of a call of the last answer, in the file next to the log, behind those before. Like an answer it
// survives the end of the process, not a loss of power. [Resume] appends all of them to the log as one message.
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

// A resultsFile is the file with the results of finished calls, while there is one.
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

// DropPartial removes the file of [Log.SavePartial] and [Log.AddPartial]: its content is in the log, or was withdrawn.
func (l *Log) DropPartial() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.results.close(), removePartial(l.Path()))
}

// removePartial removes the partial answer next to the log at path, if there is one.
func removePartial(path string) error {
	for _, name := range []string{path + partialSuffix, path + partialSuffix + ".new"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// restorePartial adds to the contents of a log what followed it when its process was killed, and returns it: an answer, or the
// results of calls. Records that do not follow the last message are in the log, or no longer part of the conversation.
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
			c.Notices = append(c.Notices, "adze was killed while an answer arrived. What was saved of it is in the conversation, as an interrupted answer.")
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

// finished collects the results of the calls of an answer that was not the last thing to happen.
type finished struct {
	uses  []*msg.ToolUse
	first msg.Entry
	byID  map[string]*msg.ToolResult
	texts []msg.Part
	extra map[string]json.RawMessage
}

// add takes the results in e that answer a use, and the texts after them.
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

// entry returns a message with the results in the order of the uses. It reports whether there are any.
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
