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
)

// LoadOptions say which part of a log is wanted. The zero value is what a session continues.
type LoadOptions struct {
	// At is the id of the message to stop after; what follows it in the log is ignored.
	At string
	// Structured includes the structured results of calls, which no request needs.
	Structured bool
	// Home is the state home with the key of this user's signatures; without one, no rights are restored. [Resume] sets it.
	Home string
	// Partial includes an answer that was arriving when the process was killed; see [Log.SavePartial]. [Resume] includes it
	// anyway.
	Partial bool

	all bool // every message in the order of the log, on all branches; only tests set it
}

// Contents is what a log holds, as far as it can be read.
type Contents struct {
	// Entries are the conversation to continue: from the newest message back along the parents to the
	// last compaction, with what that one kept.
	Entries []msg.Entry
	State   State
	// Boundary is the compaction that the entries begin with, or nil.
	Boundary *Boundary
	// Rewound says that the conversation went back to its beginning: there may be no entries.
	Rewound bool
	// Notices are sentences for the user.
	Notices []string
	// Session is the id that the records have. Dir, Branch and Version are those of the last message.
	Session              string
	Dir, Branch, Version string
	// Made lists the ids of entries that came without an id or a time and got one.
	Made []string
	// Other counts the records that are not among the entries; they stay in the file.
	Other int
	// Bad counts the lines that cannot be read.
	Bad int
	// Torn says that the last line has no end. It is not among the entries.
	Torn bool
	// Skipped is how many bytes at the start of the log were not read.
	Skipped int64
}

// ReadCap is how much of a log is read, from its end, in bytes.
const ReadCap = 52_428_800

var (
	// ErrNoMessages says that a log holds nothing to continue.
	ErrNoMessages = errors.New("it holds no messages")
	// ErrUnknownMessage says that a log does not have the message that was named.
	ErrUnknownMessage = errors.New("no such message")
)

// Load reads the log at path. It changes nothing, takes no lock, and damage to one line costs that
// line alone; so it is also how a second process follows a session. Of a log that is larger than
// [ReadCap] it reads the end.
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

// openRegular opens a file for reading; anything that is not a file could block for ever.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("reading transcript: %s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading transcript: %w", err)
	}
	if info, err = f.Stat(); err != nil {
		f.Close() // ok: the error that counts is known
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
	x.state.spent = nil // it was needed to read
	c := &Contents{State: x.state, Bad: x.bad, Torn: x.torn, Skipped: from, Rewound: x.rewound[-1]}
	var places []int32
	torn := false
	if opt.all {
		places = x.all()
	} else {
		torn = x.discardTorn(stopped)
		places, c.Boundary = x.chain(from > 0)
	}
	if err := c.collect(x, places, &blocks{r: r, size: size}); err != nil {
		return nil, err
	}
	if from > 0 && c.Boundary == nil && !opt.all {
		c.Entries = fromPrompt(c.Entries)
	}
	c.Other = x.lines - len(c.Entries) - c.Bad
	c.tell(torn)
	return c, nil
}

// collect takes the messages at places. The last of them that can be read says where the session is.
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
		line, err := in.at(x.links[at].off, int(x.links[at].size))
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

// stateHead is how much is read of the start of a log that is too large to be read whole: a title may
// be there.
const stateHead = 64 << 10

func (x *index) readState(r io.Reader) {
	head := index{state: State{key: x.state.key}}
	head.read(r, 0) // ok: what cannot be read of the start was not asked for
	x.state = head.state
	x.state.Queued = nil // what became of them is not known
}

// window returns where reading begins: at the start of a line within the last [ReadCap] bytes, or of
// the last line, if that is longer.
func window(r io.ReaderAt, size int64) (int64, error) {
	if size <= ReadCap {
		return 0, nil
	}
	in := newLines(io.NewSectionReader(r, size-ReadCap-1, ReadCap+1))
	_, _, err := in.next() // the rest of a line
	switch {
	case err == nil && size-ReadCap-1+in.off < size:
		return size - ReadCap - 1 + in.off, nil
	case err == nil: // that was the last line
	case !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return 0, err
	}
	return lastLineEnd(r, size-1)
}

// lastCompaction returns about where the last compaction begins, or from if there is none. A text that looks like one costs no
// more than time.
func lastCompaction(r io.ReaderAt, from, size int64) int64 {
	mark := []byte(`"compact_boundary"`)
	block := make([]byte, 1<<20)
	for end := size; end > from; {
		start := max(from, end-int64(len(block)))
		part := block[:end-start]
		if n, err := r.ReadAt(part, start); err != nil && n < len(part) {
			return from // the log is read as a whole
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

// fromPrompt leaves out what is before the first thing that the user said.
func fromPrompt(entries []msg.Entry) []msg.Entry {
	for i, e := range entries {
		if e.Message.Role == msg.User && len(resultIDs(e.Message)) == 0 {
			return entries[i:]
		}
	}
	return entries
}

// tell makes the notices. Torn says that the last compaction does not count.
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
		say("The transcript's record of what the session cost cannot be read.")
	}
}
