package archive

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
	"adze/internal/session/store"
)

const (
	// edge is how many bytes are read from the start and the end of a large log.
	edge = 64 << 10
	// whole is the size up to which a log, or an addition to one, is read completely.
	whole = 2 * edge
)

// A reader extracts the metadata of logs. It is not safe for concurrent use.
type reader struct {
	buf  []byte
	info Info
	// dir is the working directory of the first message, and session its session ID.
	dir, session string
	firstWords   string // first words of the first prompt
	any          bool   // a message was found
	last         []byte // the last message's raw line
}

// read returns the metadata of a log. If known describes its first from bytes, only the rest is
// read.
func (r *reader) read(path string, size, from int64, known Info) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	*r = reader{buf: r.buf}
	if from > 0 && size-from <= whole && known.Messages > 0 {
		r.info = known
		r.firstWords, r.any = known.AutoTitle, true
		if err := r.part(f, from, size); err != nil {
			return Info{}, err
		}
		return r.finish(), nil
	}
	if size <= whole {
		err = r.part(f, 0, size)
	} else {
		err = r.edges(f, size)
	}
	if err != nil {
		return Info{}, err
	}
	return r.finish(), nil
}

// part reads the lines of a part that starts at the beginning of a line.
func (r *reader) part(f io.ReaderAt, from, to int64) error {
	data, err := r.load(f, from, to)
	if err != nil {
		return err
	}
	r.lines(data)
	return nil
}

func (r *reader) load(f io.ReaderAt, from, to int64) ([]byte, error) {
	if r.buf == nil {
		r.buf = make([]byte, whole)
	}
	data := r.buf[:to-from]
	n, err := f.ReadAt(data, from)
	if err == io.EOF { // truncated by another process
		err = nil
	}
	return data[:n], err
}

// edges reads the start and the end of a large log, and estimates the rest.
func (r *reader) edges(f io.ReaderAt, size int64) error {
	head, err := r.load(f, 0, edge)
	if err != nil {
		return err
	}
	used := r.lines(head)
	if r.firstWords == "" && used < len(head) {
		r.partial(head[used:])
	}
	tail, err := r.load(f, size-edge, size)
	if err != nil {
		return err
	}
	start := bytes.IndexByte(tail, '\n') + 1
	used += r.lines(tail[start:])
	if used > 0 {
		r.info.Messages = max(r.info.Messages, int(float64(r.info.Messages)*float64(size)/float64(used)))
	}
	r.any = true
	r.info.About = true
	return nil
}

// lines reads complete lines and returns their size in bytes.
func (r *reader) lines(data []byte) (used int) {
	for used < len(data) {
		n := bytes.IndexByte(data[used:], '\n')
		if n < 0 {
			break
		}
		r.line(data[used : used+n])
		used += n + 1
	}
	if r.last != nil {
		r.leaf(r.last)
		r.last = nil
	}
	return used
}

// line reads a line. For most lines it inspects only the first bytes, because it runs for every
// line of thousands of logs.
func (r *reader) line(line []byte) {
	switch {
	case begins(line, `{"type":"user"`), begins(line, `{"type":"assistant"`), begins(line, `{"parentUuid"`):
		r.message(line)
	case begins(line, `{"type":"custom-title"`), begins(line, `{"type":"ai-title"`), begins(line, `{"type":"tag"`), begins(line, `{"type":"summary"`):
		r.note(line)
	case begins(line, `{"type":`), !begins(line, "{"):
	default:
		// Other programs may order fields differently.
		rec, err := store.ParseRecord(line)
		if err == nil && rec.Message() {
			r.message(line)
		}
	}
}

func begins(line []byte, prefix string) bool {
	return len(line) >= len(prefix) && string(line[:len(prefix)]) == prefix
}

func (r *reader) message(line []byte) {
	if r.firstWords != "" && beginsAgain(line) {
		if r.info.AutoTitle == r.firstWords {
			r.info.AutoTitle = ""
		}
		r.firstWords = ""
	}
	if !r.any || r.firstWords == "" {
		rec, err := store.ParseRecord(line)
		if err != nil || !rec.Message() {
			return
		}
		if !r.any {
			r.any = true
			r.dir, r.session = rec.Dir, rec.Session
			r.info.Created, _ = time.Parse(time.RFC3339Nano, rec.Time) // ok: the time is optional
		}
		if rec.Type == string(msg.User) {
			if e, err := rec.Entry(); err == nil && !e.Hidden {
				r.firstWords = store.AutoTitleOf(promptText(typedText(e.Message)))
			}
		}
	}
	if readable(line) {
		r.info.Messages++
	}
	r.last = line
}

