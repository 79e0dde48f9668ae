package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
)

// LoadOptions selects the part of a log to load. The zero value loads the part that a session
// continues.
type LoadOptions struct {
	// At is the ID of the message to stop after; the rest of the log is ignored.
	At string
	// Structured includes the structured results of calls, which requests do not need.
	Structured bool
	// Older is the maximum number of messages to load from before the last compaction.
	Older int
	// Home is the state home with the user's signing key; without it, no rights are restored.
	// [Resume] sets it.
	Home string
	// Partial includes an answer that was arriving when the process was killed; see
	// [Log.SavePartial]. [Resume] always includes it.
	Partial bool

	all bool // all messages on all branches in log order; for tests
}

// Contents holds the readable contents of a log.
type Contents struct {
	// Entries is the conversation to continue: from the newest message back along the parents
	// to the last compaction, including the messages it kept.
	Entries []msg.Entry
	State   State
	// Boundary is the compaction that the entries start with, or nil. Older is the end of the
	// conversation before it, including the messages that it kept; see [LoadOptions.Older].
	Boundary *Boundary
	Older    []msg.Entry
	// Rewound is true if the conversation was rewound to its start; there may be no entries.
	Rewound bool
	// Notices holds messages for the user.
	Notices []string
	// Session is the session ID of the records. Dir, Branch and Version come from the last
	// message.
	Session              string
	Dir, Branch, Version string
	// Made lists the IDs of entries whose ID or time was missing and had to be generated.
	Made []string
	// Other counts the records that are not in Entries; they stay in the file.
	Other int
	// Bad counts the unreadable lines.
	Bad int
	// Torn is true if the last line is incomplete. It is not included in Entries.
	Torn bool
	// Skipped is the number of bytes at the start of the log that were not read.
	Skipped int64
}

// ReadCap is the maximum number of bytes read from the end of a log.
const ReadCap = 52_428_800

var (
	// ErrNoMessages reports that a log has nothing to continue.
	ErrNoMessages = errors.New("it holds no messages")
	// ErrUnknownMessage reports that a log does not contain the named message.
	ErrUnknownMessage = errors.New("no such message")
)

// Load reads the log at path without changing or locking it, so a second process can use it to
// follow a session. A damaged line affects only itself. If a log is larger than [ReadCap], only
// the end is read.
func Load(path string, opt LoadOptions) (*Contents, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := readLog(f, size, opt)
	if err != nil {
		return nil, fmt.Errorf("reading transcript %s: %w", path, err)
	}
	if c.Session == "" {
		c.Session = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	if opt.Partial {
		c.restorePartial(path, opt.Structured)
	}
	return c, nil
}

// openRegular opens a regular file for reading; anything else could block forever.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("reading transcript: %s is not a file", path)
	}
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("reading transcript: %w", err)
	}
	if info, err = f.Stat(); err != nil {
		f.Close() // ok: the first error is returned
		return nil, 0, fmt.Errorf("reading transcript: %w", err)
	}
	return f, info.Size(), nil
}

func readLog(r io.ReaderAt, size int64, opt LoadOptions) (*Contents, error) {
	from, err := window(r, size)
	if err != nil {
		return nil, err
	}
	x := &index{opt: opt, state: State{key: readKey(opt.Home)}}
	if opt.At == "" {
		x.wanted = lastCompaction(r, from, size)
	}
	if from > 0 {
		x.readState(io.NewSectionReader(r, 0, min(from, stateHead)))
	}
	stopped, err := x.read(io.NewSectionReader(r, from, size-from), from)
	if err != nil {
		return nil, err
	}
	if opt.At != "" && !stopped {
		return nil, fmt.Errorf("%w as %s", ErrUnknownMessage, opt.At)
	}
	x.state.spent = nil // only needed for reading
	c := &Contents{State: x.state, Bad: x.bad, Torn: x.torn, Skipped: from, Rewound: x.rewound[-1]}
	var places []int32
	torn := false
	if opt.all {
		places = x.all()
	} else {
		torn = x.discardTorn(stopped)
		places, c.Boundary = x.chain(from > 0)
	}
	in := &blocks{r: r, size: size}
	if err := c.collect(x, places, in); err != nil {
		return nil, err
	}
	for _, at := range x.older(c.Boundary, from > 0) {
		if e, err := x.message(at, in); err == nil { // ok: they are only for display
			c.Older = append(c.Older, e)
		}
	}
	if from > 0 && c.Boundary == nil && !opt.all {
		c.Entries = fromPrompt(c.Entries)
	}
	c.Other = x.lines - len(c.Entries) - c.Bad
	c.tell(torn)
	return c, nil
}

