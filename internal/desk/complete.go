package desk

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/mention"
)

const (
	// maxCompletions is how many continuations are listed.
	maxCompletions = 20
	// completionTime is how long the user waits for names of files.
	completionTime = 300 * time.Millisecond
)

// Complete completes the command, the argument of a command or the mentioned file that text ends with, and returns the
// possible continuations if there are several.
func (d *Desk) Complete(ctx context.Context, text string) (completed string, choices []string) {
	if path, at, ok := mention.Typed(text); ok {
		return d.completeFile(ctx, text[:at], path)
	}
	name, _, ok := Parse(text)
	if !ok || strings.HasPrefix(text, " ") {
		return text, nil
	}
	if !strings.ContainsFunc(text, unicode.IsSpace) {
		return d.completeName(text)
	}
	c, ok := d.Lookup(name)
	if !ok || c.Complete == nil {
		return text, nil
	}
	arg := strings.TrimLeftFunc(text[len("/"+name):], unicode.IsSpace)
	head := text[:len(text)-len(arg)]
	var fit []string
	for _, candidate := range c.Complete(d, arg) {
		if hasFold(candidate, arg) && candidate != arg {
			fit = append(fit, candidate)
		}
	}
	done, choices := pickOne(arg, fit)
	return head + done, choices
}

// completeName completes the name of a command.
func (d *Desk) completeName(typed string) (string, []string) {
	var fit, within []string
	args := map[string]bool{}
	for _, c := range d.Commands() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			switch name = "/" + name; {
			case hasFold(name, typed):
				fit = append(fit, name)
			case len(typed) > 2 && strings.Contains(name, strings.ToLower(typed[1:])):
				within = append(within, name)
			}
			args[name] = c.Args != ""
		}
	}
	if fit == nil {
		fit = within
	}
	done, choices := pickOne(typed, fit)
	if len(fit) == 1 && args[done] {
		done += " "
	}
	return done, choices
}

// pickOne returns what all that fits begins with, if that is more than what was typed, and the choices if there are
// several.
func pickOne(typed string, fit []string) (string, []string) {
	if len(fit) == 0 {
		return typed, nil
	}
	common := fit[0]
	for _, s := range fit[1:] {
		n := 0
		for n < min(len(s), len(common)) && s[n] == common[n] {
			n++
		}
		for n > 0 && n < len(common) && !utf8.RuneStart(common[n]) {
			n--
		}
		common = common[:n]
	}
	if len(common) < len(typed) {
		common = typed
	}
	if len(fit) == 1 {
		return common, nil
	}
	return common, fit[:min(maxCompletions, len(fit))]
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// completeFile completes a path that is mentioned after head.
func (d *Desk) completeFile(ctx context.Context, head, typed string) (string, []string) {
	found := d.filesLike(ctx, typed)
	if d.Surroundings.Resources != nil {
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		resources := d.Surroundings.Resources(ctx, typed)
		found = append(resources[:min(maxCompletions, len(resources))], found...)
	}
	fit := slices.DeleteFunc(slices.Clone(found), func(path string) bool { return !hasFold(path, typed) })
	if len(fit) == 0 && len(found) == 1 {
		fit = found
	}
	if len(fit) == 0 {
		return head + "@" + typed, found
	}
	done, _ := pickOne(typed, fit)
	switch {
	case strings.HasSuffix(done, ":") && len(fit) == 1: // a server
		return head + "@" + done, nil
	case strings.HasSuffix(done, ":"):
		return head + "@" + done, found
	case len(fit) == 1 && strings.HasSuffix(done, "/") && !strings.Contains(done, ":"):
		return head + strings.TrimSuffix(mention.Write(done), `"`), nil
	case len(fit) == 1:
		return head + mention.Write(done) + " ", nil
	}
	return head + strings.TrimSuffix(mention.Write(done), `"`), found
}

// filesLike returns the paths that fit what was typed, best first; those of directories end in a slash. Outside of the
// working directory only what begins with it does.
func (d *Desk) filesLike(ctx context.Context, typed string) []string {
	if typed == ".." || filepath.IsAbs(typed) || strings.HasPrefix(typed, "~/") || strings.HasPrefix(typed, "../") {
		return d.entriesLike(typed)
	}
	if d.Files.Index == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	matches, err := d.Files.Suggest(ctx, strings.TrimPrefix(typed, "./"), maxCompletions)
	if err != nil {
		return nil // it is still being read
	}
	var found []string
	for _, m := range matches {
		path := m.Path
		if m.Dir && !strings.HasSuffix(path, "/") {
			path += "/"
		}
		if strings.HasPrefix(typed, "./") {
			path = "./" + path
		}
		found = append(found, path)
	}
	return found
}

// entriesLike returns the entries of a directory that begin with what was typed, which ends in a part of their name.
func (d *Desk) entriesLike(typed string) []string {
	dir, name := filepath.Split(typed)
	if typed == ".." {
		return []string{"../"}
	}
	real := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		real = filepath.Join(home, rest)
	}
	entries, err := os.ReadDir(absolute(d.Dir, real))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || name == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := dir + e.Name()
		if e.IsDir() {
			path += "/"
		}
		found = append(found, path)
	}
	return found
}

// words returns a completion that offers fixed words.
func words(list ...string) func(*Desk, string) []string {
	return func(*Desk, string) []string { return list }
}
