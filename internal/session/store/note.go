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

// A Note is a record about the session that is no message: one of the types below, and nothing else.
// When a log is loaded the last note of each kind counts; see [State].
type Note interface {
	// kind is the type of the record.
	kind() string
	// appendFields appends the note's own fields, each with a comma before it.
	appendFields(dst []byte) []byte
}

type (
	// Title is the name that the user gave the session; see [CheckTitle]. AutoTitle is the one it
	// got by itself.
	Title     string
	AutoTitle string
	// Tag is a word to find sessions by; an empty one takes it back.
	Tag string
	// Mode is the permission mode, Model the model as the user named it, Agent the agent setting.
	Mode  string
	Model string
	Agent string
	// Dirs are the additional directories, all of them.
	Dirs []string
	// Cost is what the session has cost so far. Of the agents, the record lists those whose part has changed since the log's
	// last one; see [Log.Note].
	Cost struct{ Ledger *cost.Ledger }
	// Queue is a change to the prompts that wait for their turn.
	Queue struct {
		Op      QueueOp
		Content string
	}
	// Rewind says that the conversation continues after the message with this id, or from its beginning if that is
	// empty. What follows the message in the log is no part of it any more.
	Rewind string
	// Other is a note of a kind that this package need not know, such as a worktree or a plan. Kind is
	// its type. Fields must be values that JSON can hold. A [json.RawMessage] of one line is written as it is: who made it
	// vouches for it.
	Other struct {
		Kind   string
		Fields map[string]any
	}
)

// A QueueOp says what happened to a prompt that waits.
type QueueOp string

// What can happen: a prompt comes last, the first one is taken, one is taken back, or all are.
const (
	Enqueue QueueOp = "enqueue"
	Dequeue QueueOp = "dequeue"
	Discard QueueOp = "remove"
	Clear   QueueOp = "popAll"
)

// The types of the records; the first two are those that readers of session files know.
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
	summaryKind   = "summary" // of other programs: a title
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

// costRecord is a [Cost] with what a log has not recorded of it yet.
type costRecord cost.Totals

func (costRecord) kind() string { return costKind }

func (n costRecord) appendFields(dst []byte) []byte { return appendCost(dst, cost.Totals(n)) }

// recorded is what a log has recorded of the cost.
type recorded struct {
	version int   // of the ledger
	at      int64 // size of the log before the last record with all agents
	length  int64 // of that record
}

// restateCost is how many times its own length a record with all agents is followed by others before the next one: few enough
// that such records are a small part of the log, and that one is near its end.
const restateCost = 16

// appendCostNote appends the cost as one line: with all agents at first, and again after enough other records.
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

// appendNote appends n as one line.
func appendNote(dst []byte, n Note, opt *Options) []byte {
	dst = append(dst, `{"type":`...)
	dst = msg.AppendString(dst, n.kind())
	dst = n.appendFields(dst)
	dst = appendSignature(dst, n, opt)
	dst = appendField(dst, "sessionId", opt.Session)
	dst = appendField(dst, "timestamp", time.Now().UTC().Format(timeForm))
	return append(dst, '}', '\n')
}

// check reports a note that would be taken for something else.
func check(n Note) error {
	o, ok := n.(Other)
	if !ok {
		return nil
	}
	switch o.Kind {
	case "", string(msg.User), string(msg.Assistant), systemKind:
		return fmt.Errorf("%q is no kind of note", o.Kind)
	}
	for name := range o.Fields {
		switch name {
		case "type", "sessionId", "timestamp", "uuid":
			return fmt.Errorf("a note of kind %s cannot have the field %s", o.Kind, name)
		}
	}
	return nil
}

// Note writes n as the last record. Before the first message it waits in memory: a session without a
// message leaves nothing behind. Errors are as with [Log.Append].
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

// line returns a note as it is written.
func (l *Log) line(n Note) []byte {
	if c, ok := n.(Cost); ok {
		return l.appendCostNote(nil, c)
	}
	return appendNote(nil, n, &l.opt)
}

// takeEarly moves the notes that waited for the first message to what is to be written.
func (l *Log) takeEarly() {
	for _, n := range l.early {
		l.unsaved = append(l.unsaved, l.line(n))
	}
	l.early = nil
}

// MaxTitle is how many characters a title has at most.
const MaxTitle = 200

// CheckTitle returns what the user typed as a title: on one line, without what a terminal would obey,
// and cut if it is too long. An empty one is an error.
func CheckTitle(s string) (string, error) {
	s = oneLine(s, MaxTitle)
	if s == "" {
		return "", errors.New("a title cannot be empty; give it at least one character")
	}
	return s, nil
}

// oneLine returns the words of s, without control characters, cut to n characters.
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
