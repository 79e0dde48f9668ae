package brief

import (
	"sync"

	"adze/internal/memory"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/texts"
)

// A PromptConfig is what a [Prompt] is written from.
type PromptConfig struct {
	Choice Choice
	// Layout is that of all requests; Tools and Shared are filled in for each.
	Layout Layout
	// Facts hold for the whole conversation; Language, Model, Answer, Memory and Git are filled in.
	Facts Facts
	// Simple selects the short prompt of the simple mode.
	Simple bool
	// Git returns the state of the repository; it may wait for it. It may be nil.
	Git func() gitinfo.Snapshot
	// Memory is what the section on memory tells of.
	Memory Memory
	// Model returns what a model is told about itself.
	Model func(id string) Model
	// Language returns the language of the prompt, Answer the language to answer in, and Shared whether the
	// provider can share a cache between users. They are asked for each request.
	Language func() texts.Language
	Answer   func() string
	Shared   func() bool
	// Note tells the user of a problem.
	Note func(string)
}

// A Prompt writes the system prompt of a conversation, once for each variant, so that all requests of a
// variant have the same blocks. It is safe for concurrent use.
type Prompt struct {
	cfg PromptConfig

	mu       sync.Mutex // guards what follows, and Choice and Facts of cfg
	registry *Registry
	written  map[variant]written
}

// A variant is what the text of a prompt depends on.
type variant struct {
	model, answer string
	tools         int
	shared        bool
	language      texts.Language
	memory        memory.Mode
}

type written struct {
	blocks []msg.Part
	marks  []model.Mark
}

// NewPrompt returns the prompt of a conversation.
func NewPrompt(c PromptConfig) *Prompt {
	return &Prompt{cfg: c, registry: NewRegistry(nil), written: map[variant]written{}}
}

// Parts returns the blocks of the system prompt for a model and its tools, with the marks of the request.
func (p *Prompt) Parts(modelID string, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	done, ok := p.written[v]
	if !ok {
		done.blocks, done.marks = p.assembly(v).Parts(p.layout(v))
		p.written[v] = done
	}
	return done.blocks, done.marks
}

// Blocks returns what [Prompt.Parts] does, by sections, and whether it is cached for an hour.
func (p *Prompt) Blocks(modelID string, tools []msg.ToolSpec) (blocks []Block, hour bool) {
	v := p.variant(modelID, tools)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.assembly(v).Blocks(p.layout(v)), p.cfg.Layout.Hour
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
}

func (p *Prompt) variant(modelID string, tools []msg.ToolSpec) variant {
	return variant{
		model: modelID, answer: p.cfg.Answer(), tools: len(tools), shared: p.cfg.Shared(),
		language: p.cfg.Language(), memory: p.cfg.Memory.mode(),
	}
}

func (p *Prompt) layout(v variant) Layout {
	l := p.cfg.Layout
	l.Tools, l.Shared = v.tools, v.shared
	return l
}

// assembly returns the prompt of a variant. The caller holds the lock.
func (p *Prompt) assembly(v variant) Assembly {
	f := &p.cfg.Facts
	if section := memorySection(v.language, v.memory, p.cfg.Memory.Folder); f.Answer != v.answer || f.Memory != section {
		f.Answer, f.Memory = v.answer, section
		p.registry.Reset()
	}
	f.Language, f.Model = v.language, p.cfg.Model(v.model)
	a, err := p.cfg.Choice.Select(func() Assembly {
		if p.cfg.Simple {
			return Simple(v.language, f.Env)
		}
		if p.cfg.Git != nil {
			f.Git = p.cfg.Git()
		}
		return p.registry.Assemble(f)
	})
	if err != nil {
		p.cfg.Note(err.Error())
	}
	return a
}
