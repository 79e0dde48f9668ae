package prompt

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/domain/instruct"
	"adze/internal/msg"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// An AnnouncerConfig configures an [Announcer].
type AnnouncerConfig struct {
	// Instructions configures the search for instruction files; nil disables it.
	Instructions *instruct.Config
	Memory       Memory
	// DeferredTools, if non-nil, returns the deferred tools: the same value until something changes.
	Extras func() *DeferredTools
	// Skills, if non-nil, returns the skills the model may run: the same value until something
	// changes.
	Skills func() *Skills
	// Settle, if non-nil, waits until Skills reflects the disk. Until then the opening may list
	// skills from a cache.
	Settle func()
	// Git returns the repository state, which may be incomplete; the first call may block.
	// Scratch returns the directory for temporary files, or "". Both may be nil.
	Git     func() gitinfo.Snapshot
	Scratch func() string
	// Paths resolves the paths in tool calls, to find the instructions for them.
	Paths    paths.Base
	Language func() texts.Language
	Now      func() time.Time
	// Loaded, if non-nil, is called with the instruction files that were read.
	Loaded func(context.Context, []instruct.File)
	// Problems, if non-nil, is called with problems in instruction files when a conversation
	// begins.
	Problems func([]instruct.Problem)
	// Note reports a problem to the user.
	Note func(string)
	// PrefixStore stores request prefixes; nil disables that.
	Keeper *PrefixStore
}

// An Announcer informs the model about instructions, memories, deferred tools, skills and the
// date, before the first message and whenever something changes. It is safe for concurrent use.
type Announcer struct {
	cfg AnnouncerConfig

	mu      sync.Mutex
	set     *instruct.Set // nil without instructions
	opening []msg.Part    // nil until needed
	pieces  []Piece       // opening, possibly from an earlier process; nil if not built yet
	resumed bool          // opening is from an earlier process, later changes not yet announced
	date    string        // last announced date
	loaded  []instruct.File
	// opened holds the deferred tools announced in the opening, told all announced so far.
	opened, told announcedTools
	latest       *DeferredTools // fully announced
	skills       skillAnnouncer
}

// NewAnnouncer returns a conversation's announcer. It reads nothing yet.
func NewAnnouncer(c AnnouncerConfig) *Announcer {
	if c.Keeper == nil {
		c.Keeper = &PrefixStore{}
	}
	a := &Announcer{cfg: c, skills: skillAnnouncer{from: c.Skills, settle: c.Settle, keeper: c.Keeper}}
	if c.Instructions != nil {
		in := *c.Instructions
		in.Loaded = func(f instruct.File) { a.loaded = append(a.loaded, f) }
		a.set = instruct.New(in)
	}
	return a
}

// Opening returns the content before the first message. It stays the same until
// [Announcer.Reset].
func (a *Announcer) Opening(ctx context.Context) []msg.Part {
	defer a.reportLoaded(ctx)
	return a.Preview()
}

// Preview is like [Announcer.Opening] but does not report the files that were read.
func (a *Announcer) Preview() []msg.Part {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		a.open()
	}
	return a.opening
}

// restore sets an earlier process's opening, with the deferred tools and skills announced in it
// and since. The opening is sent again, and changes are announced.
func (a *Announcer) restore(pieces []Piece, extras record[announcedTools], skills record[announcedSkills]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pieces, a.opened, a.told = pieces, extras.Opening, extras.Told
	a.skills.restore(skills)
}

// open builds the opening, or reuses that of an earlier process. The caller holds the lock.
func (a *Announcer) open() {
	var files []instruct.File
	if a.set != nil {
		files = a.set.Load()
		if a.cfg.Problems != nil {
			a.cfg.Problems(a.set.Problems())
		}
	}
	language := a.cfg.Language()
	a.date = a.today()
	index := a.index(language)
	if a.pieces != nil && (index != "" || text(a.pieces, indexPiece) == "") {
		a.resumed, a.date = true, ""
	} else { // first opening, or its memories must be hidden from the model
		a.pieces = openingPieces(language, files, index, a.date)
		// Skills come first: if there are many, there is a deferred tool that finds them.
		more := append([]Piece{{skillsPiece, a.skills.opening(language)}, {extrasPiece, a.extras(language)}}, a.facts(language)...)
		for _, p := range more {
			if p.Text != "" {
				a.pieces = slices.Insert(a.pieces, len(a.pieces)-1, p)
			}
		}
		a.cfg.Keeper.told.forget(openingKey)
		a.cfg.Keeper.opened(a.pieces)
	}
	a.opening = compose(a.pieces)
}

// index returns the memory index as shown to the model.
func (a *Announcer) index(l texts.Language) string {
	index, err := a.cfg.Memory.index(l)
	if err != nil {
		a.cfg.Note(err.Error())
	}
	return index
}

// openingKey prefixes the keys of openings in [AnnouncementLog].
const openingKey = "opening/"

