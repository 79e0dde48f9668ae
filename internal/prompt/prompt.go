package prompt

import (
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/memdir"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A Size is a prompt length.
type Size uint8

// The sizes.
const (
	Full   Size = iota
	Medium      // short, for small context windows
	Small       // three lines
)

// A PromptConfig configures a [Prompt].
type PromptConfig struct {
	Choice Choice
	// Layout applies to all requests; Tools and Shared are filled in for each.
	Layout Layout
	// Facts apply to the whole conversation; Language, Tools, Guide.Tracker, Model, Answer,
	// Memory and Kept are filled in.
	Facts Facts
	// Shells are the usual tools that run commands; at most one is offered. Dedicated are the
	// tools that replace commands.
	Shells, Dedicated []string
	// Trackers are the task-tracking tools; at most one is offered.
	Trackers []string
	Size     Size
	// Memory is described in the memory section.
	Memory Memory
	// Model returns the facts stated about a model.
	Model func(id string) Model
	// Language returns the prompt language, Answer the language to answer in, and Shared
	// whether the provider can share a cache between users. They are called for each request.
	Language func() texts.Language
	Answer   func() string
	Shared   func() bool
	// Unattended, if non-nil, returns the actions that need no approval in a session without a user.
	// It is called for each request.
	Alone func() Unattended
	// Note reports a problem to the user.
	Note func(string)
	// Spare, if non-nil, reports whether the model can do without a tool missing from the
	// initial list.
	Spare func(tool string) bool
	// Foreign reports whether a tool is not built in. If nil, all are built in.
	Foreign func(tool string) bool
	// PrefixStore stores request prefixes; nil disables that.
	Keeper *PrefixStore
}

// A Prompt writes a conversation's system prompt once per variant, so that all requests of a
// variant have the same blocks. It is safe for concurrent use.
type Prompt struct {
	cfg PromptConfig

	mu       sync.Mutex // guards the fields below, and Choice and Facts of cfg
	registry *Registry
	written  map[variant]renderedPrompt
	begun    map[string]*activePrefix // keyed by model

	// empty reports whether nothing had been remembered when the conversation began, so that
	// the memory section stays the same.
	empty func() bool

	// listed holds the tools in begun, by model. It is separate because it is read while the
	// lock is held.
	listed sync.Map // string to []msg.ToolSpec
}

// A variant holds the inputs that the prompt's text depends on.
type variant struct {
	model, answer string
	tools         int    // number of built-in tools
	foreign       bool   // has other tools
	shell         string // offered shell tool
	dedicated     string // offered dedicated tools, joined
	tracker       string // offered tracker
	shared        bool
	language      texts.Language
	memory        memdir.Mode
	alone         Unattended
}

type renderedPrompt struct {
	blocks []Block
	parts  []msg.Part
	marks  []model.Mark
}

// NewPrompt returns a conversation's prompt.
func NewPrompt(c PromptConfig) *Prompt {
	if c.Keeper == nil {
		c.Keeper = &PrefixStore{}
	}
	sections := NewRegistry(nil)
	if c.Size == Medium {
		sections = newRegistry(mediumSections(), mediumFacts(), nil)
	}
	return &Prompt{cfg: c, empty: sync.OnceValue(c.Memory.empty), registry: sections, written: map[variant]renderedPrompt{}, begun: map[string]*activePrefix{}}
}

// Parts returns the system prompt blocks as they would be written now for a model and its
// tools, with the request's marks.
func (p *Prompt) Parts(modelID string, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.write(v)
	return now.parts, now.marks
}

// write returns a variant's prompt. The caller holds the lock.
func (p *Prompt) write(v variant) renderedPrompt {
	done, ok := p.written[v]
	if !ok {
		a, l := p.assembly(v), p.layout(v)
		done.blocks = a.Blocks(l)
		done.parts, done.marks = a.Parts(l)
		p.written[v] = done
	}
	return done
}

// Blocks returns the next request's system prompt by section, and whether it is cached for an
// hour.
func (p *Prompt) Blocks(modelID string, tools []msg.ToolSpec) (blocks []Block, hour bool) {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.write(v)
	if old := p.begun[modelID]; old != nil && p.serves(old, now, tools) {
		return old.blocks, p.cfg.Layout.Hour
	}
	return now.blocks, p.cfg.Layout.Hour
}

// SetChoice replaces the user's choice of prompt.
func (p *Prompt) SetChoice(c Choice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cfg.Choice = c
	clear(p.written)
}

// Reset makes all sections be rewritten, after a compaction.
func (p *Prompt) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.registry.Reset()
	clear(p.written)
	for _, b := range p.begun {
		b.expired = true
	}
	p.listed.Clear()
}

func (p *Prompt) variant(modelID string, tools []msg.ToolSpec) variant {
	v := variant{
		model: modelID, answer: p.cfg.Answer(), shared: p.cfg.Shared(),
		language: p.cfg.Language(), memory: p.cfg.Memory.mode(),
	}
	if p.cfg.Alone != nil {
		v.alone = p.cfg.Alone()
	}
	v.count(tools, p.cfg.Foreign)
	offered := func(name string) bool {
		return slices.ContainsFunc(tools, func(t msg.ToolSpec) bool { return t.Name == name })
	}
	if i := slices.IndexFunc(p.cfg.Shells, offered); i >= 0 {
		v.shell = p.cfg.Shells[i]
	}
	if i := slices.IndexFunc(p.cfg.Trackers, offered); i >= 0 {
		v.tracker = p.cfg.Trackers[i]
	}
	for _, name := range p.cfg.Dedicated {
		if offered(name) {
			v.dedicated += name + " "
		}
	}
	return v
}

// count counts the built-in tools, which come first.
func (v *variant) count(tools []msg.ToolSpec, foreign func(string) bool) {
	v.tools = len(tools)
	for foreign != nil && v.tools > 0 && foreign(tools[v.tools-1].Name) {
		v.tools--
	}
	v.foreign = v.tools < len(tools)
}

func (p *Prompt) layout(v variant) Layout {
	l := p.cfg.Layout
	l.Tools, l.Foreign, l.Shared = v.tools, v.foreign, v.shared
	return l
}

// assembly returns a variant's prompt. The caller holds the lock.
func (p *Prompt) assembly(v variant) Assembly {
	f := &p.cfg.Facts
	tools := Toolset{Shell: v.shell, Dedicated: strings.Fields(v.dedicated)}
	tools.Usual = v.shell != "" && v.shell == p.cfg.Shells[0] && len(tools.Dedicated) == len(p.cfg.Dedicated)
	section := memorySection(v.language, v.memory, p.cfg.Memory.Folder, p.empty())
	if f.Answer != v.answer || f.Memory != section || f.Tools.Shell != tools.Shell || !slices.Equal(f.Tools.Dedicated, tools.Dedicated) || f.Guide.Tracker != v.tracker || f.Guide.Alone != v.alone {
		f.Answer, f.Memory, f.Tools, f.Guide.Tracker, f.Guide.Alone = v.answer, section, tools, v.tracker, v.alone
		p.registry.Reset()
	}
	f.Language, f.Model = v.language, p.cfg.Model(v.model)
	f.Kept = f.Model.Kept
	a, err := p.cfg.Choice.Select(func() Assembly {
		if p.cfg.Size == Small {
			return Simple(v.language, f.Env)
		}
		return p.registry.Assemble(f)
	})
	if err != nil {
		p.cfg.Note(err.Error())
	}
	if c := p.cfg.Choice; c.Placed && (c.Coordinator != nil || c.Agent != nil) {
		a.add("environment", f.Env.describe(v.language, f.Model))
	}
	return a
}
