package tool

import "time"

// A Display is what the user sees of a call: one of the kinds below, and nothing else. It carries
// content, never drawing; front ends draw kinds and do not know tools.
type Display interface{ display() }

type (
	// Plain is text.
	Plain struct{ Text string }

	// Output is what a command prints. Exit is nil while it runs.
	Output struct {
		Command string
		Text    string // the last lines, when it is long
		Lines   int    // in all
		Exit    *int
		Stays   bool   // it cannot continue in the background
		Note    string // such as "timed out after 2m0s"
		File    string // that holds all of it, if there is more than Text; may be empty
		Elapsed time.Duration
	}

	// File is a look into a file.
	File struct {
		Path              string
		First, Count, Len int // first line shown, number of lines shown, lines in all
	}

	// Diff is a change to a file, as hunks of unified diff lines.
	Diff struct {
		Path           string
		Created        bool
		Partial        bool // the change is too large to be shown whole
		Added, Removed int
		Hunks          []Hunk
	}

	// Changes are changes to several files.
	Changes []Diff

	// List is a list of things found.
	List struct {
		Items []string
		Total int
		Unit  string // such as "files"
		// Files are those that the items are in; empty if the items are in none, or are files themselves.
		Files []string
		// Marks are the places in each of the first items that were looked for.
		Marks [][]Mark
	}

	// Checklist is what is to be done and what has been.
	Checklist []Check
)

// A Mark is a place in a text, in bytes.
type Mark struct{ From, To int }

// A Check is an entry of a [Checklist].
type Check struct {
	Text  string
	State CheckState
	Note  string // such as whose it is, or what it waits for; may be empty
}

// A CheckState says how far an entry of a [Checklist] is.
type CheckState uint8

// The states.
const (
	ToDo CheckState = iota
	Doing
	Done
)

// Count returns how many entries are in a state.
func (c Checklist) Count(s CheckState) (n int) {
	for _, one := range c {
		if one.State == s {
			n++
		}
	}
	return n
}

// A Hunk is a run of changed lines with their surroundings; each line begins with ' ', '+' or '-'.
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

// Diffs returns the changes that d shows.
func Diffs(d Display) []Diff {
	switch d := d.(type) {
	case Diff:
		return []Diff{d}
	case Changes:
		return d
	}
	return nil
}