// beginsAgain reports whether a prompt has no parent, which happens when the first prompt was
// withdrawn. The summary of a compaction is not a prompt.
func beginsAgain(line []byte) bool {
	head, _, _ := bytes.Cut(line, []byte(`"message":`))
	return begins(line, `{"type":"user"`) && bytes.Contains(line[:min(len(line), 100)], []byte(`"parentUuid":null`)) &&
		!bytes.Contains(head, []byte(`"isMeta":true`))
}

// readable reports whether a user would count a line as a message: a prompt or an answer, not a
// tool call, its result, or a reminder to the model. It decides by the raw text of the line.
func readable(line []byte) bool {
	const begin = 300 // limit for the start of the first part, in bytes
	head, message, _ := bytes.Cut(line, []byte(`"message":`))
	switch {
	case bytes.Contains(head, []byte(`"isMeta":true`)):
		return false
	case bytes.Contains(head, []byte(`"type":"assistant"`)):
		return bytes.Contains(message, []byte(`{"type":"text"`))
	}
	message = message[:min(begin, len(message))]
	return !bytes.Contains(message, []byte(`"tool_result"`))
}

// typedText returns the text of a message without additions by the program.
func typedText(m msg.Message) string { return strings.Join(msg.TypedTexts(m), "\n") }

// promptText returns the text that the user typed. It is empty if a program wrote the message.
func promptText(text string) string {
	trimmed := strings.TrimSpace(msg.TitleText(text))
	for _, prefix := range []string{"<system-reminder>", "<command-", "<local-command-"} {
		if strings.HasPrefix(trimmed, prefix) {
			return ""
		}
	}
	// This is longer than any title.
	return trimmed[:min(len(trimmed), 2000)]
}

// note reads a title or a tag.
func (r *reader) note(line []byte) {
	var n struct {
		Type, CustomTitle, AiTitle, Summary, Tag string
	}
	if json.Unmarshal(line, &n) != nil {
		return
	}
	switch n.Type {
	case "custom-title":
		r.info.Title, _ = store.CheckTitle(n.CustomTitle) // ok: an empty title is ignored
	case "ai-title":
		r.info.AutoTitle = store.AutoTitleOf(n.AiTitle)
	case "summary":
		if r.info.AutoTitle == "" {
			r.info.AutoTitle = store.AutoTitleOf(n.Summary)
		}
	case "tag":
		r.info.Tag, _ = store.CheckTitle(n.Tag) // ok: an empty tag removes it
	}
}

// leaf reads the session's current branch from its last message.
func (r *reader) leaf(line []byte) {
	c := jsonscan.Lazy(line)
	for key := range c.Members {
		if string(key) == "message" && r.info.Branch != "" {
			return
		}
		if string(key) == "gitBranch" && c.Kind() == '"' {
			r.info.Branch = c.String()
			return
		}
		c.Skip()
	}
}

// partial extracts the first words of a first prompt that is too long to be read completely.
func (r *reader) partial(line []byte) {
	if !begins(line, `{"type":"user"`) && !begins(line, `{"parentUuid"`) {
		return
	}
	for _, before := range []string{`"text":"`, `"content":"`} {
		_, rest, ok := bytes.Cut(line, []byte(before))
		if !ok {
			continue
		}
		rest = rest[:min(len(rest), 1000)]
		if end := bytes.LastIndexByte(rest, ' '); end > 0 { // do not cut an escape sequence
			rest = rest[:end]
		}
		c := jsonscan.Lazy(append(append([]byte{'"'}, rest...), '"'))
		r.firstWords = store.AutoTitleOf(promptText(c.String()))
		r.info.Messages++
		return
	}
}

func (r *reader) finish() Info {
	if r.any {
		r.info.Messages = max(r.info.Messages, 1)
	}
	if r.info.AutoTitle == "" {
		r.info.AutoTitle = r.firstWords
	}
	return r.info
}
