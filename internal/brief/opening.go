package brief

import (
	"strings"

	"adze/internal/instruct"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// Opening returns what goes before the first message of a conversation: instructions, the index of memories
// and the date. The text of a file cannot pass for anything else.
func Opening(l texts.Language, files []instruct.File, index, date string) []msg.Part {
	return compose(openingPieces(l, files, index, date))
}

// The names of the pieces of an opening; that of a file is followed by its path.
const (
	listPiece  = "instructions"
	filePiece  = "file "
	indexPiece = "index"
	datePiece  = "date"
)

func openingPieces(l texts.Language, files []instruct.File, index, date string) []Piece {
	var pieces []Piece
	if len(files) > 0 {
		pieces = append(pieces, Piece{listPiece, say(l, "context.instructions")})
	}
	for _, f := range files {
		pieces = append(pieces, Piece{filePiece + f.Path, contents(l, f)})
	}
	if index != "" {
		pieces = append(pieces, Piece{indexPiece, index})
	}
	return append(pieces, Piece{datePiece, say(l, "context.date", date)})
}

// compose returns the pieces of an opening as they are sent.
func compose(pieces []Piece) []msg.Part {
	b := Block{Pieces: pieces}
	return []msg.Part{msg.Reminder(b.Text())}
}

// contents returns a file with what it is.
func contents(l texts.Language, f instruct.File) string {
	label := say(l, "context.file", f.Path, say(l, "kind."+strings.ToLower(f.Kind.String())))
	if f.Parent != "" {
		label = say(l, "context.included", f.Path, f.Parent)
	}
	return msg.Neutralise(label + "\n\n" + f.Text)
}

// found returns what the model is told about instructions that come into force while it works, or "" if
// there are none.
func found(l texts.Language, files []instruct.File) string {
	if len(files) == 0 {
		return ""
	}
	pieces := []string{say(l, "attach.found")}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	return strings.Join(pieces, "\n\n")
}

// changed returns what the model is told about an instruction file that was changed, added or removed.
func changed(l texts.Language, c instruct.Change) string {
	switch {
	case c.Gone:
		return msg.Neutralise(say(l, "attach.removed", c.Path))
	case c.Reason == instruct.Again:
		return msg.Neutralise(say(l, "attach.changed", c.Path) + "\n\n" + c.Text)
	}
	return found(l, []instruct.File{c.File})
}

// Suggested returns what the model is told about tools that may help, each of which is a line. Runner is the tool that
// runs them.
func Suggested(l texts.Language, runner string, lines []string) string {
	return msg.Neutralise(say(l, "extra.suggested", runner) + "\n" + strings.Join(lines, "\n"))
}

// newDate returns what the model is told when the date has changed.
func newDate(l texts.Language, date string) string { return say(l, "attach.date", date) }

// Attached returns what the model is told about a file that the user attached to a message, before its contents.
func Attached(l texts.Language, mention string) string { return say(l, "attach.file", mention) }

// AttachedDirectory returns what the model is told about a directory that the user attached.
func AttachedDirectory(l texts.Language, mention string, names []string) string {
	return msg.Neutralise(say(l, "attach.directory", mention) + "\n" + strings.Join(names, "\n"))
}

// NotAttached returns what the model is told about a file that could not be attached.
func NotAttached(l texts.Language, mention, reason string) string {
	return msg.Neutralise(say(l, "attach.failed", mention, reason))
}
