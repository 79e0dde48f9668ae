package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/instruct"
	"adze/internal/domain/memdir"
	"adze/internal/domain/skill"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/amount"
	"adze/internal/settings"
)

// claude is the tool whose directories are read in place.
const claude = "Claude Code"

// ecosystem scans .claude directories and their surroundings.
func (s *search) ecosystem() {
	if other := s.Project.Other; other != "" {
		s.folder(user, other)
		s.instruction(claude, user, filepath.Join(other, "CLAUDE.md"), "it is not among the instructions that are read")
		s.memories(other)
	}
	if home := s.Project.User; home != "" {
		s.servers(user, filepath.Join(home, ".claude.json"))
	}
	for _, dir := range s.places() {
		s.folder(project, filepath.Join(dir, ".claude"))
		for _, name := range []string{"CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"} {
			s.instruction(claude, project, filepath.Join(dir, name), "it is not among the instructions that are read")
		}
		s.servers(project, filepath.Join(dir, ".mcp.json"))
	}
}

// folder scans one .claude directory.
func (s *search) folder(level, dir string) {
	if !fsys.IsDir(dir) {
		return
	}
	for _, name := range []string{"settings.json", "settings.local.json"} {
		s.settings(level, filepath.Join(dir, name))
	}
	s.skills(level, "skills", filepath.Join(dir, "skills"))
	s.skills(level, "commands", filepath.Join(dir, "commands"))
	s.styles(level, filepath.Join(dir, "output-styles"))
	if rules := list(filepath.Join(dir, "rules"), ".md", maxDepth); len(rules) > 0 {
		used := 0
		for _, path := range rules {
			if slices.ContainsFunc(s.Instructions, func(i instruct.File) bool { return real(i.Path) == real(path) }) {
				used++
			}
		}
		f := Finding{Tool: claude, Level: level, What: "rules", Path: filepath.Join(dir, "rules"), Count: len(rules), Used: true}
		if rest := len(rules) - used; rest > 0 {
			f.Note = amount.Of(rest, "holds when a file that it names", "hold when a file that they name") + " is read"
		}
		s.add(f)
	}
	s.agents(level, filepath.Join(dir, "agents"))
}

func (s *search) agents(level, dir string) {
	files := list(dir, ".md", maxDepth)
	if len(files) == 0 {
		return
	}
	f := Finding{Tool: claude, Level: level, What: "agents", Path: dir, Count: len(files)}
	var notes []string
	used := 0
	for _, d := range s.Agents.Definitions {
		if isBelow(d.File, dir) {
			used++
		}
	}
	if f.Used = used > 0; f.Used {
		f.Count = used
	}
	for _, o := range s.Agents.Shadowed {
		if isBelow(o.Definition.File, dir) {
			notes = append(notes, fmt.Sprintf("%s: there is another agent %s, which is used", filepath.Base(o.Definition.File), o.By.Name))
		}
	}
	for _, p := range s.Agents.Problems {
		if isBelow(p.File, dir) {
			notes = append(notes, filepath.Base(p.File)+": "+p.Text)
		}
	}
	if !f.Used && len(notes) == 0 && level == project {
		notes = append(notes, s.untrusted())
	}
	f.Note = strings.Join(notes, "; ")
	s.add(f)
}

// settings finds the settings in a file. Known ones take effect unless the workspace is
// untrusted.
func (s *search) settings(level, path string) {
	if !exists(path) {
		return
	}
	f := Finding{Tool: claude, Level: level, What: "settings", Path: path}
	defer func() { s.add(f) }()
	var values map[string]json.RawMessage
	plain, err := standard(read(path))
	if err == nil {
		err = json.Unmarshal(plain, &values)
	}
	if err != nil {
		f.Note = "it is not valid JSON"
		return
	}
	known := s.Project.Settings()
	var unknown, personal []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		_, ok := known.Key(key)
		switch {
		case !ok && key != "$schema" && key != "permissions" && key != "env" && !s.prefixed(key):
			unknown = append(unknown, key)
		case level == project && filepath.Base(path) == shared && s.personal(key):
			personal = append(personal, key)
		case key != "$schema":
			f.Count++
		}
	}
	why := ""
	if level == project {
		why = s.untrusted()
	}
	switch {
	case f.Count == 0 && len(unknown) > 0 && len(personal) == 0:
		f.Note = "adze has none of its settings: " + strings.Join(unknown, ", ")
	case why != "":
		f.Count += len(personal)
		f.Note = why + "; only rules that deny or ask count"
	default:
		f.Used = f.Count > 0 || len(personal) == 0
		var notes []string
		if len(unknown) > 0 {
			notes = append(notes, "without "+strings.Join(unknown, ", ")+", which adze does not have")
		}
		if len(personal) > 0 {
			notes = append(notes, "without "+strings.Join(personal, ", ")+", which a project cannot set: put it into your own settings")
		}
		f.Note = strings.Join(notes, "; ")
	}
}

