package brief

import (
	"slices"
	"strings"
	"sync"

	"adze/internal/memory"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// A Size is how long a prompt is.
type Size uint8

// The sizes.
const (
	Full   Size = iota
	Medium      // short instructions, for narrow context windows
	Small       // three lines
)

// A PromptConfig is what a [Prompt] is written from.
type PromptConfig struct {
	Choice Choice
	// Layout is that of all requests; Tools and Shared are filled in for each.
	Layout Layout
	// Facts hold for the whole conversation; Language, Tools, Guide.Tracker, Model, Answer, Memory and Kept are filled in.
	Facts Facts
	// Shells and Dedicated are the usual tools that run commands, of which one is offered, and those that do what
	// commands do.
	Shells, Dedicated []string
	// Trackers are tools that track what is to be done, of which one is offered.
	Trackers []string
	Size     Size
	// Memory is what the section on memory tells of.
	Memory Memory
	// Model returns what a model is told about itself.
	Model func(id string) Model
	// Language returns the language of the prompt, Answer the language to answer in, and Shared whether the
	// provider can share a cache between users. They are asked for each request.
	Language func() texts.Language
	Answer   func() string
	Shared   func() bool
	// Alone returns what needs no approval where no one can give it; it may be nil. It is asked for each request.
	Alone func() Alone
	// Note tells the user of a problem.
	Note func(string)
	// Spare reports whether the model can do without a tool that it was not given at the beginning. It may be nil.
	Spare func(tool string) bool
	// Foreign reports whether a tool is not built in. It may be nil: all are.
	Foreign func(tool string) bool
	// Keeper keeps how requests begin; nil means that nothing is kept.
	Keeper *Keeper
}

// A Prompt writes the system prompt of a conversation, once for each variant, so that all requests of a
// variant have the same blocks. It is safe for concurrent use.
type Prompt struct {
	cfg PromptConfig

	mu       sync.Mutex // guards what follows, and Choice and Facts of cfg
	registry *Registry
	written  map[variant]written
	begun    map[string]*beginning // by model

	// empty reports whether nothing was remembered when the conversation began: what it says of memory stays the same.
	empty func() bool

	// listed is which tools begun has, by model: that is asked while the lock is held.
	listed sync.Map // of string to []msg.ToolSpec
}

// A variant is what the text of a prompt depends on.
type variant struct {
	model, answer string
	tools         int    // that are built in
	foreign       bool   // there are others
	shell         string // that is offered
	dedicated     string // those that are offered, in one string
	tracker       string // the one that is offered
	shared        bool
	language      texts.Language
	memory        memory.Mode
	alone         Alone
}

type written struct {
	blocks []Block
	parts  []msg.Part
	marks  []model.Mark
}

// NewPrompt returns the prompt of a conversation.
func NewPrompt(c PromptConfig) *Prompt {
	if c.Keeper == nil {
		c.Keeper = &Keeper{}
	}
	sections := NewRegistry(nil)
	if c.Size == Medium {
		sections = newRegistry(mediumSections(), mediumFacts(), nil)
	}
	return &Prompt{cfg: c, empty: sync.OnceValue(c.Memory.empty), registry: sections, written: map[variant]written{}, begun: map[string]*beginning{}}
}

// Parts returns the blocks of the system prompt as it would be written now for a model and its tools, with the marks
// of the request.
func (p *Prompt) Parts(modelID string, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.write(v)
	return now.parts, now.marks
}

// write returns the prompt of a variant. The caller holds the lock.
func (p *Prompt) write(v variant) written {
	done, ok := p.written[v]
	if !ok {
		a, l := p.assembly(v), p.layout(v)
		done.blocks = a.Blocks(l)
		done.parts, done.marks = a.Parts(l)
		p.written[v] = done
	}
	return done
}

// Blocks returns what the next request says, by sections, and whether it is cached for an hour.
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

// SetChoice replaces what the user chose to say in the prompt.
func (p *Prompt) SetChoice(c Choice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cfg.Choice = c
	clear(p.written)
}

// Reset makes all sections be written again, after a compaction.
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

// count says how many tools are built in, which come first.
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

// assembly returns the prompt of a variant. The caller holds the lock.
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
