package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"adze/internal/agent"
	"adze/internal/agent/prompt"
	"adze/internal/model"
	"adze/internal/msg"
)

// An assembler writes the system prompt of a turn.
type assembler = func(context.Context, agent.Model, []msg.ToolSpec) ([]msg.Part, []model.Mark)

// prompt returns what assembles the system prompt of each turn.
func (b *builder) prompt() (assembler, error) {
	replaced, err := textOrFile(b.o.system, b.o.systemFile, "--system-prompt-file")
	if err != nil {
		return nil, err
	}
	appended, err := textOrFile(b.o.appended, b.o.appendedFile, "--append-system-prompt-file")
	if err != nil {
		return nil, err
	}
	branch, repository := findBranch(b.env.Dir)
	p := &prompt.Prompt{
		Append:  appended,
		Simple:  b.settings.Bool("ADZE_SIMPLE"),
		NoCache: b.settings.Bool("ADZE_DISABLE_PROMPT_CACHING"),
		Env: prompt.Environment{
			Dir: b.env.Dir, Extra: b.o.dirs, Repository: repository, Branch: branch,
			Platform: runtime.GOOS + "/" + runtime.GOARCH, Date: b.env.Now().Format("2006-01-02"),
		},
	}
	if shell := b.env.Getenv("SHELL"); shell != "" {
		p.Env.Shell = filepath.Base(shell)
	}
	if b.settings.Bool("attributionHeader") {
		p.Client = "adze/" + Version + " (headless)"
	}
	if b.o.given["system-prompt"] || b.o.given["system-prompt-file"] {
		p.Replace = &replaced
	}
	return b.assemble(p), nil
}

// assemble writes the prompt once for each model and number of tools, so that the blocks of all
// requests are the same ones.
func (b *builder) assemble(p *prompt.Prompt) assembler {
	type key struct {
		model string
		tools int
	}
	type written struct {
		blocks []msg.Part
		marks  []model.Mark
	}
	done := map[key]written{}
	return func(_ context.Context, m agent.Model, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
		k := key{m.ID, len(tools)}
		w, ok := done[k]
		if !ok {
			known, _ := b.table.Lookup(m.ID)
			w.blocks, w.marks = p.Blocks(prompt.Model{ID: m.ID, Name: known.Name, Cutoff: known.Cutoff}, len(tools))
			done[k] = w
		}
		return w.blocks, w.marks
	}
}

func textOrFile(text, file, flag string) (string, error) {
	if file == "" {
		return text, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", setupErrorf("%s: reading %s: %v", flag, file, err)
	}
	return string(data), nil
}
