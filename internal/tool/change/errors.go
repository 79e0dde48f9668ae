package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/guess"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
)

// Error codes shared by the writing tools.
const (
	CodeMissing  = 4
	CodeNotRead  = 6
	CodeChanged  = 7
	CodeTooLarge = 10
)

func tooLarge(path string, size int64) error {
	return &tool.Error{Code: CodeTooLarge, Text: fmt.Sprintf("%s has %d bytes, and files of more than %d are not changed. Use a stream editor such as sed in the shell.", path, size, int64(MaxBytes))}
}

// Missing returns the error for a missing file.
func (t *Target) Missing() error {
	text := fmt.Sprintf("%s does not exist. The working directory is %s.", t.Path, t.base.Dir)
	near := guess.Guesser{Dir: t.base.Dir, Hidden: t.files.Hidden}
	if t.files.Named != nil {
		near.Named = func(name string) []string { return t.files.Named(context.Background(), t.base.Dir, name) }
	}
	return &tool.Error{Code: CodeMissing, Text: text + near.Question(t.Path)}
}

// Changed returns the error for a file whose content differs from the known one.
func (t *Target) Changed() error {
	return &tool.Error{Code: CodeChanged, Text: fmt.Sprintf("%s was modified since it was read. %s", t.Path, again)}
}

// NotRead returns the error for a file that the conversation has not read, or not completely.
func (t *Target) NotRead(e filestate.Entry) error {
	text := fmt.Sprintf("%s has not been read yet. Read it first.", t.Path)
	if len(e.Seen) > 0 {
		text = fmt.Sprintf("only lines %s of %d of %s were read. Read the rest first.", spans(e.Seen), e.Total, t.Path)
	} else if e.Path != "" {
		text = fmt.Sprintf("only a part of %s was seen, or not as it is on disk. Read it first.", t.Path)
	}
	return &tool.Error{Code: CodeNotRead, Text: text}
}

// NotSeen returns the error for lines that the conversation has not seen.
func (t *Target) NotSeen(lines []filestate.Span) error {
	return &tool.Error{Code: CodeNotRead, Text: fmt.Sprintf("%s: lines %s have not been read yet. Read them first; the rest of the file is not needed.", t.Path, spans(lines))}
}

// Secret reports whether a rule denies reading the file.
func (t *Target) Secret() bool {
	set, err := t.set()
	return err != nil || t.files.Hidden != nil && (t.files.Hidden(t.Path) || t.files.Hidden(set.Real))
}

func spans(seen []filestate.Span) string {
	var all []string
	for _, s := range seen {
		all = append(all, fmt.Sprintf("%d to %d", s.First, s.Last))
	}
	return strings.Join(all, ", ")
}

// explain converts a file system error to one for the model.
func (t *Target) explain(err error) error {
	var large *replace.TooLarge
	switch {
	case errors.Is(err, replace.ErrChanged), errors.Is(err, replace.ErrExists):
		return &tool.Error{Code: CodeChanged, Text: fmt.Sprintf("%s: %v. Nothing was written. %s", t.Path, err, again)}
	case errors.As(err, &large):
		return tooLarge(t.Path, large.Size)
	case isOwn(err):
		return err
	}
	return fmt.Errorf("changing %s: %w", t.Path, err)
}

// isOwn reports whether err needs no explanation.
func isOwn(err error) bool {
	var own *tool.Error
	return errors.As(err, &own) || errors.Is(err, context.Canceled)
}

// notes returns notes on side effects that the model would not expect.
func notes(out replace.Outcome) []string {
	var notes []string
	if out.Links > 0 {
		notes = append(notes, fmt.Sprintf("The file had %d other hard links: those names keep the old content.", out.Links))
	}
	if out.InPlace != nil {
		notes = append(notes, fmt.Sprintf("The file could not be replaced (%v), so it was rewritten in place.", out.InPlace))
	}
	if out.Unsynced != nil {
		notes = append(notes, fmt.Sprintf("The change may not survive a loss of power (%v).", out.Unsynced))
	}
	return notes
}
