package store

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/jsonscan"
)

// Records yields the complete lines of a log. A record is valid until the next one. A line that
// cannot be read has no Type. The log may be of any size.
func Records(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := newLines(r)
		for {
			line, _, err := in.next()
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			rec, err := ParseRecord(line)
			if err != nil {
				rec = Record{Line: line}
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// firstRecord returns the first record with a session ID.
func firstRecord(r io.ReaderAt, size int64) (Record, error) {
	for rec, err := range Records(io.NewSectionReader(r, 0, size)) {
		if err != nil || rec.Session != "" {
			return rec, err
		}
	}
	return Record{}, nil
}

// Fork copies the log at src to the log of a new session, opt, which can then be resumed. It
// copies every record, of any kind, up to and including the message at, if that is not empty;
// each message names its origin. The source may be in use; its current content is copied.
func Fork(src string, opt Options, at string) (path string, err error) {
	in, size, err := openRegular(src)
	if err != nil {
		return "", err
	}
	defer in.Close()
	l, err := newLog(opt)
	if err != nil {
		return "", err
	}
	if err := l.claim(); err != nil {
		return "", err
	}
	if _, err := os.Lstat(l.path); err == nil {
		return "", fmt.Errorf("forking a session: %s exists already", l.path)
	}
	if err := writeWhole(l.path, func(w io.Writer) error {
		return copyRecords(w, io.NewSectionReader(in, 0, size), &opt, at)
	}); err != nil {
		return "", fmt.Errorf("forking session %s: %w", src, err)
	}
	return l.path, nil
}

// writeWhole creates a file that appears at path only when it is complete. The path must not
// exist.
func writeWhole(path string, write func(io.Writer) error) error {
	tmp, err := fsys.CreateTemp(filepath.Dir(path), ".fork-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // ok: already renamed on success
	w := bufio.NewWriterSize(tmp, 256<<10)
	if err := errors.Join(write(w), w.Flush(), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already", path)
	}
	if err := fsys.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

func copyRecords(w io.Writer, r io.Reader, opt *Options, at string) error {
	key := readKey(opt.Home)
	var buf []byte
	var state State
	first := "" // first words of the user
	for rec, err := range Records(r) {
		if err != nil {
			return err
		}
		switch {
		case rec.Type == titleKind || rec.Type == autoTitleKind:
			state.take(rec.Type, rec.Line) // ok: an unreadable title is ignored
		case rec.Type == string(msg.User) && first == "":
			first = firstWords(rec.Line)
		}
		if rec.Type == modeKind || rec.Type == dirsKind {
			buf = append(buf[:0], resign(&rec, key, opt)...)
		} else {
			buf = appendForked(buf[:0], &rec, opt.Session)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		if at != "" && rec.Message() && rec.ID == at {
			at = ""
			break
		}
	}
	if at != "" {
		return fmt.Errorf("%w as %s", ErrUnknownMessage, at)
	}
	title := forkTitle(cmp.Or(state.Title, state.AutoTitle, AutoTitleOf(first)))
	if title == "" {
		return nil
	}
	_, err := w.Write(appendNote(nil, Title(title), opt))
	return err
}

// firstWords returns the text of a message, or "" if it has no text from the user.
func firstWords(line []byte) string {
	e, _, err := decodeEntry(line, false)
	if err != nil || e.Hidden {
		return ""
	}
	for _, p := range e.Message.Parts {
		t, ok := p.(*msg.Text)
		if _, reminder := msg.ReminderText(p); ok && !reminder {
			return t.Text
		}
	}
	return ""
}

// forkTitle returns the title of a fork: the original title with the suffix (fork), then (fork
// 2) and so on.
func forkTitle(title string) string {
	if title == "" {
		return ""
	}
	if rest, ok := strings.CutSuffix(title, " (fork)"); ok {
		return rest + " (fork 2)"
	}
	if at := strings.LastIndex(title, " (fork "); at >= 0 {
		if n, err := strconv.Atoi(strings.TrimSuffix(title[at+len(" (fork "):], ")")); err == nil {
			return fmt.Sprintf("%s (fork %d)", title[:at], n+1)
		}
	}
	return title + " (fork)"
}

// appendForked appends a record with the session ID replaced. An unreadable record is copied
// unchanged.
func appendForked(dst []byte, rec *Record, session string) []byte {
	line := rec.Line
	start, end := sessionSpan(line)
	if rec.Type == "" || end == 0 {
		return append(append(dst, line...), '\n')
	}
	dst = append(dst, line[:start]...)
	dst = msg.AppendString(dst, session)
	rest := line[end:]
	if !rec.Message() || bytes.Contains(rest, []byte(`"forkedFrom":{`)) {
		return append(append(dst, rest...), '\n')
	}
	closing := bytes.LastIndexByte(rest, '}')
	dst = append(dst, rest[:closing]...)
	dst = append(dst, `,"forkedFrom":{"sessionId":`...)
	dst = msg.AppendString(dst, rec.Session)
	dst = append(dst, `,"messageUuid":`...)
	dst = msg.AppendString(dst, rec.ID)
	return append(dst, '}', '}', '\n')
}

// sessionSpan returns the position of the session ID in a record, or zeros.
func sessionSpan(line []byte) (start, end int) {
	c := jsonscan.Lazy(line)
	for key := range c.Members {
		at := c.Pos()
		if value := c.Skip(); string(key) == "sessionId" && len(value) > 0 && value[0] == '"' {
			start, end = at, at+len(value)
		}
	}
	return start, end
}
