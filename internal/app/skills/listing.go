package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

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
	now := brief.Skills{List: l.cfg.Skills(), Score: l.cfg.Score}
	if pool := l.cfg.Pool(); len(now.List) > 0 {
		if _, _, ok := pool.Lookup(l.cfg.Runner); ok {
			now.Tool = l.cfg.Runner
		}
		if pool.IsDeferred(l.cfg.Runner) {
			now.Tool = fmt.Sprintf(`%s {"tool_name": %q, "params": …}`, l.cfg.Door, l.cfg.Runner)
		}
	}
	s := l.cfg.Settings()
	if now.Budget = s.Budget; now.Budget == 0 {
		now.Budget = skill.Budget(l.cfg.Window())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.last; was != nil && was.Tool == now.Tool && was.Budget == now.Budget && same(was.List, now.List) {
		return was
	}
	if now.Tool != "" && !l.many.Load() && s.Search != "never" && (s.Search == "always" || !now.Complete(l.cfg.Language())) {
		l.many.Store(true)
	}
	if l.many.Load() {
		now.Finder = discover.Name
	}
	l.last = &now
	return l.last
}

func same(a, b []*skill.Skill) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// Hear suggests skills that may help with a message, where they can be searched. See [session.Hearer].
func (l *Listing) Hear(_ context.Context, p session.Prompt) (h session.Hearing) {
	told := l.Told()
	if told.Finder == "" || told.Tool == "" {
		return h
	}
	var lines []string
	for _, s := range suggest.For(l.finder.Suggest, &l.suggested, p.Parts, l.cfg.Before()) {
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
