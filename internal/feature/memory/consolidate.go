package memory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/domain/agentdef"
	"adze/internal/domain/memdir"
	"adze/internal/feature"
	"adze/internal/feature/agents"
	"adze/internal/permission/mode"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/term"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/settings"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// Memories are consolidated automatically after this interval and this many sessions.
const (
	interval = 24 * time.Hour
	sessions = 5
)

// maxTurns limits the requests of the consolidating agent.
const maxTurns = 100

// Config configures memory maintenance.
type ConsolidatorConfig struct {
	// Launch runs an agent. Background reports whether background tasks are available.
	Launch     func(ctx context.Context, r agents.Request, report func(tool.Progress)) (*agents.Outcome, error)
	Background bool
	Memory     *View
	Project    *settings.Project
	Dir        string // conversation's initial directory
	Settings   func() settings.Memory
	Session    func() *session.Session
	// Unattended is true if the program exits after the turn.
	Unattended bool
	Language   func() texts.Language
	Now        func() time.Time
	Say        func(string)
	Log        *slog.Logger // may be nil
}

// Dreams maintains memories for one conversation. Nil does nothing. It is safe for concurrent
// use.
type Consolidator struct {
	cfg ConsolidatorConfig

	wg      sync.WaitGroup // background work
	mu      sync.Mutex
	looked  bool   // the consolidation check was made
	busy    bool   // a fork is saving memories
	heard   string // last answer seen by a fork
	closing chan struct{}
}

// New returns a Dreams for a conversation.
func NewConsolidator(c ConsolidatorConfig) *Consolidator {
	return &Consolidator{cfg: c, closing: make(chan struct{})}
}

// patience is how long an unattended run waits for memories being saved.
const patience = time.Minute

// Close stops the work. An unattended run first finishes saving.
func (d *Consolidator) Close() {
	if d.cfg.Unattended {
		d.wait(patience)
	}
	close(d.closing)
}

func (d *Consolidator) wait(limit time.Duration) {
	done := make(chan struct{})
	go func() { d.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// errOff reports that memory is off.
var errOff = errors.New("memory is off in this session; see /memory for the reason")

// Dream has an agent consolidate the memories and returns a message for the user. It waits for
// the agent if the program would exit before it.
func (d *Consolidator) Dream(ctx context.Context) (string, error) {
	if d == nil || !d.cfg.Memory.On() {
		return "", errOff
	}
	out, err := d.dream(ctx, d.cfg.Unattended || !d.cfg.Background)
	if err != nil {
		return "", err
	}
	if out.Launched {
		return fmt.Sprintf("The memories are being consolidated in the background, as task %s. You'll be notified when it finishes; /tasks shows it.", out.ID), nil
	}
	return term.Sanitize(out.Text), nil
}

// dream launches the agent, waiting for it if waits is true.
func (d *Consolidator) dream(ctx context.Context, waits bool) (*agents.Outcome, error) {
	book, id := openLock(d.cfg.Project.Home, d.cfg.Memory.Folder, d.cfg.Now), task.NewID(task.Dream)
	last := book.last()
	if err := book.begin(ctx, id); err != nil {
		return nil, err
	}
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	r := d.request(last)
	r.Background, r.Wait = !waits, waits
	r.Spec.MemoryTask.Ended = func(out agents.Outcome, err error) {
		end()
		d.logged("memories were consolidated", book.end(context.Background(), id, err == nil))
		if !waits {
			d.report(out, err)
		}
	}
	d.wg.Go(func() { d.alive(book, id, over) })
	out, err := d.cfg.Launch(ctx, r, nil)
	if err != nil && out == nil {
		end()
		d.logged("memories were not consolidated", book.end(context.Background(), id, false))
	}
	return out, err
}

// alive periodically updates a run's heartbeat.
func (d *Consolidator) alive(book runLock, id string, over <-chan struct{}) {
	tick := time.NewTicker(stale / 6)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-d.closing:
			return
		case <-tick.C:
			d.logged("memories are being consolidated", book.tell(context.Background(), id))
		}
	}
}

// request returns the request for the consolidating agent.
func (d *Consolidator) request(last time.Time) agents.Request {
	l, p := d.cfg.Language(), d.cfg.Project
	logs := slices.Compact([]string{store.ProjectDir(p.Home, d.cfg.Dir), store.ProjectDir(p.Home, p.Main())})
	since := catalogue.Text(l, "never")
	if !last.IsZero() {
		since = last.Format(time.DateTime)
	}
	prompt := catalogue.Text(l, "task", d.cfg.Memory.Folder.Dir, strings.Join(logs, ", "), since, d.cfg.Now().Format(time.DateOnly))
	return agents.Request{
		Input: agenttool.Input{Description: "Consolidate memory", Prompt: prompt},
		Spec:  agents.Spec{MemoryTask: &agents.MemoryTask{Kind: task.Dream, MaxTurns: maxTurns, Reads: logs}},
		Definition: &agentdef.Definition{
			Name: "dream", Description: "Consolidates memory", Prompt: catalogue.Text(l, "dream", memdir.IndexName, strconv.Itoa(memdir.MaxLines), strconv.Itoa(memdir.MaxBytes)),
			Access:           agentdef.Access{Tools: []string{"Read", "Glob", "Grep", "Edit", "Write"}, Mode: string(mode.DontAsk)},
			OmitInstructions: true, OneShot: true,
		},
	}
}

// report tells the user how a background run ended.
func (d *Consolidator) report(out agents.Outcome, err error) {
	if err != nil {
		d.cfg.Say(fmt.Sprintf("the memories were not consolidated: %s", tool.OneLine(term.Sanitize(err.Error()), 200)))
		return
	}
	d.cfg.Say("the memories were consolidated: " + tool.OneLine(term.Sanitize(out.Text), 200))
}

// Part returns the maintenance's contribution to a conversation. d may be nil.
func (d *Consolidator) Part() feature.Part {
	return feature.Part{Name: "memory maintenance", Ended: d.Ended}
}

// Ended is called when a turn has ended.
func (d *Consolidator) Ended(ctx context.Context, e agent.Ended) {
	if d == nil {
		return
	}
	wrote, wanted := d.cfg.Memory.Wrote(), d.cfg.Settings()
	if !e.Reason.OK() || !d.cfg.Memory.On() || !d.cfg.Background {
		return
	}
	if wanted.Extract && !wrote {
		d.extract(ctx)
	}
	if wanted.Dream && !d.cfg.Unattended && d.look() {
		if _, err := d.dream(ctx, false); err != nil && !errors.Is(err, errBusy) {
			d.logged("consolidating memories", err)
		}
	}
}

// look reports whether memories are due for consolidation. It checks once per conversation.
func (d *Consolidator) look() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looked {
		return false
	}
	d.looked = true
	last := openLock(d.cfg.Project.Home, d.cfg.Memory.Folder, d.cfg.Now).last()
	if d.cfg.Now().Sub(last) < interval {
		return false
	}
	all, err := archive.List(d.cfg.Project.Home, archive.ListOptions{Dir: d.cfg.Dir})
	d.logged("counting sessions", err)
	n := 0
	for _, s := range all {
		if s.Modified.After(last) {
			n++
		}
	}
	return n >= sessions
}

func (d *Consolidator) logged(doing string, err error) {
	if err != nil && d.cfg.Log != nil {
		d.cfg.Log.Error(doing, "err", err)
	}
}
