package prompt

import (
	"strings"

	"adze/internal/domain/instruct"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// Opening returns the content before a conversation's first message: instructions, memory index
// and date. File text is escaped so that it can't be mistaken for anything else.
func Opening(l texts.Language, files []instruct.File, index, date string) []msg.Part {
	return compose(openingPieces(l, files, index, date))
}

// The names of an opening's pieces; filePiece is followed by the path.
const (
	listPiece  = "instructions"
	filePiece  = "file "
	indexPiece = "index"
	datePiece  = "date"
)

func openingPieces(l texts.Language, files []instruct.File, index, date string) []Piece {
	var pieces []Piece
	if len(files) > 0 {
		pieces = append(pieces, Piece{listPiece, catalogText(l, "context.instructions")})
	}
	for _, f := range files {
		pieces = append(pieces, Piece{filePiece + f.Path, contents(l, f)})
	}
	if index != "" {
		pieces = append(pieces, Piece{indexPiece, index})
	}
	return append(pieces, Piece{datePiece, catalogText(l, "context.date", date)})
}

// compose returns an opening's pieces as sent.
func compose(pieces []Piece) []msg.Part {
	b := Block{Pieces: pieces}
	return []msg.Part{msg.Reminder(b.Text())}
}

// contents returns a file's text with a label.
func contents(l texts.Language, f instruct.File) string {
	label := catalogText(l, "context.file", f.Path, catalogText(l, "kind."+strings.ToLower(f.Kind.String())))
	if f.Parent != "" {
		label = catalogText(l, "context.included", f.Path, f.Parent)
	}
	return msg.Neutralise(label + "\n\n" + f.Text)
}

// found returns the announcement of instructions that become active during work, or "" without
// files.
func found(l texts.Language, files []instruct.File) string {
	if len(files) == 0 {
		return ""
	}
	pieces := []string{catalogText(l, "attach.found")}
	for _, f := range files {
		pieces = append(pieces, contents(l, f))
	}
	return strings.Join(pieces, "\n\n")
}

// changed returns the announcement of a changed, added or removed instruction file.
func changed(l texts.Language, c instruct.Change) string {
	switch {
	case c.Gone:
		return msg.Neutralise(catalogText(l, "attach.removed", c.Path))
	case c.Reason == instruct.Again:
		return msg.Neutralise(catalogText(l, "attach.changed", c.Path) + "\n\n" + c.Text)
	}
	return found(l, []instruct.File{c.File})
}

// Suggested returns the announcement of tools that may help, one per line. runner is the tool
// that runs them.
func Suggested(l texts.Language, runner string, lines []string) string {
	return msg.Neutralise(catalogText(l, "extra.suggested", runner) + "\n" + strings.Join(lines, "\n"))
}

// newDate returns the announcement of a new date.
func newDate(l texts.Language, date string) string { return catalogText(l, "attach.date", date) }

// Attached returns the text that precedes the contents of an attached file.
func Attached(l texts.Language, mention string) string { return catalogText(l, "attach.file", mention) }

// AttachedDirectory returns the text for an attached directory.
func AttachedDirectory(l texts.Language, mention string, names []string) string {
	return msg.Neutralise(catalogText(l, "attach.directory", mention) + "\n" + strings.Join(names, "\n"))
}

// NotAttached returns the text for a file that could not be attached.
func NotAttached(l texts.Language, mention, reason string) string {
	return msg.Neutralise(catalogText(l, "attach.failed", mention, reason))
}
