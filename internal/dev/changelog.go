package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A fragment is one unreleased change, from a file in changelog/unreleased.
type fragment struct {
	kind, title, text string
}

// kinds are the sections of a version, in order, with the word that begins a fragment.
var kinds = []struct{ word, heading string }{
	{"Change", "Changes"},
	{"Enhancement", "Enhancements"},
	{"Bugfix", "Bugfixes"},
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// collect moves the fragments in changelog/unreleased under root into CHANGELOG.md, as the
// newest version. The files go to changelog/latest, from which the program shows them.
func collect(root, version, date string) error {
	if !versionForm.MatchString(version) {
		return fmt.Errorf("%q is not a version such as 0.2.0", version)
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("%q is not a date such as 2026-01-31", date)
	}
	dir := filepath.Join(root, "changelog", "unreleased")
	fragments, names, err := readFragments(os.DirFS(dir))
	if err != nil {
		return err
	}
	if len(fragments) == 0 {
		return errors.New("changelog/unreleased holds no fragments")
	}
	page := filepath.Join(root, "CHANGELOG.md")
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := addVersion(string(old), version, date, fragments)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		return err
	}
	latest := filepath.Join(root, "changelog", "latest")
	if err := os.RemoveAll(latest); err != nil {
		return err
	}
	if err := os.MkdirAll(latest, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(latest, name)); err != nil {
			return err
		}
	}
	return nil
}

// readFragments reads the fragments in a directory and returns them with their file names. It
// skips the README.
func readFragments(dir fs.FS) ([]fragment, []string, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, nil, err
	}
	var fragments []fragment
	var names []string
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		data, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, nil, err
		}
		f, err := parseFragment(string(data))
		if err != nil {
			return nil, nil, fmt.Errorf("changelog/unreleased/%s: %w", e.Name(), err)
		}
		fragments, names = append(fragments, f), append(names, e.Name())
	}
	return fragments, names, nil
}

func parseFragment(s string) (fragment, error) {
	first, rest, _ := strings.Cut(s, "\n")
	word, title, _ := strings.Cut(first, ":")
	f := fragment{kind: word, title: strings.TrimSpace(title), text: strings.TrimSpace(rest)}
	for _, k := range kinds {
		if k.word != word {
			continue
		}
		if f.title == "" || f.text == "" || !strings.HasPrefix(rest, "\n") {
			return fragment{}, errors.New("a title, an empty line and a text must follow the kind")
		}
		return f, nil
	}
	return fragment{}, fmt.Errorf("the first line starts with %q instead of Bugfix:, Enhancement: or Change:", word)
}

// addVersion inserts a version above the others on the page.
func addVersion(page, version, date string, fragments []fragment) (string, error) {
	if strings.Contains(page, "\n## "+version+" ") {
		return "", fmt.Errorf("CHANGELOG.md has the version %s already", version)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s (%s)\n", version, date)
	for _, k := range kinds {
		heading := "\n### " + k.heading + "\n\n"
		for _, f := range fragments {
			if f.kind != k.word {
				continue
			}
			text := strings.ReplaceAll(f.title+"\n\n"+f.text, "\n", "\n  ")
			fmt.Fprintf(&b, "%s- %s\n", heading, strings.ReplaceAll(text, "\n  \n", "\n\n"))
			heading = "\n"
		}
	}
	head, versions, found := strings.Cut(page, "\n## ")
	if found {
		versions = "\n## " + versions
	}
	return strings.TrimRight(head, "\n") + "\n\n" + b.String() + versions, nil
}
