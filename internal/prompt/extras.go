package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// DeferredTools are deferred tools, which are not in the model's tool list but can be looked up, and
// the servers that provide them.
type DeferredTools struct {
	// Finder and Runner are the tools that look them up and run them. They are empty while no
	// tool is deferred.
	Finder, Runner string
	Groups         []DeferredGroup
}

// A DeferredGroup holds the tools of one server, or the built-in ones.
type DeferredGroup struct {
	Server string   // empty for built-in tools
	Names  []string // sorted
	State  DeferredState
	// Words are the server's instructions for its tools, to be passed on; may be empty.
	Words string
}

// A DeferredState is the reason a server provides no tools; empty if it does.
type DeferredState string

// The states.
const (
	Connecting  DeferredState = "connecting"
	Unavailable DeferredState = "unavailable"
	WantsLogin  DeferredState = "login"
)

// Announcement limits.
const (
	maxExtraNames = 200  // above this, only servers are listed
	maxExtraText  = 900  // characters, if only servers are listed
	maxExtraWords = 4000 // characters of all server instructions; above, they are deferred until a tool is found
)

// announcedTools holds the deferred tools announced to the model, by server. It is stored with the
// session.
type announcedTools map[string]announcement

type announcement struct {
	Names []string      `json:"names,omitempty"`
	Count int           `json:"count,omitempty"` // number of tools if their names were omitted
	State DeferredState `json:"state,omitempty"`
	Words string        `json:"words,omitempty"` // hash of the words
}

func (a announcement) size() int { return max(len(a.Names), a.Count) }

// announce returns the announcement for x, given the earlier ones, and the updated record.
// first is true if nothing has been announced yet.
func announce(l texts.Language, x *DeferredTools, before announcedTools, first bool) (text string, now announcedTools) {
	now = maps.Clone(before)
	if now == nil {
		now = announcedTools{}
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
		case x.Finder == "" && g.State == "": // its tools are in the main list
			is.Names, is.Count = was.Names, was.Count
		case g.State == Connecting && known: // reconnecting; a later announcement follows
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
			n.gone = append(n.gone, catalogText(l, "extra.all", n.label(server)))
		}
		delete(now, server)
	}
	return n.text(x, first), now
}

// quoted returns a server's instructions, escaped so that they can't be mistaken for anything
// else.
func quoted(l texts.Language, server, words string) string {
	return catalogText(l, "extra.words", server) + "\n" + Quote(words)
}

// Quote returns untrusted text as a quotation that it can't terminate.
func Quote(words string) string {
	words = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(msg.Neutralise(words))
	return "> " + strings.ReplaceAll(strings.TrimSpace(words), "\n", "\n> ")
}

// A notice collects the parts of an announcement.
type notice struct {
	language texts.Language
	counted  bool     // tools are counted, not named
	added    []string // lines, or servers with counts
	gone     []string
	waiting  []string
	broken   []string
	words    []string
}

func (n *notice) label(server string) string {
	if server == "" {
		return catalogText(n.language, "extra.builtin")
	}
	return server
}

// compare records how a group differs from its last announcement.
func (n *notice) compare(g DeferredGroup, was, is announcement) {
	switch g.State {
	case Connecting:
		n.waiting = append(n.waiting, g.Server)
		return
	case Unavailable, WantsLogin:
		if was.State != g.State {
			n.broken = append(n.broken, catalogText(n.language, "extra."+string(g.State), g.Server))
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
		n.gone = append(n.gone, catalogText(n.language, "extra.all", n.label(g.Server)))
	}
}

// text returns the notice as text, or "" if there is nothing to announce.
func (n *notice) text(x *DeferredTools, first bool) string {
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
			head := catalogText(n.language, kind+".counted", x.Finder, x.Runner)
			room -= utf8.RuneCountInString(head)
			lines = append(lines, head+"\n"+n.list(n.added, &room))
		} else {
			lines = append(lines, catalogText(n.language, kind, x.Finder, x.Runner)+"\n"+strings.Join(n.added, "\n"))
		}
	}
	if !n.counted {
		room = maxExtraText
	}
	add(len(n.waiting) > 0, catalogText(n.language, "extra.waiting", n.list(n.waiting, &room)))
	add(len(n.broken) > 0, catalogText(n.language, "extra.broken", n.list(n.broken, &room)))
	add(len(n.gone) > 0, catalogText(n.language, "extra.gone", n.list(n.gone, &room)))
	lines = append(lines, n.words...)
	return strings.Join(lines, "\n\n")
}

// list joins as many items as fit into room on one line, and reduces room accordingly.
func (n *notice) list(items []string, room *int) string {
	var b strings.Builder
	for i, item := range items {
		size := utf8.RuneCountInString(item) + 2
		if left := len(items) - i; i > 0 && size > *room-40 && left > 1 {
			return b.String() + " " + catalogText(n.language, "extra.rest", fmt.Sprint(left))
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item)
		*room -= size
	}
	return b.String()
}

// extrasKind is the kind of the note that stores the deferred tools announced in the opening
// under "opening", and all announced so far under "told".
const extrasKind = "told-tools"

// extrasPiece is the piece of the opening that lists deferred tools.
const extrasPiece = "extras"

// extras returns the opening's text about deferred tools, and records it. The caller holds the
// lock.
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

// extraNews returns an announcement of changes to deferred tools since the last one, or "". The
// caller holds the lock.
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

// Words returns a server's instructions for its tools as an announcement, or "" if they were
// announced before.
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
			a.told = announcedTools{}
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
