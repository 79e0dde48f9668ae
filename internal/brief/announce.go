package brief

import (
	"context"
	"sync"
	"time"

	"adze/internal/instruct"
	"adze/internal/msg"
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
}

// An Announcer tells the model of a conversation about instructions, memories and the date: before the first
// message, and whenever something changes. It is safe for concurrent use.
type Announcer struct {
	cfg AnnouncerConfig

	mu      sync.Mutex
	set     *instruct.Set // nil if there are no instructions
	opening []msg.Part    // nil until it is needed
	date    string        // as it was told last
	loaded  []instruct.File
}

// NewAnnouncer returns the announcer of a conversation. Nothing is read yet.
func NewAnnouncer(c AnnouncerConfig) *Announcer {
	a := &Announcer{cfg: c}
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

// open writes the opening. The caller holds the lock.
func (a *Announcer) open() {
	var files []instruct.File
	if a.set != nil {
		files = a.set.Load()
		if a.cfg.Problems != nil {
			a.cfg.Problems(a.set.Problems())
		}
	}
	language := a.cfg.Language()
	index, err := a.cfg.Memory.index(language)
	if err != nil {
		a.cfg.Note(err.Error())
	}
	a.date = a.today()
	a.opening = Opening(language, files, index, a.date)
}

// Reset makes the next opening tell what holds then, after a compaction or when memory is switched.
func (a *Announcer) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opening = nil
}

func (a *Announcer) today() string { return a.cfg.Now().Format(time.DateOnly) }

// News returns what changed since the model was last told.
func (a *Announcer) News(ctx context.Context) []string {
	defer a.reportLoaded(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		return nil
	}
	var texts []string
	if now := a.today(); now != a.date {
		a.date = now
		texts = append(texts, newDate(a.cfg.Language(), now))
	}
	if a.set != nil {
		for _, c := range a.set.Changes() {
			texts = append(texts, changed(a.cfg.Language(), c))
		}
	}
	return texts
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
