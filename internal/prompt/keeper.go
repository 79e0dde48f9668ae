package prompt

import (
	"encoding/json"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// The kinds of notes that store a session's request prefix. They are written when it changes; a
// later process of the same version resumes from them.
const (
	// beginningKind is followed by the model; its fields are a [RequestPrefix].
	beginningKind = "request-beginning/"
	// openingKind stores the opening under "pieces", with the version and language that wrote
	// it.
	openingKind = "request-opening"
	// toldKind stores later announcements under "said".
	toldKind = "told-since"
)

// A PrefixStore stores a session's request prefix and later announcements. A prompt and an announcer
// share it. The zero value stores nothing.
type PrefixStore struct {
	// Version is the program version, and Language returns the prompt language.
	Version  string
	Language func() texts.Language
	// Note, if non-nil, stores a note.
	Note func(kind string, fields map[string]any)

	told AnnouncementLog
}

func (k *PrefixStore) note(kind string, fields map[string]any) {
	if k.Note != nil {
		k.Note(kind, fields)
	}
}

func (k *PrefixStore) begun(modelID string, b RequestPrefix) {
	if k.Note != nil {
		k.note(beginningKind+modelID, map[string]any{"version": k.Version, "blocks": appendArray(nil, b.Blocks, appendBlock), "tools": appendArray(nil, b.Tools, appendListed)})
	}
}

func (k *PrefixStore) opened(pieces []Piece) {
	if k.Note != nil {
		k.note(openingKind, map[string]any{"version": k.Version, "language": string(k.Language()), "pieces": appendArray(nil, pieces, appendPiece)})
	}
}

// The first request waits for these notes, and reflection in encoding/json would take longer
// than everything else.

func appendArray[T any](dst json.RawMessage, list []T, element func(json.RawMessage, T) json.RawMessage) json.RawMessage {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, e)
	}
	return append(dst, ']')
}

func appendPiece(dst json.RawMessage, p Piece) json.RawMessage {
	dst = msg.AppendString(append(dst, `{"name":`...), p.Name)
	dst = msg.AppendString(append(dst, `,"text":`...), p.Text)
	return append(dst, '}')
}

func appendBlock(dst json.RawMessage, b Block) json.RawMessage {
	dst = appendArray(append(dst, `{"pieces":`...), b.Pieces, appendPiece)
	if b.Marked {
		dst = append(dst, `,"marked":true`...)
	}
	if b.Global {
		dst = append(dst, `,"global":true`...)
	}
	return append(dst, '}')
}

func appendListed(dst json.RawMessage, t ListedTool) json.RawMessage {
	dst = msg.AppendString(append(dst, `{"name":`...), t.Name)
	dst = msg.AppendString(append(dst, `,"description":`...), t.Description)
	dst = msg.AppendString(append(dst, `,"schema":`...), t.Schema)
	if t.Strict {
		dst = append(dst, `,"strict":true`...)
	}
	return append(dst, '}')
}

// Save stores the announcements, if there are new ones.
func (k *PrefixStore) Save() {
	if said, changed := k.told.Changes(); changed {
		k.note(toldKind, map[string]any{"version": k.Version, "said": said})
	}
}

// Restore restores a prompt and an announcer, which may be nil, from the last notes of each
// kind that this version wrote. Unreadable notes are written again.
func (k *PrefixStore) Restore(notes map[string]json.RawMessage, p *Prompt, a *Announcer) {
	var told struct {
		Version string
		Said    map[string]string
	}
	if json.Unmarshal(notes[toldKind], &told) == nil && told.Version == k.Version {
		k.told.Restore(told.Said)
	}
	var opening struct {
		Version  string
		Language texts.Language
		Pieces   []Piece
	}
	if json.Unmarshal(notes[openingKind], &opening) == nil && opening.Version == k.Version && opening.Language == k.Language() && a != nil {
		a.restore(opening.Pieces, recordOf[announcedTools](notes[extrasKind], k.Version), recordOf[announcedSkills](notes[skillsKind], k.Version))
	}
	for kind, note := range notes {
		modelID, ok := strings.CutPrefix(kind, beginningKind)
		var b RequestPrefix
		if ok && json.Unmarshal(note, &b) == nil && b.Version == k.Version && b.valid() {
			p.restore(modelID, b)
		}
	}
}

// A record holds the opening's announcement of something, and all announcements so far. A note
// without AnnouncementLog means that both are the same.
type record[T any] struct {
	Version       string
	Opening, Told T
}

// recordOf decodes the record in a note. It is empty if the note is unreadable or from another
// version.
func recordOf[T any](note json.RawMessage, version string) record[T] {
	var r struct {
		Version string
		Opening T
		Told    *T
	}
	if json.Unmarshal(note, &r) != nil || r.Version != version {
		return record[T]{}
	}
	if r.Told == nil {
		r.Told = &r.Opening
	}
	return record[T]{r.Version, r.Opening, *r.Told}
}