// since returns announcements for files that differ from the opening or the last announcement.
// The caller holds the lock.
func (a *Announcer) since(l texts.Language) []string {
	var texts []string
	there := map[string]bool{}
	for _, f := range a.set.Files() {
		name := filePiece + f.Path
		there[name] = true
		if !a.news(name, contents(l, f)) {
			continue
		}
		if text(a.pieces, name) == "" {
			texts = append(texts, found(l, []instruct.File{f}))
		} else {
			f.Reason = instruct.Again
			texts = append(texts, changed(l, instruct.Change{File: f}))
		}
	}
	names := a.cfg.Keeper.told.known(openingKey)
	for _, p := range a.pieces {
		names = append(names, p.Name)
	}
	for _, name := range names {
		if path, ok := strings.CutPrefix(name, filePiece); ok && !there[name] && a.news(name, "") {
			texts = append(texts, changed(l, instruct.Change{File: instruct.File{Path: path}, Gone: true}))
		}
	}
	return texts
}

// tell records a change to a file that applies to the whole conversation. Other files are found
// again when needed.
func (a *Announcer) tell(l texts.Language, c instruct.Change) {
	name := filePiece + c.Path
	switch {
	case c.Gone:
		a.news(name, "")
	case c.Reason != instruct.Nested && c.Reason != instruct.Matched && c.Reason != instruct.Again,
		text(a.pieces, name) != "", slices.Contains(a.cfg.Keeper.told.known(openingKey), name):
		a.news(name, contents(l, c.File))
	}
}

// news reports whether a piece of the opening differs from the version last announced, and
// records the new one.
func (a *Announcer) news(name, is string) bool {
	return a.cfg.Keeper.told.news(openingKey+name, text(a.pieces, name), is)
}

// Rewound handles a rewind of the conversation, perhaps to a point before some announcements.
// The opening stays the same; later changes and the instructions for files the model works on
// are announced again.
func (a *Announcer) Rewound() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opening, a.told, a.latest = nil, a.opened, nil
	a.skills.rewound()
	a.cfg.Keeper.told.forget("")
}

// Reset discards the opening, so that the next one is current. It is called after a compaction
// or when memory is toggled.
func (a *Announcer) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opening, a.pieces = nil, nil
	a.opened, a.told, a.latest = nil, nil, nil
	a.skills.reset()
}

func (a *Announcer) today() string { return a.cfg.Now().Format(time.DateOnly) }

// News returns announcements of changes since the last call.
func (a *Announcer) News(ctx context.Context) []string {
	defer a.reportLoaded(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		if a.pieces == nil {
			return nil
		}
		a.open()
	}
	language := a.cfg.Language()
	var texts []string
	if now := a.today(); now != a.date {
		a.date = now
		if a.news(datePiece, catalogText(language, "context.date", now)) {
			texts = append(texts, newDate(language, now))
		}
	}
	if a.set != nil && a.resumed {
		texts = append(texts, a.since(language)...)
	} else if a.set != nil {
		for _, c := range a.set.Changes() {
			a.tell(language, c)
			texts = append(texts, changed(language, c))
		}
	}
	if a.resumed {
		a.resumed = false
		if index := a.index(language); a.news(indexPiece, index) && index != "" {
			texts = append(texts, index)
		}
	}
	return append(texts, a.arrivals(language)...)
}

// Arrivals returns announcements for the model while it works: added and removed tools and
// skills, and the repository status once git has found it.
func (a *Announcer) Arrivals() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		return nil // the opening will include it
	}
	return a.arrivals(a.cfg.Language())
}

// arrivals implements Arrivals; the caller holds the lock.
func (a *Announcer) arrivals(l texts.Language) (news []string) {
	for _, text := range []string{a.skills.news(l), a.extraNews(l), a.factNews(l)} {
		if text != "" {
			news = append(news, text)
		}
	}
	return news
}

// After implements [tool.After]: it adds the instructions for the file a call worked on.
func (a *Announcer) After(ctx context.Context, u *tool.Use, r *tool.Result) error {
	p, ok := tool.As[tool.Pather](u.Call)
	if !ok || r.IsError || a.set == nil {
		return nil
	}
	path, err := a.cfg.Paths.Expand(p.Path())
	if err != nil {
		return nil // the call resolved its path itself
	}
	defer a.reportLoaded(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := found(a.cfg.Language(), a.set.Touch(path)); text != "" {
		r.Reminders = append(r.Reminders, text)
	}
	return nil
}

// reportLoaded reports the files read since the last call.
func (a *Announcer) reportLoaded(ctx context.Context) {
	a.mu.Lock()
	files := a.loaded
	a.loaded = nil
	a.mu.Unlock()
	if len(files) > 0 && a.cfg.Loaded != nil {
		a.cfg.Loaded(ctx, files)
	}
}

// Instructed reports whether instructions are enabled.
func (a *Announcer) Instructed() bool { return a.set != nil }

// Files returns the active instruction files.
func (a *Announcer) Files() []instruct.File {
	if a.set == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Files()
}

// Problems returns the problems in instruction files.
func (a *Announcer) Problems() []instruct.Problem {
	if a.set == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Problems()
}

// Places returns the files that a line can be added to. Instructions must be enabled.
func (a *Announcer) Places() []instruct.Place {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Places()
}

// Add adds a line to a file from [Announcer.Places]. It is announced to the model with the next
// news.
func (a *Announcer) Add(ctx context.Context, files *replace.Replacer, path, line string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Add(ctx, files, path, line)
}
