package brief

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// Extras are tools that are not in the model's list but can be looked up, and the servers that offer them.
type Extras struct {
	// Finder and Runner are the tools that look them up and run them. They are empty while no tool is left out of the list.
	Finder, Runner string
	Groups         []ExtraGroup
}

// An ExtraGroup is the tools of one server, or those that are built in.
type ExtraGroup struct {
	Server string   // empty for those that are built in
	Names  []string // in order
	State  ExtraState
	// Words are what the server says about its tools, to be told; may be empty.
	Words string
}

// An ExtraState is why a server offers nothing; empty if it does.
type ExtraState string

// The states.
const (
	Connecting  ExtraState = "connecting"
	Unavailable ExtraState = "unavailable"
	WantsLogin  ExtraState = "login"
)

// Limits of an announcement.
const (
	maxExtraNames = 200  // above, only servers are named
	maxExtraText  = 900  // characters, when only servers are named
	maxExtraWords = 4000 // characters of what all servers say; above, it is told when a tool is found
)

// announced is what the model was told of extras, by server. It is kept with the session.
type announced map[string]announcement

type announcement struct {
	Names []string   `json:"names,omitempty"`
	Count int        `json:"count,omitempty"` // of the tools, where names were not told
	State ExtraState `json:"state,omitempty"`
	Words string     `json:"words,omitempty"` // a hash of them
}

func (a announcement) size() int { return max(len(a.Names), a.Count) }

// announce returns what the model has to be told of x, given what it was told before, and what it was told then.
// First says that it was told nothing.
func announce(l texts.Language, x *Extras, before announced, first bool) (text string, now announced) {
	now = maps.Clone(before)
	if now == nil {
		now = announced{}
	}
	total, words := 0, 0
	for _, g := range x.Groups {
		total += len(g.Names)
		words += utf8.RuneCountInString(g.Words)
	}
	n := notice{language: l, counted: total > maxExtraNames}
	there := map[string]bool{}
	for _, g := range x.Groups {
		there[g.Server] = true
		was, known := before[g.Server]
		is := announcement{Names: g.Names, State: g.State, Words: was.Words}
		if n.counted {
			is = announcement{Count: len(g.Names), State: g.State, Words: was.Words}
		}
		switch {
		case x.Finder == "" && g.State == "": // its tools are in the list
			is.Names, is.Count = was.Names, was.Count
		case g.State == Connecting && known: // it comes back, or is told to be gone
			continue
		default:
			n.compare(g, was, is)
		}
		if g.Words != "" && g.State == "" && !n.counted && words <= maxExtraWords && is.Words != hash(g.Words) {
			is.Words = hash(g.Words)
			n.words = append(n.words, quoted(l, g.Server, g.Words))
		}
		now[g.Server] = is
	}
	for _, server := range slices.Sorted(maps.Keys(before)) {
		if there[server] {
			continue
		}
		if was := before[server]; was.size() > 0 && x.Finder == "" {
			continue
		} else if server == "" && len(was.Names) > 0 {
			n.gone = append(n.gone, was.Names...)
		} else if was.size() > 0 {
			n.gone = append(n.gone, say(l, "extra.all", n.label(server)))
		}
		delete(now, server)
	}
	return n.text(x, first), now
}

// quoted returns what a server says, such that it cannot pass for anything else.
func quoted(l texts.Language, server, words string) string {
	return say(l, "extra.words", server) + "\n" + Quote(words)
}

// Quote returns the words of a stranger as a quotation, which they cannot end.
func Quote(words string) string {
	words = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(msg.Neutralise(words))
	return "> " + strings.ReplaceAll(strings.TrimSpace(words), "\n", "\n> ")
}

// A notice is what an announcement consists of.
type notice struct {
	language texts.Language
	counted  bool     // tools are not named
	added    []string // lines, or servers with counts
	gone     []string
	waiting  []string
	broken   []string
	words    []string
}

func (n *notice) label(server string) string {
	if server == "" {
		return say(n.language, "extra.builtin")
	}
	return server
}

