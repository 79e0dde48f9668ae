package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/scope"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// resumes reports whether the run goes on with an earlier session.
func (o *options) resumes() bool { return o.resume != "" || o.latest }

// resume finds the session that the flags name and loads it. Without such flags it does nothing.
func (b *builder) resume(ctx context.Context) error {
	if !b.o.resumes() {
		return nil
	}
	if b.homeErr != nil {
		return setupErrorf("%v", b.homeErr)
	}
	info, err := b.findSession()
	if err != nil {
		return err
	}
	b.id = info.ID
	at := store.LoadOptions{At: b.o.resumeAt, Structured: true}
	opt := b.logOptions()
	opt.Path = info.Path
	switch {
	case !b.keeps(): // nothing is written, so nothing has to be locked
		b.earlier, err = store.Load(info.Path, at)
		if b.o.fork {
			b.id = b.newSession()
		}
	case b.o.fork:
		b.id = b.newSession()
		opt.Session, opt.Path = b.id, ""
		if _, err = store.Fork(info.Path, opt, b.o.resumeAt); err == nil {
			if err := inherit(ctx, b.home, info, b.id, b.plansDir()); err != nil {
				b.env.say(err.Error())
			}
			b.log, b.earlier, err = store.Resume(opt, store.LoadOptions{Structured: true})
		}
	default:
		b.log, b.earlier, err = store.Resume(opt, at)
	}
	if err != nil {
		return resumeError(info, err)
	}
	b.closeLog()
	b.restore(ctx)
	return nil
}

func (b *builder) newSession() string { return firstOf(b.o.session, msg.NewID()) }

// findSession returns the session that --resume or --continue means.
func (b *builder) findSession() (*archive.Info, error) {
	if b.o.latest {
		return archive.Latest(b.home, b.env.Dir)
	}
	return archive.Find(b.home, b.env.Dir, b.o.resume)
}

// resumeError says what to do when a session cannot be gone on with.
func resumeError(info *archive.Info, err error) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; end it there, or go on in a copy with --fork-session", err)
	}
	return fmt.Errorf("resuming session %s: %w", info.ID, err)
}

// restore takes up what the session chose, unless the command line says otherwise, and tells what is
// not as it was.
func (b *builder) restore(ctx context.Context) {
	for _, notice := range b.earlier.Notices {
		b.env.say(notice)
	}
	state := b.earlier.State
	if state.Model != "" && b.o.model == "" {
		if _, err := b.resolve(state.Model); err == nil && !strings.HasPrefix(state.Model, replayPrefix) {
			b.o.model = state.Model
		} else if err != nil {
			b.env.say(fmt.Sprintf("the session used the model %s, which is not known any more; the default is used", state.Model))
		}
	}
	if mode := permission.Mode(state.Mode); mode != "" && !b.o.given["permission-mode"] && !b.o.bypass && mode != permission.Bypass {
		if _, err := b.gate.SetMode(state.Mode); err != nil {
			b.env.say(fmt.Sprintf("the session's permission mode cannot be restored: %v", err))
		}
	}
	var dirs []string
	for _, dir := range state.Dirs {
		if !isDir(dir) {
			b.env.say(fmt.Sprintf("the directory %s of the session does not exist any more", dir))
			continue
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		return
	}
	add := permission.Update{Type: permission.AddDirectories, Directories: dirs, Destination: scope.Session}
	if err := b.gate.Apply(ctx, []permission.Update{add}); err != nil {
		b.env.say(fmt.Sprintf("the session's directories cannot be restored: %v", err))
	}
}

// recall makes the tools know what the session has read and written. What the results say beyond that is
// not needed any more.
func (b *builder) recall(tools []tool.Tool) {
	if b.earlier == nil {
		return
	}
	restore := map[string]func(json.RawMessage){}
	for _, t := range tools {
		traits := t.Traits()
		for _, name := range append([]string{t.Spec().Name}, traits.Aliases...) {
			restore[name] = traits.Restore
		}
	}
	names := map[string]string{} // of tools, by use
	for i := range b.earlier.Entries {
		e := &b.earlier.Entries[i]
		for _, use := range e.Message.Uses() {
			names[use.ID] = use.Name
		}
		for _, part := range e.Message.Parts {
			r, ok := part.(*msg.ToolResult)
			if !ok || r.IsError || e.Structured[r.ID] == nil {
				continue
			}
			if known := restore[names[r.ID]]; known != nil {
				known(e.Structured[r.ID])
			}
		}
		e.Structured = nil
	}
}

// spent returns a ledger that goes on from what the session has cost.
func (b *builder) spent() *cost.Ledger {
	ledger := cost.New(b.facts)
	if b.earlier == nil {
		return ledger
	}
	total := b.earlier.State.Cost
	if total == nil {
		last, err := store.LastCost(b.home, b.env.Dir, b.id)
		if err != nil {
			b.env.say(err.Error())
		}
		total = last
	}
	if total != nil {
		ledger.Restore(*total)
		return ledger
	}
	for _, e := range b.earlier.Entries {
		if e.Usage != nil {
			ledger.Book(e.Model, *e.Usage, cost.Times{})
		}
	}
	return ledger
}

// saveCost keeps what the session has cost with the project.
func (b *builder) saveCost(t cost.Totals) {
	if b.log == nil {
		return
	}
	if err := store.SaveCost(b.home, b.env.Dir, b.id, t); err != nil {
		b.costOnce.Do(func() { b.env.say(fmt.Sprintf("what the session costs is not kept with the project: %v", err)) })
	}
}
