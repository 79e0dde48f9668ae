package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"adze/internal/app/headstart"
	"adze/internal/app/settings"
	"adze/internal/brief"
	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/skill"
	"adze/internal/tool"
	"adze/internal/tool/deferral"
	"adze/internal/tool/suggest"
	"adze/internal/tools/discover"
)

// A ListingConfig is what a [Listing] is made from.
type ListingConfig struct {
	// Skills returns those that the model may run, in the order of their names: the same slice until something changes.
	Skills func() []*skill.Skill
	// Runner is the tool that runs them, and Pool returns the tools of the next request.
	Runner string
	Pool   func() *tool.Pool
	// Door is the tool through which the runner is called where it is deferred.
	Door string
	// Window returns how many tokens the model's context has.
	Window   func() int
	Settings func() settings.Skills
	// Score says how much a skill is used; may be nil.
	Score    func(name string) float64
	Language func() texts.Language
	// Before returns the conversation so far.
	Before func() []msg.Entry
	// Start is what the listing began with in an earlier session with the same skills; it may be nil. Keep is given how it
	// begins in this one, once it is needed; it may be nil.
	Start *Start
	Keep  func(make func() *headstart.Skills)
	// Note keeps a note with the session, and Last are those that were kept last, by kind. They may be nil.
	Note func(kind string, fields map[string]any)
	Last map[string]json.RawMessage
}

// A Listing is what the model of a conversation is told of skills, and how it finds those that it was told too little of. It
// may be nil: then there are no skills. It is safe for concurrent use.
type Listing struct {
	cfg       ListingConfig
	finder    *discover.Finder
	suggested deferral.Discovered
	// many says that skills can be searched. It stays, so that the tools do.
	many atomic.Bool

	mu   sync.Mutex
	last *brief.Skills
}

// suggestedKind is the kind of the note that has under "names" the skills that were suggested or found, oldest first.
const suggestedKind = "suggested-skills"

// NewListing returns the listing of a conversation.
func NewListing(c ListingConfig) *Listing {
	l := &Listing{cfg: c}
	var seen struct{ Names []string }
	json.Unmarshal(c.Last[suggestedKind], &seen) // ok: then some are suggested again
	l.suggested.Restore(seen.Names)
	l.finder = discover.NewFinder(discover.Config{Skills: c.Skills, Runner: c.Runner, Many: l.many.Load, Seen: &l.suggested})
	return l
}

// Tool returns the tool that finds skills.
func (l *Listing) Tool() tool.Tool {
	if l == nil {
		return discover.New(nil)
	}
	return discover.New(l.finder)
}

// Told returns what the model is to be told of skills: the same value until something changes.
func (l *Listing) Told() *brief.Skills {
	if l == nil {
		return &brief.Skills{}
	}
	now := brief.Skills{Score: l.cfg.Score}
	s := l.cfg.Settings()
	if now.Budget = s.Budget; now.Budget == 0 {
		now.Budget = skill.Budget(l.cfg.Window())
	}
	if begun := l.cfg.Start.get(); begun != nil {
		now.Tool = l.runner()
		if begun.Tool == now.Tool && begun.Budget == now.Budget {
			return l.begin(begun, now)
		}
		l.cfg.Start.End()
	}
	if now.List = l.cfg.Skills(); len(now.List) > 0 {
		now.Tool = l.runner()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.last; was != nil && was.Ready == nil && was.Tool == now.Tool && was.Budget == now.Budget && same(was.List, now.List) {
		return was
	}
	if now.Tool != "" && !l.many.Load() && s.Search != "never" && (s.Search == "always" || !now.Complete(l.cfg.Language())) {
		l.many.Store(true)
	}
	if l.many.Load() {
		now.Finder = discover.Name
	}
	if l.cfg.Keep != nil {
		now.Keep = func(list func() *brief.SkillList) {
			l.cfg.Keep(func() *headstart.Skills {
				return &headstart.Skills{Tool: now.Tool, Finder: now.Finder, Budget: now.Budget, List: *list(), Words: headstart.NewWords(string(discover.WordsOf(now.List)))}
			})
		}
	}
	l.last = &now
	return l.last
}

// runner returns the tool that runs skills as the model calls it; empty if it does not have it.
func (l *Listing) runner() (name string) {
	pool := l.cfg.Pool()
	if _, _, ok := pool.Lookup(l.cfg.Runner); ok {
		name = l.cfg.Runner
	}
	if pool.IsDeferred(l.cfg.Runner) {
		name = fmt.Sprintf(`%s {"tool_name": %q, "params": …}`, l.cfg.Door, l.cfg.Runner)
	}
	return name
}

// begin returns what the model is told of skills while they need not be looked up.
func (l *Listing) begin(with *headstart.Skills, now brief.Skills) *brief.Skills {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.Ready != &with.List {
		if now.Finder = with.Finder; now.Finder != "" {
			l.many.Store(true)
		}
		now.Ready = &with.List
		l.last = &now
	}
	return l.last
}

// suggestions returns the skills that a text is about. Those of a start are not looked up: what is run is.
func (l *Listing) suggestions(text string, atLeast float64, n int, skip func(name string) bool) []suggest.Suggestion {
	if begun := l.cfg.Start.get(); begun != nil {
		if words := begun.Words.Text(); words != "" {
			return discover.Words(words).Suggest(text, atLeast, n, skip)
		}
	}
	return l.finder.Suggest(text, atLeast, n, skip)
}

func same(a, b []*skill.Skill) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// Hear suggests skills that may help with a message, where they can be searched. See [session.Hearer].
func (l *Listing) Hear(_ context.Context, p session.Prompt) (h session.Hearing) {
	told := l.Told()
	if told.Finder == "" || told.Tool == "" {
		return h
	}
	var lines []string
	for _, s := range suggest.For(l.suggestions, &l.suggested, p.Parts, l.cfg.Before()) {
		lines = append(lines, "- "+s.Name+": "+s.Line)
	}
	if len(lines) > 0 {
		h.Context = append(h.Context, msg.Reminder(brief.SuggestedSkills(l.cfg.Language(), told.Tool, lines)))
	}
	l.Save()
	return h
}

// Save keeps which skills were suggested or found.
func (l *Listing) Save() {
	if names, changed := l.suggested.Changes(); changed && l.cfg.Note != nil {
		l.cfg.Note(suggestedKind, map[string]any{"names": names})
	}
}
