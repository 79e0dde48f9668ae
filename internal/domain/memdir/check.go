package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/redact"
)

// A Finding is a problem with the memories.
type Finding struct {
	// File is the memory, or the index.
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // index line
	Text string `json:"problem"`
	// Fixable is true if [Folder.Fix] repairs it.
	Fixable bool `json:"fixable"`
}

// String returns the problem with its location.
func (f Finding) String() string {
	where := f.File
	if f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
	}
	return where + " " + f.Text
}

// Lint checks an index alone.
func Lint(text string) []Finding {
	var found []Finding
	add := func(line int, fixable bool, format string, args ...any) {
		found = append(found, Finding{IndexName, line, fmt.Sprintf(format, args...), fixable})
	}
	if strings.HasPrefix(text, "---\n") {
		add(1, false, "begins with front matter, which belongs in the memories")
	}
	seen := map[string]bool{}
	at := 0
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimRight(line, " \t\r\n")
		e := parseEntry(line)
		n := utf8.RuneCountInString(line)
		switch {
		case line == "":
		case e.File == "":
			add(at, false, "is not an entry: write - [Title](file.md) — hook")
		case seen[e.File]:
			add(at, true, "names %s again", e.File)
		case n > maxLine:
			add(at, true, "has %d characters, more than %d: the detail belongs in %s", n, maxLine, e.File)
		}
		seen[e.File] = e.File != ""
	}
	if _, c := CutIndex(text); c != (Truncation{}) {
		add(0, false, "has %d lines and %d bytes; a conversation begins with at most %d lines and %d bytes of it", c.Lines, c.Bytes, MaxLines, MaxBytes)
	}
	return found
}

// Check checks all memories and the index.
func (f Folder) Check() ([]Finding, error) {
	index, err := f.Index()
	if err != nil {
		return nil, err
	}
	all, err := f.List()
	if err != nil {
		return nil, err
	}
	found := Lint(index)
	files := map[string]bool{}
	for _, m := range all {
		files[m.Name] = true
	}
	listed := map[string]bool{}
	at := 0
	for line := range strings.Lines(index) {
		at++
		if e := parseEntry(strings.TrimSpace(line)); e.File != "" {
			if !files[e.File] && !listed[e.File] {
				found = append(found, Finding{IndexName, at, fmt.Sprintf("names %s, which is not there", e.File), true})
			}
			listed[e.File] = true
		}
	}
	titles := map[string]string{}
	for _, m := range all {
		add := func(text string, fixable bool) { found = append(found, Finding{m.Name, 0, text, fixable}) }
		for _, p := range m.Problems {
			add(p, false)
		}
		if m.Broken {
			continue
		}
		if !listed[m.Name] && !shared(m.Name) {
			add("is not in the index", true)
		}
		title := strings.ToLower(m.Title)
		if other, twice := titles[title]; twice {
			add(fmt.Sprintf("has the same name as %s: make one memory of them", other), false)
		}
		titles[title] = m.Name
		if text, err := f.Read(m.Name, maxIndex); err == nil && HasSecret(text) {
			add("seems to hold a secret: take it out", false)
		}
	}
	for _, name := range f.empty() {
		found = append(found, Finding{name, 0, "is empty", true})
	}
	if !f.Writable() {
		found = append(found, Finding{".", 0, "cannot be written to", false})
	}
	return found, nil
}

// shared reports whether a memory belongs to the team, which has its own index.
func shared(name string) bool { return strings.HasPrefix(name, teamName+"/") }

// empty returns the memories without content.
func (f Folder) empty() []string {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	var names []string
	fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error { // ok: unreadable files are reported elsewhere
		if err != nil || d.IsDir() && (name == logsName || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return skip(d)
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() && isMemory(name) && info.Size() == 0 {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// Fix repairs everything that can be repaired mechanically: the index gets one line of the
// right length for each memory, and empty memories are removed.
func (f Folder) Fix() error {
	index, err := f.Index()
	if err != nil {
		return err
	}
	all, err := f.List()
	if err != nil {
		return err
	}
	var missing []Memory
	for _, m := range slices.Backward(all) { // newest last
		if !m.Broken && !shared(m.Name) {
			missing = append(missing, m)
		}
	}
	files := map[string]bool{}
	for _, m := range all {
		files[m.Name] = true
	}
	var b strings.Builder
	for line := range strings.Lines(index) {
		e := parseEntry(strings.TrimRight(line, " \t\r\n"))
		if e.File == "" {
			b.WriteString(line)
			continue
		}
		if !files[e.File] { // missing, or already listed
			continue
		}
		delete(files, e.File)
		missing = slices.DeleteFunc(missing, func(m Memory) bool { return m.Name == e.File })
		if utf8.RuneCountInString(e.Line) > maxLine {
			line = e.String() + "\n"
		}
		b.WriteString(line)
	}
	fixed := b.String()
	for _, m := range missing {
		if fixed != "" && !strings.HasSuffix(fixed, "\n") {
			fixed += "\n"
		}
		fixed += Entry{Title: m.Title, File: m.Name, Hook: m.Description}.String() + "\n"
	}
	var errs []error
	if fixed != index {
		errs = append(errs, f.writeIndex(fixed))
	}
	for _, name := range f.empty() {
		errs = append(errs, os.Remove(f.Path(name)))
	}
	return errors.Join(errs...)
}

// HasSecret reports whether a text contains something that looks like a key, token or password.
func HasSecret(text string) bool { return redact.String(text) != text }
