package store

import (
	"encoding/json"
	"slices"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
)

// A State is what the notes of a log come to: the last one of each kind counts.
type State struct {
	Title, AutoTitle, Tag string
	Model, Agent          string
	// Mode and Dirs are the permission mode and the additional directories as the log has them. Others may have written them:
	// see [State.Rights].
	Mode string
	Dirs []string
	// Cost is nil if nothing was noted, or nothing that can be true.
	Cost *cost.Totals
	// Queued are the prompts that were waiting for their turn.
	Queued []string
	// Last has the last record of each other kind, whole, by its type.
	Last map[string]json.RawMessage
	// costBad says that a record of the cost could not be read.
	costBad bool
	spent   *cost.History // Cost is its sum

	key                    []byte // of signatures; nil if there is none
	modeSigned, dirsSigned bool
}

// maxKept bounds a record in [State.Last].
const maxKept = 256 << 10

// take adds what a record that is no message says. It reports whether the record can be read.
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

// queue replays what happened to the prompts that wait.
func (s *State) queue(op QueueOp, content json.RawMessage) {
	var text string
	if len(content) > 0 && json.Unmarshal(content, &text) != nil {
		return // of another program, with parts instead of text
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

// keep keeps a record whose kind means nothing here.
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

// A Boundary marks a compaction: what is before it is not part of the conversation any more, except
// for what it lists.
type Boundary struct {
	ID   string
	Time time.Time
	// Trigger is auto, manual or micro; anything else is read as auto.
	Trigger string
	// PreTokens and PostTokens are the sizes before and after.
	PreTokens, PostTokens int
	// Last is the id of the last message before it, Summary that of the message, after it, that stands
	// for what is gone, and Kept are those of the messages, before it, that stay as they are.
	Last, Summary string
	Kept          []string
	// Recast are the ids of the messages, after the summary, that stand for others from before it.
	Recast []string
	// Behind says that the summary stands behind what was kept.
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

// Compact writes a boundary and the messages that follow it: the summary, and then those that were recast. It is
// a single write, of which a crash may leave a part; the boundary names all of it, and counts only if it is whole.
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
	b.Time, _ = time.Parse(time.RFC3339Nano, r.Timestamp) // ok: a boundary counts by its place
	return b, true
}

func trigger(s string) string {
	switch s {
	case "auto", "manual", "micro":
		return s
	}
	return "auto"
}
