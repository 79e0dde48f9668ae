// Package tips knows what would have helped a user, from what they have done: each tip is given once on a machine. When one
// is shown, and how, is left to the front ends.
package tips

import (
	"context"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/replace"
	"adze/internal/platform/statefile"
	"adze/internal/platform/texts"
)

// A Deed is what the user has just done.
type Deed struct {
	// Approved is how often they have said yes, and no more, to calls that the same rule would allow.
	Approved int
	// Said is the message that they sent, if they did. First says that it is the first one of the conversation, Stopped that
	// they had just stopped the model, and Outside that it names a directory in which the model does not work.
	Said                    string
	First, Stopped, Outside bool
}

const (
	// often is how many times a yes is worth a rule.
	often = 3
	// longLines and longSize are from how many lines or bytes on a message was pasted.
	longLines, longSize = 40, 4000
	// brief is how many words a message has at most that is about nothing else.
	brief = 8
)

// For returns the name of the tip that would have helped, or "".
func For(d Deed) string {
	switch {
	case d.Approved >= often:
		return "rule"
	case d.Said == "":
		return ""
	case strings.Count(d.Said, "\n") >= longLines || len(d.Said) >= longSize:
		return "paste"
	case d.Outside:
		return "directory"
	case d.Stopped:
		return "steer"
	}
	return wish(strings.Fields(strings.ToLower(d.Said)), d.First)
}

// wish returns the tip for a message that says in words what a command does, or "". First says that nothing was said before.
func wish(words []string, first bool) string {
	if len(words) == 0 || len(words) > brief {
		return ""
	}
	switch strings.TrimRight(words[0], ".,:!?") {
	case "undo", "revert":
		return "undo"
	case "remember":
		return "note"
	case "continue", "resume":
		if first {
			return "resume"
		}
	}
	return ""
}

// A Box gives out tips. It is safe for concurrent use, by several processes, too.
type Box struct {
	// Home is the state home; empty means that no tip is given.
	Home string
	// On reports whether the user wants tips.
	On func() bool
	// Keys says that single keys have meanings.
	Keys bool
}

const (
	fileName = "tips.json"
	maxFile  = 1 << 16
	lockWait = time.Second
)

// A record is what the file holds.
type record struct {
	Shown []string `json:"shown"`
}

// Take returns the text of a tip, or "" if it was given on this machine before, or cannot be noted as given.
func (b Box) Take(ctx context.Context, name string) string {
	text, known := catalogue()[name]
	if !known || b.Home == "" || !b.On() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	given := false
	file := statefile.File{Path: filepath.Join(b.Home, fileName), Max: maxFile, Locks: replace.New(filepath.Join(b.Home, "locks"))}
	err := file.Change(ctx, func(old *replace.Version) ([]byte, error) {
		var r record
		if old != nil {
			if err := json.Unmarshal(old.Data, &r); err != nil {
				return nil, err
			}
		}
		if given = slices.Contains(r.Shown, name); given {
			return nil, nil
		}
		r.Shown = append(r.Shown, name)
		return statefile.Encode(r)
	})
	if err != nil || given {
		return ""
	}
	back := "/rewind"
	if b.Keys {
		back = "Esc twice, or /rewind,"
	}
	return "Tip: " + texts.Fill(text, back)
}

//go:embed tips.txt
var file string

var catalogue = sync.OnceValue(func() map[string]string { return texts.Parse(file) })
