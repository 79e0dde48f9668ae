package store

import (
	"encoding/json"
	"slices"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
)

// A State is the combined state of a log's notes; the last note of each kind counts.
type State struct {
	Title, AutoTitle, Tag string
	Model, Agent          string
	// Mode and Dirs are the permission mode and additional directories in the log. Other users
	// may have written them; see [State.Rights].
	Mode string
	Dirs []string
	// Cost is nil if no plausible cost was recorded.
	Cost *cost.Totals
	// Queued holds the prompts that were waiting for their turn.
	Queued []string
	// Last holds the complete last record of each other kind, by type.
	Last map[string]json.RawMessage
	// costBad is true if a cost record could not be read.
	costBad bool
	spent   *cost.History // Cost is its sum

	key                    []byte // signing key; nil if missing
	modeSigned, dirsSigned bool
}

// maxKept is the maximum size of a record in [State.Last].
const maxKept = 256 << 10

// take applies a record other than a message. It reports whether the record is readable.
func (s *State) take(kind string, line []byte) bool {
	var r struct {
		Title     string          `json:"customTitle"`
		AutoTitle string          `json:"aiTitle"`
		Summary   string          `json:"summary"`
		Tag       string          `json:"tag"`
		Mode      string          `json:"mode"`
		Model     string          `json:"model"`
		Agent     string          `json:"agentSetting"`
		Dirs      []string        `json:"dirs"`
		Cost      json.RawMessage `json:"cost"`
		Operation QueueOp         `json:"operation"`
		Session   string          `json:"sessionId"`
		Signature string          `json:"signature"`
		Content   json.RawMessage `json:"content"`
	}
	switch kind {
	case titleKind, autoTitleKind, summaryKind, tagKind, modeKind, modelKind, agentKind, dirsKind, costKind, queueKind:
		if json.Unmarshal(line, &r) != nil {
			return false
		}
	}
	switch kind {
	case titleKind:
		s.Title = oneLine(r.Title, MaxTitle)
	case autoTitleKind:
		s.AutoTitle = oneLine(r.AutoTitle, MaxAutoTitle)
	case summaryKind:
		if s.AutoTitle == "" {
			s.AutoTitle = oneLine(r.Summary, MaxAutoTitle)
		}
	case tagKind:
		s.Tag = oneLine(r.Tag, MaxTitle)
	case modeKind:
		s.Mode, s.modeSigned = r.Mode, signed(s.key, r.Session, r.Signature, Mode(r.Mode))
	case modelKind:
		s.Model = r.Model
	case agentKind:
		s.Agent = r.Agent
	case dirsKind:
		s.Dirs, s.dirsSigned = r.Dirs, signed(s.key, r.Session, r.Signature, Dirs(r.Dirs))
	case costKind:
		t, err := cost.ParseRecord(r.Cost)
		s.costBad = err != nil
		if err == nil {
			if s.spent == nil {
				s.spent = &cost.History{}
			}
			s.spent.Add(t)
			s.Cost = &s.spent.Totals
		}
	case queueKind:
		s.queue(r.Operation, r.Content)
	default:
		return s.keep(kind, line)
	}
	return true
}

// queue replays a change to the queued prompts.
func (s *State) queue(op QueueOp, content json.RawMessage) {
	var text string
	if len(content) > 0 && json.Unmarshal(content, &text) != nil {
		return // another program's format, with parts instead of text
	}
	switch op {
	case Enqueue:
		s.Queued = append(s.Queued, text)
	case Dequeue:
		if len(s.Queued) > 0 {
			s.Queued = s.Queued[1:]
		}
	case Discard:
		if i := slices.Index(s.Queued, text); i >= 0 {
			s.Queued = slices.Delete(slices.Clone(s.Queued), i, i+1)
		}
	case Clear:
		s.Queued = nil
	}
}

// keep stores a record of an unknown kind.
func (s *State) keep(kind string, line []byte) bool {
	if len(line) > maxKept {
		return true
	}
	if !json.Valid(line) {
		return false
	}
	if s.Last == nil {
		s.Last = map[string]json.RawMessage{}
	}
	if _, ok := s.Last[kind]; ok || len(s.Last) < 100 {
		s.Last[kind] = append(json.RawMessage(nil), line...)
	}
	return true
}