// collect adds the messages at places. The last readable message determines the session's
// location.
func (c *Contents) collect(x *index, places []int32, in *blocks) error {
	c.Entries = make([]msg.Entry, 0, len(places))
	for _, at := range places {
		e, err := x.message(at, in)
		if errors.Is(err, errDamaged) {
			c.Bad++
			continue
		}
		if err != nil {
			return err
		}
		if x.made[at] {
			c.Made = append(c.Made, e.ID)
		}
		c.Entries = append(c.Entries, e)
	}
	for _, at := range slices.Backward(places) {
		line, err := in.bytesAt(x.links[at].off, int(x.links[at].size))
		if err != nil {
			return err
		}
		if r, err := ParseRecord(line); err == nil {
			c.Session, c.Dir, c.Branch, c.Version = r.Session, r.Dir, r.Branch, r.Version
			break
		}
	}
	return nil
}

// stateHead is the number of bytes read at the start of a log that is too large to read
// completely: a title may be there.
const stateHead = 64 << 10

func (x *index) readState(r io.Reader) {
	head := index{state: State{key: x.state.key}}
	head.read(r, 0) // ok: the start is optional
	x.state = head.state
	x.state.Queued = nil // their current state is unknown
}

// window returns the offset where reading starts: the start of a line within the last [ReadCap]
// bytes, or the start of the last line if that is longer.
func window(r io.ReaderAt, size int64) (int64, error) {
	if size <= ReadCap {
		return 0, nil
	}
	in := newLines(io.NewSectionReader(r, size-ReadCap-1, ReadCap+1))
	_, _, err := in.next() // rest of a line
	switch {
	case err == nil && size-ReadCap-1+in.off < size:
		return size - ReadCap - 1 + in.off, nil
	case err == nil: // past the last line
	case !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return 0, err
	}
	return lastLineEnd(r, size-1)
}

// lastCompaction returns the approximate offset of the last compaction, or from if it finds
// none. A text that looks like a compaction only costs time.
func lastCompaction(r io.ReaderAt, from, size int64) int64 {
	mark := []byte(`"compact_boundary"`)
	block := make([]byte, 1<<20)
	for end := size; end > from; {
		start := max(from, end-int64(len(block)))
		part := block[:end-start]
		if n, err := r.ReadAt(part, start); err != nil && n < len(part) {
			return from // read the complete log
		}
		if i := bytes.LastIndex(part, mark); i >= 0 {
			return start + int64(bytes.LastIndexByte(part[:i], '\n')+1)
		}
		if start == from {
			break
		}
		end = start + int64(len(mark)) - 1
	}
	return from
}

// fromPrompt drops the entries before the first user prompt.
func fromPrompt(entries []msg.Entry) []msg.Entry {
	for i, e := range entries {
		if e.Message.Role == msg.User && len(resultIDs(e.Message)) == 0 {
			return entries[i:]
		}
	}
	return entries
}

// tell adds the notices. Torn means that the last compaction was dropped.
func (c *Contents) tell(torn bool) {
	say := func(format string, args ...any) { c.Notices = append(c.Notices, fmt.Sprintf(format, args...)) }
	if c.Skipped > 0 {
		say("The transcript is larger than %d MB: the first %d MB were not loaded. They stay in the file.", ReadCap>>20, max(1, c.Skipped>>20))
	}
	switch {
	case c.Bad == 1:
		say("One line of the transcript cannot be read and was skipped.")
	case c.Bad > 1:
		say("%d lines of the transcript cannot be read and were skipped.", c.Bad)
	}
	switch n := len(c.Made); {
	case n == 1:
		say("One message of the transcript had no id or no time and got one.")
	case n > 1:
		say("%d messages of the transcript had no id or no time and got one.", n)
	}
	if torn {
		say("The last compaction was not written whole, or its summary is damaged: the conversation continues uncompacted.")
	}
	if c.State.costBad {
		say("The session's cost record in the transcript cannot be read.")
	}
}
