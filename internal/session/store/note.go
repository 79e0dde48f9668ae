package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"adze/internal/model/cost"
	"adze/internal/msg"
)

// A Note is a record about the session other than a message. Only the types below implement it.
// When a log is loaded, the last note of each kind counts; see [State].
type Note interface {
	// kind is the type of the record.
	kind() string
	// appendFields appends the note's own fields, each with a comma before it.
	appendFields(dst []byte) []byte
}

type (
	// Title is the session name set by the user; see [CheckTitle]. AutoTitle is the generated
	// name.
	Title     string
	AutoTitle string
	// Tag is a word for finding sessions; an empty tag removes it.
	Tag string
	// Mode is the permission mode, Model the model as the user named it, and Agent the agent
	// setting.
	Mode  string
	Model string
	Agent string
	// Dirs is the complete list of additional directories.
	Dirs []string
	// Cost is the cost of the session so far. The record lists only the agents whose share has
	// changed since the log's last cost record; see [Log.Note].
	Cost struct{ Ledger *cost.Ledger }
	// Queue is a change to the queued prompts.
	Queue struct {
		Op      QueueOp
		Content string
	}
	// Rewind makes the conversation continue after the message with this ID, or from its start
	// if empty. It drops the later messages in the log from the conversation.
	Rewind string
	// Other is a note of a kind that this package does not interpret, such as a worktree or a
	// plan. Kind is its type. Fields must be valid JSON values. A [json.RawMessage] on one line
	// is written unchecked; the caller must ensure that it is valid.
	Other struct {
		Kind   string
		Fields map[string]any
	}
)

// A QueueOp is a change to the queued prompts.
type QueueOp string

// Enqueue appends a prompt, Dequeue takes the first, Discard withdraws one, and Clear withdraws
// all.
const (
	Enqueue QueueOp = "enqueue"
	Dequeue QueueOp = "dequeue"
	Discard QueueOp = "remove"
	Clear   QueueOp = "popAll"
)

// The record types; other readers of session files know the first two.
const (
	titleKind     = "custom-title"
	autoTitleKind = "ai-title"
	tagKind       = "tag"
	modeKind      = "mode"
	modelKind     = "model"
	agentKind     = "agent-setting"
	dirsKind      = "dirs"
	costKind      = "cost-state"
	queueKind     = "queue-operation"
	rewindKind    = "rewind"
	systemKind    = "system"
	summaryKind   = "summary" // written by other programs as a title
)

func (Title) kind() string     { return titleKind }
func (AutoTitle) kind() string { return autoTitleKind }
func (Tag) kind() string       { return tagKind }
func (Mode) kind() string      { return modeKind }
func (Model) kind() string     { return modelKind }
func (Agent) kind() string     { return agentKind }
func (Dirs) kind() string      { return dirsKind }
func (Cost) kind() string      { return costKind }
func (Queue) kind() string     { return queueKind }
func (Rewind) kind() string    { return rewindKind }
func (o Other) kind() string   { return o.Kind }

func (n Title) appendFields(dst []byte) []byte     { return appendField(dst, "customTitle", string(n)) }
func (n AutoTitle) appendFields(dst []byte) []byte { return appendField(dst, "aiTitle", string(n)) }
func (n Tag) appendFields(dst []byte) []byte       { return appendField(dst, "tag", string(n)) }
func (n Mode) appendFields(dst []byte) []byte      { return appendField(dst, "mode", string(n)) }
func (n Model) appendFields(dst []byte) []byte     { return appendField(dst, "model", string(n)) }
func (n Agent) appendFields(dst []byte) []byte     { return appendField(dst, "agentSetting", string(n)) }

func (n Rewind) appendFields(dst []byte) []byte { return appendField(dst, "leafUuid", string(n)) }

func (n Dirs) appendFields(dst []byte) []byte {
	dst = append(dst, `,"dirs":[`...)
	for i, dir := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = msg.AppendString(dst, dir)
	}
	return append(dst, ']')
}

func (n Cost) appendFields(dst []byte) []byte { return appendCost(dst, n.Ledger.Totals()) }

func appendCost(dst []byte, t cost.Totals) []byte { return t.AppendRecord(append(dst, `,"cost":`...)) }

// costRecord is the part of a [Cost] that a log has not recorded yet.
type costRecord cost.Totals

func (costRecord) kind() string { return costKind }

func (n costRecord) appendFields(dst []byte) []byte { return appendCost(dst, cost.Totals(n)) }

