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

// Limits on what is restored beside a summary, in tokens.
const (
	maxRestored = 50_000
	maxFiles    = 5
	maxFile     = 5_000
	maxSkill    = 5_000
	maxSkills   = 25_000
)

// maxLine is how many bytes of a line are restored, as many as Read shows.
const maxLine = 2_000

// Sources are what may be restored beside a summary. All lists are newest first.
type Sources struct {
	// Files are those that were read; Text returns a file's content as it is now, and false if it has
	// none that can be shown.
	Files []Source
	// Skills are those that were invoked.
	Skills []Source
	// Plan is the plan of the session; without a text function there is none.
	Plan Source
	// Running are the tasks in the background, a line each.
	Running []string
	// State is other state of the model, such as its task list.
	State []string
}

// A Source is something with a name and a text.
type Source struct {
	Name string
	Text func() (string, bool)
}

// restore returns the parts of s that fit into room tokens, without what kept already shows, and the names of the
// files that are complete.
func restore(s Sources, kept []msg.Entry, room int, g *tokens.Gauge, t phrases) (parts []msg.Part, whole []string) {
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
func head(text string, limit int, g *tokens.Gauge, t phrases) string {
	text = msg.Neutralise(text)
	if g.Text(text) <= limit {
		return text
	}
	return cutTo(text, limit-g.Text(t.cut()), g) + t.cut()
}

// numbered returns a text as Read shows it: each line after its number and a tab. It reports whether a line was cut.
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

// shows reports whether a call among entries names the file, by its whole path or a suffix of it.
func shows(entries []msg.Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e msg.Entry) bool {
		return slices.ContainsFunc(e.Message.Uses(), func(u *msg.ToolUse) bool {
			var in map[string]any
			json.Unmarshal(u.Input, &in) // ok: then it names none
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