// compare notes how a group differs from what was told of it.
func (n *notice) compare(g ExtraGroup, was, is announcement) {
	switch g.State {
	case Connecting:
		n.waiting = append(n.waiting, g.Server)
		return
	case Unavailable, WantsLogin:
		if was.State != g.State {
			n.broken = append(n.broken, say(n.language, "extra."+string(g.State), g.Server))
		}
		return
	}
	if n.counted {
		if is.Count != was.size() || was.State != "" {
			n.added = append(n.added, fmt.Sprintf("%s (%d)", n.label(g.Server), is.Count))
		}
		return
	}
	var more []string
	for _, name := range g.Names {
		if _, told := slices.BinarySearch(was.Names, name); !told {
			more = append(more, name)
		}
	}
	if len(more) > 0 {
		n.added = append(n.added, n.label(g.Server)+": "+strings.Join(more, ", "))
	}
	for _, name := range was.Names {
		if _, there := slices.BinarySearch(g.Names, name); !there {
			n.gone = append(n.gone, name)
		}
	}
	if was.Count > 0 && len(g.Names) == 0 {
		n.gone = append(n.gone, say(n.language, "extra.all", n.label(g.Server)))
	}
}

// text returns the notice in words, or nothing if there is nothing to tell.
func (n *notice) text(x *Extras, first bool) string {
	var lines []string
	add := func(is bool, line string) {
		if is {
			lines = append(lines, line)
		}
	}
	room := maxExtraText
	if len(n.added) > 0 {
		kind := "extra.more"
		if first {
			kind = "extra"
		}
		if n.counted {
			head := say(n.language, kind+".counted", x.Finder, x.Runner)
			room -= utf8.RuneCountInString(head)
			lines = append(lines, head+"\n"+n.list(n.added, &room))
		} else {
			lines = append(lines, say(n.language, kind, x.Finder, x.Runner)+"\n"+strings.Join(n.added, "\n"))
		}
	}
	if !n.counted {
		room = maxExtraText
	}
	add(len(n.waiting) > 0, say(n.language, "extra.waiting", n.list(n.waiting, &room)))
	add(len(n.broken) > 0, say(n.language, "extra.broken", n.list(n.broken, &room)))
	add(len(n.gone) > 0, say(n.language, "extra.gone", n.list(n.gone, &room)))
	lines = append(lines, n.words...)
	return strings.Join(lines, "\n\n")
}

// list returns items in one line, as many as there is room for, which it takes.
func (n *notice) list(items []string, room *int) string {
	var b strings.Builder
	for i, item := range items {
		size := utf8.RuneCountInString(item) + 2
		if left := len(items) - i; i > 0 && size > *room-40 && left > 1 {
			return b.String() + " " + say(n.language, "extra.rest", fmt.Sprint(left))
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item)
		*room -= size
	}
	return b.String()
}

// extrasKind is the kind of the note that has under "opening" what the opening says of extras, and under "told" what the
// model was told in all.
const extrasKind = "told-tools"

// extrasPiece is the piece of the opening that tells of extras.
const extrasPiece = "extras"

// extras returns what the opening says of extras, and takes note of it. The caller holds the lock.
func (a *Announcer) extras(l texts.Language) string {
	if a.cfg.Extras == nil {
		return ""
	}
	a.latest = a.cfg.Extras()
	text, now := announce(l, a.latest, nil, true)
	a.opened, a.told = now, now
	if len(now) > 0 {
		a.keepExtras()
	}
	return text
}

// extraNews returns what the model has to be told of extras since it was last told, or nothing. The caller holds the lock.
func (a *Announcer) extraNews(l texts.Language) string {
	if a.cfg.Extras == nil {
		return ""
	}
	x := a.cfg.Extras()
	if x == a.latest {
		return ""
	}
	a.latest = x
	text, now := announce(l, x, a.told, len(a.told) == 0)
	if !maps.EqualFunc(now, a.told, sameAnnouncement) {
		a.told = now
		a.keepExtras()
	}
	return text
}

func sameAnnouncement(a, b announcement) bool {
	return a.Count == b.Count && a.State == b.State && a.Words == b.Words && slices.Equal(a.Names, b.Names)
}

// Words returns what a server says about its tools, if the model was not told yet, as it is to be told now.
func (a *Announcer) Words(server string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cfg.Extras == nil {
		return ""
	}
	for _, g := range a.cfg.Extras().Groups {
		if g.Server != server || g.Words == "" || a.told[server].Words == hash(g.Words) {
			continue
		}
		said := a.told[server]
		said.Words = hash(g.Words)
		a.told = maps.Clone(a.told)
		if a.told == nil {
			a.told = announced{}
		}
		a.told[server] = said
		a.keepExtras()
		return quoted(a.cfg.Language(), server, g.Words)
	}
	return ""
}

func (a *Announcer) keepExtras() {
	a.cfg.Keeper.note(extrasKind, map[string]any{"version": a.cfg.Keeper.Version, "opening": a.opened, "told": a.told})
}
