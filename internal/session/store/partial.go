package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"adze/internal/msg"
)

// partialSuffix ends the name of the file with an answer that is still arriving: one record, as the log would have it.
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

func writePrivate(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// DropPartial removes what [Log.SavePartial] kept: the answer is in the log, or was withdrawn.
func (l *Log) DropPartial() error {
	if l == nil {
		return nil
	}
	return removePartial(l.Path())
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

// restorePartial adds to the contents of a log the answer that was arriving when its process was killed, and returns it. One
// that does not follow the last message is in the log, or no longer part of the conversation.
func (c *Contents) restorePartial(path string) (e msg.Entry, ok bool) {
	f, _, err := openRegular(path + partialSuffix)
	if err != nil || len(c.Entries) == 0 {
		return e, false
	}
	defer f.Close()
	line, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil {
		return e, false
	}
	e, _, err = decodeEntry(line, false)
	if err != nil || e.Message.Role != msg.Assistant || len(e.Message.Parts) == 0 || len(e.Message.Uses()) > 0 || e.Parent != c.Entries[len(c.Entries)-1].ID {
		return e, false
	}
	e.Aborted = true
	c.Entries = append(c.Entries, e)
	c.Notices = append(c.Notices, "adze was killed while an answer arrived. What was saved of it is in the conversation, as an interrupted answer.")
	return e, true
}