// shared is the name of a project's shared settings file.
const shared = "settings.json"

// personal reports whether a project cannot set a name, or anything below it.
func (s *search) personal(name string) bool {
	found := false
	for _, k := range settings.Keys() {
		if k.Name != name && !slices.Contains(k.Aliases, name) && !strings.HasPrefix(k.Name, name+".") {
			continue
		}
		if !k.Personal && !k.Managed {
			return false
		}
		found = true
	}
	return found
}

// prefixed reports whether settings below a name are known, such as sandbox.enabled.
func (s *search) prefixed(name string) bool {
	for _, k := range s.keys() {
		if strings.HasPrefix(k, name+".") {
			return true
		}
	}
	return false
}

// skills finds the skills or commands in a directory.
func (s *search) skills(level, what, dir string) {
	if !fsys.IsDir(dir) {
		return
	}
	f := Finding{Tool: claude, Level: level, What: what, Path: dir}
	within := func(path string) bool { // a skill may be a symlink
		return isBelow(path, dir) || path != "" && isBelow(real(path), real(dir))
	}
	var notes []string
	for _, k := range s.Skills.Skills {
		if within(k.File) {
			f.Count++
		}
	}
	for _, h := range s.Skills.Shadowed {
		if within(h.Skill.File) {
			notes = append(notes, "/"+h.Skill.Name+" is taken by "+taker(h.By))
		}
	}
	for _, p := range s.Skills.Problems {
		if within(p.File) {
			notes = append(notes, strings.TrimPrefix(p.Error(), dir+string(filepath.Separator)))
		}
	}
	f.Used = f.Count > 0
	if f.Count == 0 && len(notes) == 0 {
		if f.Count = count(what, dir); f.Count == 0 {
			return
		}
		notes = append(notes, s.untrusted())
	}
	f.Note = strings.Join(notes, "; ")
	s.add(f)
}

// count estimates the number of skills or commands in a directory that is not read.
func count(what, dir string) (n int) {
	if what == "commands" {
		return len(list(dir, ".md", maxDepth))
	}
	entries, _ := os.ReadDir(dir) // ok: counts as empty
	for _, e := range entries[:min(len(entries), maxEntries)] {
		if exists(filepath.Join(dir, e.Name(), "SKILL.md")) {
			n++
		}
	}
	return n
}

// taker describes the command that shadows a skill.
func taker(by *skill.Skill) string {
	if by == nil {
		return "a built-in command"
	}
	return by.Origin.String()
}

// styles finds the output styles in a directory.
func (s *search) styles(level, dir string) {
	files := list(dir, ".md", 1)
	if len(files) == 0 {
		return
	}
	f := Finding{Tool: claude, Level: level, What: "output styles", Path: dir, Count: len(files)}
	var notes []string
	for _, style := range s.Styles.Styles {
		f.Used = f.Used || filepath.Dir(style.File) == dir
	}
	for _, p := range s.Styles.Problems {
		if filepath.Dir(p.File) == dir {
			notes = append(notes, filepath.Base(p.File)+": "+p.Text)
		}
	}
	if !f.Used && len(notes) == 0 && level == project {
		notes = append(notes, s.untrusted())
	}
	f.Note = strings.Join(notes, "; ")
	s.add(f)
}

// servers finds the MCP servers in a file that the program has read.
func (s *search) servers(level, path string) {
	if !exists(path) {
		return
	}
	f := Finding{Tool: claude, Level: level, What: "MCP servers", Path: path}
	var waiting []string
	in := func(e *roster.Entry) bool { return real(e.File) == real(path) }
	for _, e := range s.Servers.Entries {
		if in(e) {
			f.Count++
			f.Used = f.Used || !e.Unapproved && !e.Disabled
		}
	}
	for _, e := range s.Servers.Unapproved {
		if in(e) {
			waiting = append(waiting, e.Name)
		}
	}
	f.Count = max(f.Count, len(waiting))
	if len(waiting) > 0 {
		f.Note = strings.Join(waiting, ", ") + ": approve with /mcp"
		if why := s.untrusted(); why != "" {
			f.Note = why
		}
	}
	for _, p := range s.Servers.Problems {
		if strings.Contains(p.String(), path) {
			f.Note = strings.TrimPrefix(f.Note+"; "+p.String(), "; ")
		}
	}
	if f.Count > 0 || f.Note != "" {
		s.add(f)
	}
}

// memories finds the project's memories.
func (s *search) memories(other string) {
	theirs := memdir.Folder{Dir: filepath.Join(other, "projects", fsys.ProjectKey(s.Project.Main()), "memory")}
	if n := len(list(theirs.Dir, ".md", 1)); n > 0 {
		s.add(Finding{
			Tool: claude, Level: user, What: "memories", Path: theirs.Dir, Count: n,
			Note: fmt.Sprintf("adze offers to copy %s at its first start here", amount.Of(n, "file", "files")),
		})
	}
}
