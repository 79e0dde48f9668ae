package compact

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// Limits on the content restored after a summary, in tokens.
const (
	maxRestored = 50_000
	maxFiles    = 5
	maxFile     = 5_000
	maxSkill    = 5_000
	maxSkills   = 25_000
)

// maxLine is the number of bytes of a line that are restored, as many as Read shows.
const maxLine = 2_000

// Sources is the content that may be restored after a summary. All lists are newest first.
type Sources struct {
	// Files are the files that were read. Text returns a file's current content, or false if it
	// can't be shown.
	Files []Source
	// Skills are the skills that were invoked.
	Skills []Source
	// Plan is the session's plan. If its Text is nil, the session has no plan.
	Plan Source
	// Running lists the background tasks, one line each.
	Running []string
	// State is other model state, such as its task list.
	State []string
}

// A Source is a named text.
type Source struct {
	Name string
	Text func() (string, bool)
}

// restore returns the parts of s that fit into room tokens, without files that kept already
// shows, and the names of the files restored in full.
func restore(s Sources, kept []msg.Entry, room int, g *tokens.Estimator, t phrases) (parts []msg.Part, whole []string) {
	room = min(room, maxRestored)
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
	file := func(src Source, name string) bool {
		if shows(kept, src.Name) {
			return false
		}
		text, ok := src.Text()
		if !ok || strings.TrimSpace(text) == "" {
			return false
		}
		long := false
		if name == "file" {
			text, long = numbered(text, t)
		}
		shown := head(text, maxFile, g, t)
		if !add(t.say(name, src.Name) + "\n" + shown) {
			return false
		}
		if shown == text && !long {
			whole = append(whole, src.Name)
		}
		return true
	}
	for _, text := range s.State {
		add(text)
	}
	if len(s.Running) > 0 {
		add(t.say("running") + "\n" + head(strings.Join(s.Running, "\n"), maxFile, g, t))
	}
	if s.Plan.Text != nil {
		file(s.Plan, "plan")
	}
	skills := maxSkills
	for _, src := range s.Skills {
		text, ok := src.Text()
		limit := min(maxSkill, skills)
		if !ok || limit < 100 {
			continue
		}
		if add(t.say("skill", src.Name) + "\n" + head(text, limit, g, t)) {
			skills -= min(limit, g.Text(text))
		}
	}
	files := 0
	for _, src := range s.Files {
		if files == maxFiles {
			break
		}
		if file(src, "file") {
			files++
		}
	}
	return parts, whole
}

// head returns as much of text as fits into limit tokens.
func head(text string, limit int, g *tokens.Estimator, t phrases) string {
	text = msg.Neutralise(text)
	if g.Text(text) <= limit {
		return text
	}
	return cutTo(text, limit-g.Text(t.cut()), g) + t.cut()
}

// numbered formats text as Read shows it: each line after its number and a tab. It reports
// whether a line was truncated.
func numbered(text string, t phrases) (out string, long bool) {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('\t')
		if len(line) > maxLine {
			end := maxLine
			for !utf8.RuneStart(line[end]) {
				end--
			}
			long, line = true, line[:end]+t.cut()+"\n"
		}
		b.WriteString(line)
	}
	return b.String(), long
}

// shows reports whether a call in entries names the file, by its full path or a suffix of it.
func shows(entries []msg.Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e msg.Entry) bool {
		return slices.ContainsFunc(e.Message.Uses(), func(u *msg.ToolUse) bool {
			var in map[string]any
			json.Unmarshal(u.Input, &in) // ok: the zero value names no file
			for _, value := range in {
				path, ok := value.(string)
				if path = filepath.Clean(path); ok && path != "." && (path == name || !filepath.IsAbs(path) && strings.HasSuffix(name, string(filepath.Separator)+path)) {
					return true
				}
			}
			return false
		})
	})
}
