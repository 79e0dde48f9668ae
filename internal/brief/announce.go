package brief

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/instruct"
	"adze/internal/msg"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/paths"
	"adze/internal/platform/replace"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

// An AnnouncerConfig is what an [Announcer] tells of.
type AnnouncerConfig struct {
	// Instructions says where instructions are looked for. It may be nil: then there are none.
	Instructions *instruct.Config
	Memory       Memory
	// Extras returns the tools that can be looked up: the same value until something changes. It may be nil: then there
	// are none.
	Extras func() *Extras
	// Skills returns the skills that the model may run: the same value until something changes. It may be nil: then there
	// are none.
	Skills func() *Skills
	// Settle waits until Skills returns what is on disk: what the opening says of skills may be what is known from earlier.
	// It may be nil.
	Settle func()
	// Git returns the state of the repository, which may still be incomplete; the first call may wait for it. Scratch returns
	// the directory for temporary files, or "". Both may be nil.
	Git     func() gitinfo.Snapshot
	Scratch func() string
	// Paths resolves the paths of calls, for which instructions may hold.
	Paths    paths.Base
	Language func() texts.Language
	Now      func() time.Time
	// Loaded is told which instruction files were read. It may be nil.
	Loaded func(context.Context, []instruct.File)
	// Problems is told what is wrong with instructions when a conversation begins. It may be nil.
	Problems func([]instruct.Problem)
	// Note tells the user of a problem.
	Note func(string)
	// Keeper keeps how requests begin; nil means that nothing is kept.
	Keeper *Keeper
}

// An Announcer tells the model of a conversation about instructions, memories, tools that can be looked up, skills and the
// date: before the first message, and whenever something changes. It is safe for concurrent use.
type Announcer struct {
	cfg AnnouncerConfig

	mu      sync.Mutex
	set     *instruct.Set // nil if there are no instructions
	opening []msg.Part    // nil until it is needed
	pieces  []Piece       // of the opening, or of that of an earlier process; nil if it is to be written
	resumed bool          // the opening is that of an earlier process, and what has changed since was not told
	date    string        // as it was told last
	loaded  []instruct.File
	// opened is what the opening says of extras, told what the model was told of them in all.
	opened, told announced
	latest       *Extras // of which all was told that had to be
	skills       skillNews
}

// NewAnnouncer returns the announcer of a conversation. Nothing is read yet.
func NewAnnouncer(c AnnouncerConfig) *Announcer {
	if c.Keeper == nil {
		c.Keeper = &Keeper{}
	}
	a := &Announcer{cfg: c, skills: skillNews{from: c.Skills, settle: c.Settle, keeper: c.Keeper}}
	if c.Instructions != nil {
		in := *c.Instructions
		in.Loaded = func(f instruct.File) { a.loaded = append(a.loaded, f) }
		a.set = instruct.New(in)
	}
	return a
}

// Opening returns what goes before the first message. It stays the same until [Announcer.Reset].
func (a *Announcer) Opening(ctx context.Context) []msg.Part {
	defer a.reportLoaded(ctx)
	return a.Preview()
}

// Preview returns what [Announcer.Opening] does, without reporting the files that were read.
func (a *Announcer) Preview() []msg.Part {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		a.open()
	}
	return a.opening
}

// restore sets the opening of an earlier process, with what it says of extras and skills and what was told of them since.
// It is sent again, and what has changed is news.
func (a *Announcer) restore(pieces []Piece, extras record[announced], skills record[skillsTold]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pieces, a.opened, a.told = pieces, extras.Opening, extras.Told
	a.skills.restore(skills)
}

// open writes the opening, or takes over that of an earlier process. The caller holds the lock.
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
	} else { // it is the first, or the model shall no longer see the memories in it
		a.pieces = openingPieces(language, files, index, a.date)
		// Skills come first: with many of them there is a tool that finds them, which can be looked up.
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

// index returns the index of memories as the model is shown it.
func (a *Announcer) index(l texts.Language) string {
	index, err := a.cfg.Memory.index(l)
	if err != nil {
		a.cfg.Note(err.Error())
	}
	return index
}

// openingKey begins what [Told] has of openings.
const openingKey = "opening/"

// since returns which files are not as the opening says, or as it was told since. The caller holds the lock.
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

// tell takes note of a change of a file that holds for the whole conversation; others are found again when they are
// needed.
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

// news reports whether a piece of the opening is not what the model was told of it last, and takes note of it.
func (a *Announcer) news(name, is string) bool {
	return a.cfg.Keeper.told.news(openingKey+name, text(a.pieces, name), is)
}

// Rewound says that the conversation went back, perhaps to before something that was told. The opening stays as it is; what
// has changed since is news again, and so are the instructions for files that the model works on.
func (a *Announcer) Rewound() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opening, a.told, a.latest = nil, a.opened, nil
	a.skills.rewound()
	a.cfg.Keeper.told.forget("")
}

// Reset makes the next opening tell what holds then, after a compaction or when memory is switched.
func (a *Announcer) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opening, a.pieces = nil, nil
	a.opened, a.told, a.latest = nil, nil, nil
	a.skills.reset()
}

func (a *Announcer) today() string { return a.cfg.Now().Format(time.DateOnly) }

// News returns what changed since the model was last told.
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
		if a.news(datePiece, say(language, "context.date", now)) {
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

// Arrivals returns what the model has to be told while it works: tools and skills that came or went since it was last told, and
// the status of the repository if git has just found it.
func (a *Announcer) Arrivals() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		return nil // the opening will tell it
	}
	return a.arrivals(a.cfg.Language())
}

// arrivals is Arrivals; the caller holds the lock.
func (a *Announcer) arrivals(l texts.Language) (news []string) {
	for _, text := range []string{a.skills.news(l), a.extraNews(l), a.factNews(l)} {
		if text != "" {
			news = append(news, text)
		}
	}
	return news
}

// After implements [tool.After]: it adds the instructions that hold for the file a call worked on.
func (a *Announcer) After(ctx context.Context, u *tool.Use, r *tool.Result) error {
	p, ok := tool.As[tool.Pather](u.Call)
	if !ok || r.IsError || a.set == nil {
		return nil
	}
	path, err := a.cfg.Paths.Expand(p.Path())
	if err != nil {
		return nil // the call has found its own way
	}
	defer a.reportLoaded(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := found(a.cfg.Language(), a.set.Touch(path)); text != "" {
		r.Reminders = append(r.Reminders, text)
	}
	return nil
}

// reportLoaded reports the files that were read since it was last called.
func (a *Announcer) reportLoaded(ctx context.Context) {
	a.mu.Lock()
	files := a.loaded
	a.loaded = nil
	a.mu.Unlock()
	if len(files) > 0 && a.cfg.Loaded != nil {
		a.cfg.Loaded(ctx, files)
	}
}

// Instructed reports whether instructions are read at all.
func (a *Announcer) Instructed() bool { return a.set != nil }

// Files returns the instructions in force.
func (a *Announcer) Files() []instruct.File {
	if a.set == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Files()
}

// Problems returns which instructions are not used as they were meant.
func (a *Announcer) Problems() []instruct.Problem {
	if a.set == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Problems()
}

// Places returns the files that a line can be added to. There must be instructions.
func (a *Announcer) Places() []instruct.Place {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Places()
}

// Add adds a line to one of [Announcer.Places]. The model is told of it with the next news.
func (a *Announcer) Add(ctx context.Context, files *replace.Replacer, path, line string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set.Add(ctx, files, path, line)
}
