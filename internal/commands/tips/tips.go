// Package tips chooses tips for the user based on their actions. Each tip is given once per
// machine.
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

	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
	"adze/internal/platform/text/texts"
)

// An Action is the user's last action.
type Action struct {
	// Approved is how often they gave a one-time yes to calls that the same rule would allow.
	Approved int
	// Said is the message they sent, if any. First is true for the first message of the
	// conversation, Stopped if they had just stopped the model, and Outside if it names a
	// directory outside the workspace.
	Said                    string
	First, Stopped, Outside bool
}

const (
	// often is the number of approvals after which a rule is worthwhile.
	often = 3
	// longLines and longSize are the number of lines and bytes from which a message counts as
	// pasted.
	longLines, longSize = 40, 4000
	// brief is the maximum number of words of a message that expresses a single wish.
	brief = 8
)

// For returns the name of the tip that would have helped, or "".
func For(d Action) string {
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

// wish returns the tip for a message that asks in prose for something a command does, or "".
// First is true for the first message.
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

// A Store gives out tips. It is safe for concurrent use, including by several processes.
type Store struct {
	// Home is the state directory; empty means that no tip is given.
	Home string
	// On reports whether tips are enabled.
	On func() bool
	// Keys is true if the front end supports single keys.
	Keys bool
}

const (
	fileName = "tips.json"
	maxFile  = 1 << 16
	lockWait = time.Second
)

// A record is the content of the file.
type record struct {
	Shown []string `json:"shown"`
}

// Take returns the text of a tip, or "" if it was given on this machine before or cannot be
// recorded as given.
func (b Store) Take(ctx context.Context, name string) string {
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
