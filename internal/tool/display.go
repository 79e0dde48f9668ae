package tool

import "time"

// A Display is the user-visible form of a call, of exactly one kind below. It carries content,
// not layout; front ends render the kinds and know nothing about tools.
type Display interface{ display() }

type (
	// Plain is text.
	Plain struct{ Text string }

	// Output is a command's output. Exit is nil while it runs.
	Output struct {
		Command string
		Text    string // last lines if it is long
		Lines   int    // total number of lines
		Exit    *int
		Stays   bool   // cannot move to the background
		Note    string // such as "timed out after 2m0s"
		File    string // file with the full output, if longer than Text; may be empty
		Elapsed time.Duration
	}

	// File is an excerpt of a file.
	File struct {
		Path              string
		First, Count, Len int // first line shown, number of lines shown, total lines
	}

	// Diff is a change to a file, as hunks of unified diff lines.
	Diff struct {
		Path           string
		Created        bool
		Partial        bool // too large to be shown completely
		Added, Removed int
		Hunks          []Hunk
	}

	// Changes holds changes to several files.
	Changes []Diff

	// List is a list of things found.
	List struct {
		Items []string
		Total int
		Unit  string // such as "files"
		// Files holds the items' files; empty if they have none, or are files themselves.
		Files []string
		// Marks holds the match positions in each of the first items.
		Marks [][]Mark
	}

	// Checklist is a list of pending and completed items.
	Checklist []Check
)

// A Mark is a range in a text, in bytes.
type Mark struct{ From, To int }

// A Check is an entry of a [Checklist].
type Check struct {
	Text  string
	State CheckState
	Note  string // owner or blocker, for example; may be empty
}

// A CheckState is the progress of an entry in a [Checklist].
type CheckState uint8

// The states.
const (
	ToDo CheckState = iota
	Doing
	Done
)

// Count returns the number of entries in a state.
func (c Checklist) Count(s CheckState) (n int) {
	for _, one := range c {
		if one.State == s {
			n++
		}
	}
	return n
}

// A Hunk is a run of changed lines with context; each line begins with ' ', '+' or '-'.
type Hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

func (Plain) display()     {}
func (Output) display()    {}
func (File) display()      {}
func (Diff) display()      {}
func (Changes) display()   {}
func (List) display()      {}
func (Checklist) display() {}

// Diffs returns the changes in d.
func Diffs(d Display) []Diff {
	switch d := d.(type) {
	case Diff:
		return []Diff{d}
	case Changes:
		return d
	}
	return nil
}
