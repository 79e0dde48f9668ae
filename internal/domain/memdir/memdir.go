// Package memdir stores knowledge for later conversations: a folder of Markdown files, one per
// memory, with an index that every conversation begins with. It locates the folder, reads and
// checks its files, finds candidates to recall for a message, and keeps secrets out. The model
// writes the files with its usual tools, or users do.
package memdir

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/text/frontmatter"
)

// IndexName is the file with one line per memory.
const IndexName = "MEMORY.md"

// A Type is the kind of a memory.
type Type string

// The types. A memory without a type is used as well.
const (
	Untyped   Type = ""
	User      Type = "user"
	Feedback  Type = "feedback"
	Project   Type = "project"
	Reference Type = "reference"
)

var types = [...]Type{User, Feedback, Project, Reference}

// A Memory is one file, as described by its beginning.
type Memory struct {
	// Name is its slash-separated path in the folder.
	Name string
	// Title and Description are shown to users and used for finding it.
	Title, Description string
	Type               Type
	Modified           time.Time
	Size               int64
	// Problems are messages for the user. Broken is true if the file can't be read at all.
	Problems []string
	Broken   bool
}

// String returns the memory as a list item.
func (m Memory) String() string {
	kind := string(m.Type)
	if kind == "" {
		kind = "-"
	}
	return fmt.Sprintf("%-9s %s  %s", kind, m.Name, m.Description)
}

// A Folder is a directory of memories. It need not exist.
type Folder struct{ Dir string }

// Read limits.
const (
	maxWalked    = 5000
	maxHeadLines = 30
	maxHead      = 16 << 10
)

// Names in the folder that are not memories.
const (
	logsName = "logs"
	teamName = "team"
)

// List returns the memories, newest first. Files that lead out of the folder or are binary are
// marked broken. A missing folder is empty.
func (f Folder) List() ([]Memory, error) {
	root, err := os.OpenRoot(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the memory folder: %w", err)
	}
	defer root.Close()
	var all []Memory
	walked := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if walked++; walked > maxWalked {
			return fs.SkipAll
		}
		switch {
		case name == ".":
			return err
		case strings.HasPrefix(d.Name(), "."), d.IsDir() && (name == logsName || err != nil):
			return skip(d)
		case !d.IsDir() && isMemory(name):
			all = append(all, look(root, name))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the memory folder: %w", err)
	}
	slices.SortFunc(all, func(a, b Memory) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Name, b.Name))
	})
	return slices.DeleteFunc(all, func(m Memory) bool { return m.Size == 0 && !m.Broken }), nil // forgotten
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func isMemory(name string) bool {
	return strings.EqualFold(path.Ext(name), ".md") && path.Base(name) != IndexName
}

// look reads the beginning of a file.
func look(root *os.Root, name string) Memory {
	m := Memory{Name: name, Title: strings.TrimSuffix(path.Base(name), path.Ext(name))}
	broken := func(format string, args ...any) Memory {
		m.Broken, m.Problems = true, append(m.Problems, fmt.Sprintf(format, args...))
		return m
	}
	info, err := root.Stat(name) // a symlink that leads out is an error
	if err != nil {
		return broken("cannot be read: %v", reason(err))
	}
	m.Modified, m.Size = info.ModTime(), info.Size()
	if !info.Mode().IsRegular() {
		return broken("is not a regular file")
	}
	text, err := head(root, name)
	if err != nil {
		return broken("cannot be read: %v", reason(err))
	}
	if !isText(text) {
		return broken("is not a text in UTF-8")
	}
	m.describe(text)
	return m
}

// head returns the first lines of a file.
func head(root *os.Root, name string) (string, error) {
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var b strings.Builder
	r := bufio.NewReader(io.LimitReader(file, maxHead))
	for range maxHeadLines {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			break // end of file, or enough read
		}
	}
	return whole(b.String()), nil
}

// whole returns a text without a truncated character at its end.
func whole(text string) string {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// describe applies the front matter. Without a description, the text's first line is used.
func (m *Memory) describe(text string) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	matter, body, err := frontmatter.Split(text)
	fields, parseErr := frontmatter.Parse(matter)
	if err = cmp.Or(err, parseErr); err != nil {
		m.Problems = append(m.Problems, err.Error())
	}
	if title := oneLine(fields["name"].String()); title != "" {
		m.Title = title
	}
	if m.Description = oneLine(fields["description"].String()); m.Description == "" {
		m.Description = firstLine(body)
	}
	given := cmp.Or(fields["type"].Text, fields["metadata"].Fields["type"].Text)
	m.Type = Type(strings.ToLower(given))
	if !slices.Contains(types[:], m.Type) {
		m.Type = Untyped
		problem := "has no type (want user, feedback, project or reference)"
		if given != "" {
			problem = fmt.Sprintf("has an unknown type %q (want user, feedback, project or reference)", given)
		}
		m.Problems = append(m.Problems, problem)
	}
}

// firstLine returns the first heading or line of a text.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = oneLine(strings.TrimLeft(strings.TrimSpace(line), "#- ")); line != "" {
			return line
		}
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Path returns the path of a memory.
func (f Folder) Path(name string) string { return filepath.Join(f.Dir, filepath.FromSlash(name)) }

// Find returns the memory named by the user: its file name, with or without extension, or its
// title.
func (f Folder) Find(name string) (Memory, error) {
	all, err := f.List()
	if err != nil {
		return Memory{}, err
	}
	for _, same := range []func(Memory) bool{
		func(m Memory) bool { return m.Name == name || strings.TrimSuffix(m.Name, ".md") == name },
		func(m Memory) bool { return strings.EqualFold(m.Title, name) },
	} {
		var found []Memory
		for _, m := range all {
			if same(m) {
				found = append(found, m)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Memory{}, fmt.Errorf("several memories are called %s; name the file, such as %s", name, found[0].Name)
		}
	}
	return Memory{}, fmt.Errorf("no memory %s; adze memory list shows them", name)
}

// Read returns a memory's text, up to max bytes.
func (f Folder) Read(name string, max int64) (string, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return "", fmt.Errorf("reading the memory folder: %w", err)
	}
	defer root.Close()
	return readText(root, name, max)
}

func readText(root *os.Root, name string, max int64) (string, error) {
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, max))
	text := whole(string(data))
	if err == nil && !isText(text) {
		err = fmt.Errorf("%s is not a text in UTF-8", name)
	}
	return text, err
}

// Remove removes a memory and its lines in the index.
func (f Folder) Remove(name string) error {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return fmt.Errorf("reading the memory folder: %w", err)
	}
	defer root.Close()
	if err := root.Remove(name); err != nil {
		return fmt.Errorf("removing the memory: %w", err)
	}
	return f.rewriteIndex(func(e Entry) bool { return e.File != name })
}

// reason returns the error without the path, which is already known.
func reason(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
