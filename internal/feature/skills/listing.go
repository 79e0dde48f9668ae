package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"adze/internal/domain/skill"
	"adze/internal/feature/startcache"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tool/deferral"
	"adze/internal/tool/suggest"
	"adze/internal/tools/discover"
)

// ListingConfig configures a [Listing].
type ListingConfig struct {
	// Skills returns the skills the model may run, sorted by name. It returns the same slice
	// until something changes.
	Skills func() []*skill.Skill
	// Runner is the name of the tool that runs skills, and Pool returns the next request's
	// tools.
	Runner string
	Pool   func() *tool.Pool
	// Door is the tool that calls the runner when it is deferred.
	Door string
	// Window returns the size of the model's context window, in tokens.
	Window   func() int
	Settings func() settings.Skills
	// Score returns how much a skill is used; may be nil.
	Score    func(name string) float64
	Language func() texts.Language
	// Before returns the conversation so far.
	Before func() []msg.Entry
	// Start is the cached listing of an earlier session with the same skills; may be nil. Keep,
	// if non-nil, is called with a function that returns this session's listing for caching.
	Start *Start
	Keep  func(make func() *startcache.Skills)
	// Note saves a note with the session, and Last holds the latest notes by kind. Both may be
	// nil.
	Note func(kind string, fields map[string]any)
	Last map[string]json.RawMessage
}

// A Listing announces skills to the conversation's model and lets it search the ones not fully
// described. Nil means no skills. It is safe for concurrent use.
type Listing struct {
	cfg       ListingConfig
	finder    *discover.Finder
	suggested deferral.Discovered
	// many is true once skills can be searched. It is never reset, so that the tools stay the
	// same.
	many atomic.Bool

	mu   sync.Mutex
	last *prompt.Skills
}

// suggestedKind is the kind of note that lists, under "names", the skills suggested or found,
// oldest first.
const suggestedKind = "suggested-skills"

// NewListing returns a conversation's listing.
func NewListing(c ListingConfig) *Listing {
	l := &Listing{cfg: c}
	var seen struct{ Names []string }
	json.Unmarshal(c.Last[suggestedKind], &seen) // ok: some are suggested again then
	l.suggested.Restore(seen.Names)
	l.finder = discover.NewFinder(discover.Config{Skills: c.Skills, Runner: c.Runner, Many: l.many.Load, Seen: &l.suggested})
	return l
}

// Tool returns the skill search tool.
func (l *Listing) Tool() tool.Tool {
	if l == nil {
		return discover.New(nil)
	}
	return discover.New(l.finder)
}

// Told returns the skills to announce. It returns the same value until something changes.
func (l *Listing) Told() *prompt.Skills {
	if l == nil {
		return &prompt.Skills{}
	}
	now := prompt.Skills{Score: l.cfg.Score}
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
		now.Keep = func(list func() *prompt.SkillList) {
			l.cfg.Keep(func() *startcache.Skills {
				return &startcache.Skills{Tool: now.Tool, Finder: now.Finder, Budget: now.Budget, List: *list(), Words: startcache.NewWords(string(discover.WordsOf(now.List)))}
			})
		}
	}
	l.last = &now
	return l.last
}

// runner returns the name by which the model calls the tool that runs skills; empty if it is
// unavailable.
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

// begin returns the announcement from a cached listing.
func (l *Listing) begin(with *startcache.Skills, now prompt.Skills) *prompt.Skills {
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

// suggestions returns the skills relevant to a text. With a cached listing no skills are
// loaded; only running one loads it.
func (l *Listing) suggestions(text string, atLeast float64, n int, skip func(name string) bool) []suggest.Suggestion {
	if begun := l.cfg.Start.get(); begun != nil {
		if words := begun.Words.Text(); words != "" {
			return discover.Words(words).Suggest(text, atLeast, n, skip)
		}
	}
	return l.finder.Suggest(text, atLeast, n, skip)
}

func same(a, b []*skill.Skill) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// PromptHook suggests skills relevant to a message, if skills are searchable. See [session.PromptHook].
func (l *Listing) PromptHook(_ context.Context, p session.Prompt) (h session.HookResult) {
	told := l.Told()
	if told.Finder == "" || told.Tool == "" {
		return h
	}
	var lines []string
	for _, s := range suggest.For(l.suggestions, &l.suggested, p.Parts, l.cfg.Before()) {
		lines = append(lines, "- "+s.Name+": "+s.Line)
	}
	if len(lines) > 0 {
		h.Context = append(h.Context, msg.Reminder(prompt.SuggestedSkills(l.cfg.Language(), told.Tool, lines)))
	}
	l.Save()
	return h
}

// Save stores which skills were suggested or found.
func (l *Listing) Save() {
	if names, changed := l.suggested.Changes(); changed && l.cfg.Note != nil {
		l.cfg.Note(suggestedKind, map[string]any{"names": names})
	}
}
