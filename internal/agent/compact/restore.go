package compact

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// What is put back beside a summary, in tokens.
const (
	maxRestored = 50_000
	maxFiles    = 5
	maxFile     = 5_000
	maxSkill    = 5_000
	maxSkills   = 25_000
)

// Sources are what may be put back beside a summary. All lists are newest first.
type Sources struct {
	// Files are those that were read; Text returns a file's content as it is now, and false if it has
	// none that can be shown.
	Files []Source
	// Skills are those that were invoked.
	Skills []Source
	// State is what else the model has to know: plan, tasks, what runs in the background.
	State []string
}

// A Source is something with a name and a text.
type Source struct {
	Name string
	Text func() (string, bool)
}

// restore returns what fits of s into room tokens, less what kept shows already.
func restore(s Sources, kept []msg.Entry, room int, g *tokens.Gauge, t texts) []msg.Part {
	room = min(room, maxRestored)
	var parts []msg.Part
	add := func(text string) bool {
		p := msg.Reminder(text)
		n := g.Parts(p)
		if n > room {
			return false
		}
		room -= n
		parts = append(parts, p)
		return true
	}
	for _, text := range s.State {
		add(text)
	}
	skills := maxSkills
	for _, src := range s.Skills {
		text, ok := src.Text()
		limit := min(maxSkill, skills)
		if !ok || limit < 100 {
			continue
		}
		if add(fmt.Sprintf(t.skill, src.Name) + "\n" + head(text, limit, g, t)) {
			skills -= min(limit, g.Text(text))
		}
	}
	files := 0
	for _, src := range s.Files {
		if files == maxFiles {
			break
		}
		if shows(kept, src.Name) {
			continue
		}
		text, ok := src.Text()
		if ok && add(fmt.Sprintf(t.file, src.Name)+"\n"+head(text, maxFile, g, t)) {
			files++
		}
	}
	return parts
}

// head returns as much of text as fits into limit tokens.
func head(text string, limit int, g *tokens.Gauge, t texts) string {
	text = msg.Neutralise(text)
	if g.Text(text) <= limit {
		return text
	}
	return cutTo(text, limit-g.Text(t.cut), g) + t.cut
}

// shows reports whether a call among entries names the file.
func shows(entries []msg.Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e msg.Entry) bool {
		return slices.ContainsFunc(e.Message.Uses(), func(u *msg.ToolUse) bool {
			return strings.Contains(string(u.Input), `"`+name+`"`)
		})
	})
}
