package app

import (
	"context"

	"adze/internal/brief"
	"adze/internal/hook"
	"adze/internal/instruct"
	"adze/internal/msg"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/session"
)

// openAnnouncer puts instructions and their changes where the session asks for them. The simple mode has none.
func (b *builder) openAnnouncer(cfg *session.Config) {
	if b.settings.Bool("ADZE_SIMPLE") {
		return
	}
	c := b.announcements()
	c.Loaded = b.instructionsLoaded
	c.Problems = b.reportIncludes
	a := brief.NewAnnouncer(c)
	b.announcer = a
	cfg.Preamble.Context = a.Opening
}

// announce tells the model at the beginning of a turn what changed.
func (b *builder) announce(ctx context.Context, _ session.Prompt) (h session.Hearing) {
	for _, text := range b.announcer.News(ctx) {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

// announcements says what a conversation is told of instructions and memories.
func (b *builder) announcements() brief.AnnouncerConfig {
	c := brief.AnnouncerConfig{
		Memory: b.memory.told(), Paths: paths.Base{Dir: b.env.Dir, Home: fsys.UserHome(b.env.Getenv)},
		Language: b.promptLanguage, Now: b.env.Now, Note: b.env.say,
	}
	if !b.settings.Bool("ADZE_DISABLE_INSTRUCTIONS") {
		in := b.instructions()
		c.Instructions = &in
	}
	return c
}

// instructions says where instructions are looked for.
func (b *builder) instructions() instruct.Config { return b.prefs.instructions(b.env, b.o) }

// instructionsLoaded tells the hooks which files were read.
func (b *builder) instructionsLoaded(ctx context.Context, files []instruct.File) {
	if b.hooks == nil || !b.hooks.Has(hook.InstructionsLoaded) {
		return
	}
	for _, f := range files {
		b.hooks.Fire(ctx, hook.OnInstructionsLoaded(f.Path, f.Kind.String(), string(f.Reason), f.Globs))
	}
}
