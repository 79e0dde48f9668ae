// Package style finds output styles: Markdown files that describe how the model answers,
// replacing or extending the usual instructions. Some are built in.
package style

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/frontmatter"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Default is the name of the style that changes nothing.
const Default = "default"

const (
	maxFile  = 64 << 10 // bytes
	maxFiles = 500      // per directory
	maxName  = 64       // characters

	maxDescription = 200 // characters
)

// A Style is an output style.
type Style struct {
	Name, Description string
	// Text is added to the prompt; empty for the default.
	Text string
	// Coding keeps the usual instructions for working on code.
	Coding bool
	// File is the path it was read from; empty if built in.
	File string
	// Origin is the source as shown to users, such as "the project".
	Origin string
}

// A Root is a directory of styles, or a single file.
type Root struct {
	// Path is absolute and need not exist.
	Path   string
	Origin string
	// Prefix is prepended to names, such as "plugin:"; it may be empty.
	Prefix string
}

// A Problem is the reason a file is not used.
type Problem struct{ File, Text string }

// Error returns a one-line message for the user.
func (p Problem) Error() string { return p.File + ": " + p.Text }

// A Set holds the available styles, ordered by name, the default first.
type Set struct {
	Styles   []Style
	Problems []Problem
}

// Find returns the style with that name, ignoring case, or nil.
func (s *Set) Find(name string) *Style {
	i := slices.IndexFunc(s.Styles, func(o Style) bool { return strings.EqualFold(o.Name, name) })
	if i < 0 {
		return nil
	}
	return &s.Styles[i]
}

// Names returns the names of the styles.
func (s *Set) Names() []string {
	names := make([]string, len(s.Styles))
	for i := range s.Styles {
		names[i] = s.Styles[i].Name
	}
	return names
}

// Load reads the styles of the roots, of which earlier ones take precedence, and adds the
// built-in ones in a language. The default can't be replaced.
func Load(roots []Root, l texts.Language) *Set {
	set := Read(roots)
	for _, b := range []struct{ name, description string }{
		{"explanatory", "explains design decisions while it works"},
		{"learning", "leaves small pieces for you to write, with hints"},
	} {
		if set.Find(b.name) == nil {
			set.Styles = append(set.Styles, Style{Name: b.name, Description: b.description, Text: catalogue.Text(l, b.name), Coding: true, Origin: builtIn})
		}
	}
	slices.SortStableFunc(set.Styles, func(a, b Style) int { return strings.Compare(a.Name, b.Name) })
	set.Styles = slices.Insert(set.Styles, 0, Style{Name: Default, Description: "does the work and summarises it briefly", Coding: true, Origin: builtIn})
	return set
}

// Read reads only the styles of the roots, in the order in which they are found.
func Read(roots []Root) *Set {
	var set Set
	for _, root := range roots {
		set.add(root)
	}
	return &set
}

// builtIn is the origin of built-in styles.
const builtIn = "built in"

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// add reads the styles of a root.
func (s *Set) add(root Root) {
	info, err := os.Stat(root.Path)
	if err != nil || !info.IsDir() {
		if err == nil && strings.HasSuffix(root.Path, ".md") {
			s.read(root, root.Path)
		}
		return // ok: no styles
	}
	entries, err := os.ReadDir(root.Path)
	if err != nil {
		s.problem(root.Path, errors.Unwrap(err))
		return
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".md") || e.IsDir() })
	if len(entries) > maxFiles {
		s.problem(root.Path, fmt.Errorf("only the first %d of its %d files are read", maxFiles, len(entries)))
		entries = entries[:maxFiles]
	}
	for _, e := range entries {
		s.read(root, filepath.Join(root.Path, e.Name()))
	}
}

// read reads the style in a file.
func (s *Set) read(root Root, path string) {
	// A style's text is sent to the model without a prompt: a symlink in a project must not
	// expose a key.
	real, err := filepath.EvalSymlinks(path)
	if err == nil && !strings.HasSuffix(real, ".md") {
		s.problem(path, errors.New("it is a link to a file whose name does not end in .md"))
		return
	}
	style, err := parse(path)
	if err != nil {
		s.problem(path, err)
		return
	}
	style.Name, style.Origin = root.Prefix+style.Name, root.Origin
	switch other := s.Find(style.Name); {
	case strings.EqualFold(style.Name, Default):
		s.problem(path, errors.New("it is called default, which is built in: give it another name"))
	case other != nil && !os.SameFile(stat(other.File), stat(path)):
		s.problem(path, fmt.Errorf("it is called %s, like %s, which is used", style.Name, other.File))
	case other == nil:
		s.Styles = append(s.Styles, style)
	}
}

func stat(path string) fs.FileInfo {
	info, _ := os.Stat(path) // ok: a removed file can't be a duplicate
	return info
}

func (s *Set) problem(path string, err error) {
	s.Problems = append(s.Problems, Problem{path, err.Error()})
}

// parse reads one file. Without a name in its front matter it is named after the file.
func parse(path string) (Style, error) {
	data, err := fsys.ReadSmall(path, maxFile)
	if err != nil {
		return Style{}, err
	}
	if !utf8.Valid(data) {
		return Style{}, errors.New("it is not UTF-8 text")
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	head, body, err := frontmatter.Split(text)
	if err != nil {
		return Style{}, err
	}
	fields, err := frontmatter.Parse(head)
	if err != nil {
		return Style{}, err
	}
	style := Style{
		Name:        strings.TrimSpace(fields["name"].Text),
		Description: tool.OneLine(fields["description"].Text, maxDescription),
		Text:        strings.TrimSpace(msg.Neutralise(body)),
		Coding:      strings.EqualFold(fields["keep-coding-instructions"].Text, "true"),
		File:        path,
	}
	if style.Name == "" {
		style.Name = strings.TrimSuffix(filepath.Base(path), ".md")
	}
	switch {
	case style.Text == "":
		return Style{}, errors.New("it says nothing: write how the model should answer below its head")
	case utf8.RuneCountInString(style.Name) > maxName || strings.ContainsFunc(style.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Style{}, fmt.Errorf("its name is longer than %d characters or no plain text", maxName)
	}
	if style.Description == "" {
		first, _, _ := strings.Cut(style.Text, "\n")
		style.Description = tool.OneLine(strings.TrimLeft(first, "# "), maxDescription)
	}
	return style, nil
}