// A Boundary marks a compaction. It drops the earlier messages from the conversation, except
// those it lists.
type Boundary struct {
	ID   string
	Time time.Time
	// Trigger is auto, manual or micro; anything else is read as auto.
	Trigger string
	// PreTokens and PostTokens are the sizes of the conversation before and after.
	PreTokens, PostTokens int
	// Last is the ID of the last message before the boundary, Summary the ID of the summary
	// after it, and Kept the IDs of earlier messages that stay unchanged.
	Last, Summary string
	Kept          []string
	// Recast holds the IDs of messages after the summary that replace earlier ones.
	Recast []string
	// Behind is true if the summary comes after the kept messages.
	Behind       bool
	Instructions string
}

type boundaryRecord struct {
	ID        string         `json:"uuid"`
	Timestamp string         `json:"timestamp"`
	Last      string         `json:"logicalParentUuid"`
	Metadata  boundaryFields `json:"compact_metadata"`
}

type boundaryFields struct {
	Trigger      string  `json:"trigger"`
	PreTokens    int     `json:"pre_tokens"`
	PostTokens   int     `json:"post_tokens,omitempty"`
	Instructions string  `json:"instructions,omitempty"`
	Preserved    segment `json:"preserved_segment"`
}

type segment struct {
	Summary string   `json:"summary_uuid,omitempty"`
	Kept    []string `json:"message_uuids,omitempty"`
	Recast  []string `json:"recast_uuids,omitempty"`
	Behind  bool     `json:"summary_last,omitempty"`
}

// Compact writes a boundary followed by the summary and the recast messages. It is a single
// write, which a crash may cut short; the boundary names all messages, and counts only if they
// are complete.
func (l *Log) Compact(b Boundary, then ...msg.Entry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b.Recast = nil
	for _, e := range then[min(1, len(then)):] {
		b.Recast = append(b.Recast, e.ID)
	}
	record := appendBoundary(nil, b, &l.opt)
	for _, e := range then {
		record = appendRecord(record, e, &l.opt)
	}
	l.takeEarly()
	return l.add(record)
}

func appendBoundary(dst []byte, b Boundary, opt *Options) []byte {
	if b.ID == "" {
		b.ID = msg.NewID()
	}
	if b.Time.IsZero() {
		b.Time = time.Now()
	}
	dst = append(dst, `{"type":"system","subtype":"compact_boundary"`...)
	dst = appendField(dst, "uuid", b.ID)
	dst = append(dst, `,"parentUuid":null`...)
	if b.Last != "" {
		dst = appendField(dst, "logicalParentUuid", b.Last)
	}
	dst = append(dst, `,"isSidechain":false`...)
	dst = appendField(dst, "sessionId", opt.Session)
	dst = appendField(dst, "timestamp", b.Time.UTC().Format(timeForm))
	dst = appendField(dst, "cwd", opt.Dir)
	dst = appendField(dst, "version", opt.Version)
	dst = appendField(dst, "content", "Conversation compacted")
	fields, _ := json.Marshal(boundaryFields{ // ok: strings and numbers
		Trigger: trigger(b.Trigger), PreTokens: b.PreTokens, PostTokens: b.PostTokens, Instructions: b.Instructions,
		Preserved: segment{b.Summary, b.Kept, b.Recast, b.Behind},
	})
	dst = append(append(dst, `,"compact_metadata":`...), fields...)
	return append(dst, '}', '\n')
}

func parseBoundary(line []byte) (*Boundary, bool) {
	var r boundaryRecord
	if json.Unmarshal(line, &r) != nil {
		return nil, false
	}
	b := &Boundary{
		ID: r.ID, Last: r.Last, Trigger: trigger(r.Metadata.Trigger), PreTokens: r.Metadata.PreTokens, PostTokens: r.Metadata.PostTokens,
		Instructions: r.Metadata.Instructions, Summary: r.Metadata.Preserved.Summary, Kept: r.Metadata.Preserved.Kept,
		Recast: r.Metadata.Preserved.Recast, Behind: r.Metadata.Preserved.Behind,
	}
	b.Time, _ = time.Parse(time.RFC3339Nano, r.Timestamp) // ok: a boundary's position counts, not its time
	return b, true
}

func trigger(s string) string {
	switch s {
	case "auto", "manual", "micro":
		return s
	}
	return "auto"
}
