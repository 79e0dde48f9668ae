package commands

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/search/fileindex"
	"adze/internal/platform/text/mention"
	"adze/internal/platform/text/rank"
)

const (
	// maxCompletions is the maximum number of completions listed.
	maxCompletions = 20
	// completionTime is how long the user waits for file names.
	completionTime = 300 * time.Millisecond
)

// Complete completes the command, command argument or mentioned file at the end of text. If
// there are several possibilities, it returns them as choices.
func (r *Registry) Complete(ctx context.Context, text string) (completed string, choices []string) {
	if path, at, ok := mention.Typed(text); ok {
		return completeFile(ctx, r, text[:at], path)
	}
	name, _, ok := Parse(text)
	if !ok || strings.HasPrefix(text, " ") {
		return text, nil
	}
	if !strings.ContainsFunc(text, unicode.IsSpace) {
		return r.completeName(text)
	}
	c, ok := r.Lookup(name)
	if !ok || c.Complete == nil {
		return text, nil
	}
	arg := strings.TrimLeftFunc(text[len("/"+name):], unicode.IsSpace)
	head := text[:len(text)-len(arg)]
	var fit []string
	for _, candidate := range c.Complete(r, arg) {
		if hasFold(candidate, arg) && candidate != arg {
			fit = append(fit, candidate)
		}
	}
	done, choices := pickOne(arg, fit)
	return head + done, choices
}

// A candidate is a name that matches the typed text.
type candidate struct {
	name  string
	rank  rank.Rank
	score float64
	args  bool
}

// completeName completes a command name. Names that begin with the typed text come before names
// with a word that does; others count only if neither exists. Among equals, the most used comes
// first.
func (r *Registry) completeName(typed string) (string, []string) {
	var top []candidate // the best, in order
	best, total, common := rank.Scattered, 0, ""
	consider := func(c *Command, name string) {
		quality := min(rank.Match(name, typed[1:]), rank.Prefix)
		if quality == 0 || quality < min(best, rank.Words) {
			return
		}
		switch {
		case quality > best || total == 0:
			if best < rank.Words {
				top, total = nil, 0
			}
			best, common = quality, name
		case quality == best:
			common = common[:commonLen(common, name)]
		}
		total++
		it := candidate{name: name, rank: quality, args: c.Args != ""}
		if c.Origin != "" && r.Env.Score != nil {
			it.score = r.Env.Score(c.Name)
		}
		at := len(top)
		for at > 0 && (top[at-1].rank < it.rank || top[at-1].rank == it.rank && top[at-1].score < it.score) {
			at--
		}
		if at < maxCompletions {
			top = slices.Insert(top[:min(len(top), maxCompletions-1)], at, it)
		}
	}
	look := func(all []Command) {
		for i := range all {
			c := &all[i]
			if r.unavailable(c) != nil {
				continue
			}
			consider(c, c.Name)
			for _, alias := range c.Aliases {
				consider(c, alias)
			}
		}
	}
	for _, s := range r.sections {
		look(s.Commands)
	}
	if r.Env.Commands != nil {
		look(r.Env.Commands(false))
	}
	done := "/" + common
	if total == 0 || len(done) < len(typed) {
		done = typed
	}
	var choices []string
	for _, c := range top {
		choices = append(choices, "/"+c.name)
	}
	r.SetOffered(choices)
	if total == 1 {
		if top[0].args {
			done += " "
		}
		return done, nil
	}
	return done, choices
}

// SetOffered records the commands offered to the user, with their slashes: if one is gone when it
// is used, that is not the user's mistake.
func (r *Registry) SetOffered(names []string) { r.offered.Store(&names) }

// pickOne returns the common prefix of all matches if it extends the typed text, and the
// choices if there are several.
func pickOne(typed string, fit []string) (string, []string) {
	if len(fit) == 0 {
		return typed, nil
	}
	common := fit[0]
	for _, s := range fit[1:] {
		common = common[:commonLen(common, s)]
	}
	if len(common) < len(typed) {
		common = typed
	}
	if len(fit) == 1 {
		return common, nil
	}
	return common, fit[:min(maxCompletions, len(fit))]
}

// commonLen returns the length of the longest common prefix, in whole characters.
func commonLen(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// completeFile completes a path that is mentioned after head.
func completeFile(ctx context.Context, r *Registry, head, typed string) (string, []string) {
	var found []string
	for _, m := range FilesLike(ctx, r, typed) {
		found = append(found, m.Path)
	}
	if r.Env.Resources != nil {
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		resources := r.Env.Resources(ctx, typed)
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

// FilesLike returns the files that match a partial path, best first. Paths are as the user
// would write them; directories end in a slash. Outside the working directory, only prefix
// matches count.
func FilesLike(ctx context.Context, r *Registry, typed string) []fileindex.Match {
	var found []fileindex.Match
	if typed == ".." || filepath.IsAbs(typed) || strings.HasPrefix(typed, "~/") || strings.HasPrefix(typed, "../") {
		for _, path := range r.entriesLike(typed) {
			found = append(found, fileindex.Match{Path: path, Dir: strings.HasSuffix(path, "/")})
		}
		return found
	}
	if r.Files.Index == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	matches, err := r.Files.Suggest(ctx, strings.TrimPrefix(typed, "./"), maxCompletions)
	if err != nil {
		return nil // the index is still loading
	}
	for _, m := range matches {
		if m.Dir && !strings.HasSuffix(m.Path, "/") {
			m.Path += "/"
		}
		if strings.HasPrefix(typed, "./") {
			m.Path = "./" + m.Path
			for i := range m.Positions {
				m.Positions[i] += len("./")
			}
		}
		found = append(found, m)
	}
	return found
}

// entriesLike returns the directory entries that begin with the typed path.
func (r *Registry) entriesLike(typed string) []string {
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
	entries, err := os.ReadDir(absolute(r.Dir, real))
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

// words returns a completion function for fixed words.
func words(list ...string) func(*Registry, string) []string {
	return func(*Registry, string) []string { return list }
}
