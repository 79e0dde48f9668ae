package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
	"adze/internal/session/store"
)

// UnknownError reports that no session has the given name.
type UnknownError struct {
	What string // empty if any session would match
	Near []Info // possible matches, at most 3
}

// Error names the query and similar sessions.
func (e *UnknownError) Error() string {
	if e.What == "" {
		return "no sessions in this directory yet; adze sessions list --all shows all sessions"
	}
	text := fmt.Sprintf("no session %q", e.What)
	if len(e.Near) == 0 {
		return text + "; adze sessions list --all shows them all"
	}
	return text + "; did you mean " + listing(e.Near) + "?"
}

// AmbiguousError reports that several sessions have the given name.
type AmbiguousError struct {
	What    string
	Matches []Info // newest first
}

// Error lists the matching sessions.
func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("%d sessions are called %q: %s", len(e.Matches), e.What, listing(e.Matches[:min(3, len(e.Matches))]))
	if len(e.Matches) > 3 {
		text += " and others"
	}
	return text + "; name one by its id"
}

func listing(infos []Info) string {
	var names []string
	for i := range infos {
		name := infos[i].ID
		if infos[i].Name() != infos[i].ID {
			name += fmt.Sprintf(" (%s)", infos[i].Name())
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Latest returns the most recently changed session of the project in dir. The error is an
// *[UnknownError] if the project has no sessions, and an *[Unreadable] if the session cannot be
// read.
func Latest(home, dir string) (*Info, error) {
	infos, left, err := Survey(home, ListOptions{Dir: dir})
	switch {
	case err != nil:
		return nil, err
	case len(left.Unreadable) > 0 && (len(infos) == 0 || left.Unreadable[0].Modified.After(infos[0].Modified)):
		return nil, fmt.Errorf("%w; adze sessions list shows the others", &left.Unreadable[0])
	case len(infos) == 0 && left.Empty > 0:
		return nil, fmt.Errorf("this folder has no session that can be continued: %s", left.EmptyText())
	case len(infos) == 0:
		return nil, &UnknownError{}
	}
	return &infos[0], nil
}

// EmptyText returns a clause with the number of empty files.
func (l *Omitted) EmptyText() string {
	return amount.Of(l.Empty, "file holds", "files hold") + " no message that can be read"
}

// Find returns the session named by its ID, title, tag, a unique prefix of its ID or title, or
// the path of its file. Sessions of the project in dir take precedence over others, and user
// titles over automatic ones.
//
// The error is an *[UnknownError] or an *[AmbiguousError] if the name does not identify a
// session.
func Find(home, dir, what string) (*Info, error) {
	what = strings.TrimSpace(what)
	if what == "" {
		return nil, errors.New("name a session: its id, its title, its tag or the path of its file")
	}
	if strings.HasSuffix(what, ".jsonl") {
		if !filepath.IsAbs(what) {
			what = filepath.Join(dir, what)
		}
		return Describe(what)
	}
	if info, err := byID(home, dir, strings.ToLower(what)); info != nil || err != nil {
		return info, err
	}
	here, err := List(home, ListOptions{Dir: dir})
	if err != nil {
		return nil, err
	}
	if info, err := match(here, what); info != nil || err != nil {
		return info, err
	}
	all, err := List(home, ListOptions{})
	if err != nil {
		return nil, err
	}
	if info, err := match(all, what); info != nil || err != nil {
		return info, err
	}
	return nil, &UnknownError{What: what, Near: near(append(here, all...), what)}
}

// byID returns the session with this ID without reading any other, or nil. The error is an
// *[Unreadable].
func byID(home, dir, id string) (info *Info, err error) {
	if strings.ContainsAny(id, `/\*?[`) {
		return nil, nil
	}
	paths, _ := filepath.Glob(filepath.Join(store.Projects(home), "*", id+".jsonl")) // ok: the pattern is valid
	paths = append([]string{filepath.Join(store.ProjectDir(home, dir), id+".jsonl")}, paths...)
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		info, bad := Describe(path)
		if bad == nil {
			return info, nil
		}
		if err == nil {
			err = &Unreadable{Path: path, Err: bad}
		}
	}
	return nil, err
}

// leastPrefix is the minimum length of an ID prefix that names a session.
const leastPrefix = 4

// match returns the matching session among infos, if any.
func match(infos []Info, what string) (*Info, error) {
	prefix := func(s string) bool { return len(what) >= leastPrefix && hasPrefixFold(s, what) }
	for _, is := range []func(*Info) bool{
		func(i *Info) bool { return strings.EqualFold(i.ID, what) },
		func(i *Info) bool { return strings.EqualFold(i.Title, what) },
		func(i *Info) bool { return strings.EqualFold(i.AutoTitle, what) },
		func(i *Info) bool { return strings.EqualFold(i.Tag, what) },
		func(i *Info) bool { return prefix(i.ID) },
		func(i *Info) bool { return prefix(i.Title) || i.Title == "" && prefix(i.AutoTitle) },
	} {
		var found []Info
		for i := range infos {
			if is(&infos[i]) {
				found = append(found, infos[i])
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return &found[0], nil
		default:
			return nil, &AmbiguousError{What: what, Matches: found}
		}
	}
	return nil, nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// near returns up to three possible matches: sessions whose IDs share the longest prefix, then
// sessions with similar titles.
func near(infos []Info, what string) []Info {
	var found []Info
	add := func(i Info) {
		if len(found) < 3 && !slices.ContainsFunc(found, func(f Info) bool { return f.Path == i.Path }) {
			found = append(found, i)
		}
	}
	for length := min(len(what), 36); length >= 2; length-- {
		for _, i := range infos {
			if hasPrefixFold(i.ID, what[:length]) {
				add(i)
			}
		}
	}
	names := make([]string, 0, 2*len(infos))
	for i := range infos {
		names = append(names, infos[i].Name(), infos[i].ID)
	}
	for _, name := range rank.Closest(what, names, 3) {
		for _, i := range infos {
			if i.Name() == name || i.ID == name {
				add(i)
			}
		}
	}
	for _, i := range infos {
		if strings.Contains(strings.ToLower(i.Name()), strings.ToLower(what)) {
			add(i)
		}
	}
	return found
}