// recorded is the state of the last cost record in a log.
type recorded struct {
	version int   // ledger version
	at      int64 // size of the log before the last complete record
	length  int64 // length of that record
}

// restateCost is the distance between records that list all agents, as a multiple of their
// length: large enough that they are a small part of the log, and small enough that one is near
// its end.
const restateCost = 16

// appendCostNote appends the cost as a line. The first record lists all agents, and the list is
// repeated after enough other records.
func (l *Log) appendCostNote(dst []byte, n Cost) []byte {
	since := l.cost.version
	if l.size < l.cost.at || l.size-l.cost.at > restateCost*l.cost.length {
		since = 0
	}
	t, version := n.Ledger.Changed(since)
	l.cost.version = version
	line := appendNote(dst, costRecord(t), &l.opt)
	if since == 0 {
		l.cost.at, l.cost.length = l.size, int64(len(line))
	}
	return line
}

func (n Queue) appendFields(dst []byte) []byte {
	dst = appendField(dst, "operation", string(n.Op))
	if n.Content != "" {
		dst = appendField(dst, "content", n.Content)
	}
	return dst
}

func (o Other) appendFields(dst []byte) []byte {
	before := len(dst)
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		dst = append(msg.AppendString(append(dst, ','), name), ':')
		switch value := o.Fields[name].(type) {
		case string:
			dst = msg.AppendString(dst, value)
			continue
		case json.RawMessage:
			if len(value) > 0 && bytes.IndexByte(value, '\n') < 0 {
				dst = append(dst, value...)
				continue
			}
		}
		data, err := json.Marshal(o.Fields[name])
		if err != nil {
			return dst[:before]
		}
		dst = append(dst, data...)
	}
	return dst
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return msg.AppendString(dst, value)
}

// appendNote appends n as a line.
func appendNote(dst []byte, n Note, opt *Options) []byte {
	dst = append(dst, `{"type":`...)
	dst = msg.AppendString(dst, n.kind())
	dst = n.appendFields(dst)
	dst = appendSignature(dst, n, opt)
	dst = appendField(dst, "sessionId", opt.Session)
	dst = appendField(dst, "timestamp", time.Now().UTC().Format(timeForm))
	return append(dst, '}', '\n')
}

// check returns an error for a note that would be read as something else.
func check(n Note) error {
	o, ok := n.(Other)
	if !ok {
		return nil
	}
	switch o.Kind {
	case "", string(msg.User), string(msg.Assistant), systemKind:
		return fmt.Errorf("unknown note kind %q", o.Kind)
	}
	for name := range o.Fields {
		switch name {
		case "type", "sessionId", "timestamp", "uuid":
			return fmt.Errorf("a note of kind %s cannot have the field %s", o.Kind, name)
		}
	}
	return nil
}

// Note writes n as the last record. Before the first message it is held in memory: a session
// without messages creates no file. Errors are as for [Log.Append].
func (l *Log) Note(n Note) error {
	if l == nil {
		return nil
	}
	if err := check(n); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remember(n)
	if l.f == nil && len(l.unsaved) == 0 {
		l.early = append(l.early, n)
		return nil
	}
	return l.add(l.line(n))
}

// line encodes a note.
func (l *Log) line(n Note) []byte {
	if c, ok := n.(Cost); ok {
		return l.appendCostNote(nil, c)
	}
	return appendNote(nil, n, &l.opt)
}

// takeEarly moves the notes held until the first message to the unsaved records.
func (l *Log) takeEarly() {
	for _, n := range l.early {
		l.unsaved = append(l.unsaved, l.line(n))
	}
	l.early = nil
}

// MaxTitle is the maximum length of a title in characters.
const MaxTitle = 200

// CheckTitle normalizes a title that the user typed: one line, without control characters, cut
// if too long. An empty title is an error.
func CheckTitle(s string) (string, error) {
	s = oneLine(s, MaxTitle)
	if s == "" {
		return "", errors.New("a title cannot be empty; give it at least one character")
	}
	return s, nil
}

// oneLine returns the words of s on a line, without control characters, cut to n characters.
func oneLine(s string, n int) string {
	var b strings.Builder
	count, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = count > 0
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d', r == unicode.ReplacementChar:
			continue
		}
		if space {
			if count+1 >= n {
				break
			}
			b.WriteByte(' ')
			count++
			space = false
		}
		if count == n {
			break
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}
