// Package prompt writes the system prompt: who the model is, how it is to work, and where. It yields
// an ordered list of blocks and says where a provider may cache. What is known about the surroundings
// is found out by the caller; how blocks travel is left to the provider.
package prompt

import (
	_ "embed"
	"strings"

	"adze/internal/model"
	"adze/internal/msg"
)

//go:embed default.md
var defaultText string

// A Prompt is what the blocks are made of. It is constant for a session, so that every request of the
// session begins with the same bytes.
type Prompt struct {
	// Client names the program to the provider, such as "adze/1.0 (headless)"; empty leaves it out.
	Client string
	// Replace takes the place of everything but the client, if not nil. Append is added at the end.
	Replace *string
	Append  string
	// Simple reduces the prompt to one line about the model and one about the place.
	Simple bool
	// NoCache leaves out the marks.
	NoCache bool

	Env Environment
}

// An Environment is what the model is told about where it works.
type Environment struct {
	Dir        string
	Extra      []string // further directories
	Repository bool
	Branch     string // empty when detached or unknown
	Platform   string
	Shell      string
	Date       string // the day on which the session began, for the simple prompt
}

// A Model is what the model is told about itself.
type Model struct {
	ID, Name, Cutoff string
}

// Blocks returns the prompt for a request to m that offers the given number of tools, and the places
// at which it may be cached: after the part that is the same for everyone, after the tools and after
// the last message.
func (p *Prompt) Blocks(m Model, tools int) ([]msg.Part, []model.Mark) {
	var blocks []msg.Part
	add := func(text string) {
		if text != "" {
			blocks = append(blocks, &msg.Text{Text: text})
		}
	}
	add(p.Client)
	shared := -1
	switch {
	case p.Replace != nil:
		add(*p.Replace)
		shared = len(blocks) - 1
	case p.Simple:
		add(p.Env.simple())
		shared = len(blocks) - 1
	default:
		add(strings.TrimSpace(defaultText))
		shared = len(blocks) - 1
		add(p.Env.describe(m))
	}
	add(p.Append)
	if p.NoCache {
		return blocks, nil
	}
	return blocks, p.marks(shared, tools)
}

// marks returns the places to cache. The client's own block never ends in a mark: it changes with
// every version.
func (p *Prompt) marks(shared, tools int) []model.Mark {
	var marks []model.Mark
	first := 0
	if p.Client != "" {
		first = 1
	}
	if shared >= first {
		marks = append(marks, model.Mark{Place: model.InSystem, Index: shared})
	}
	if tools > 0 {
		marks = append(marks, model.Mark{Place: model.InTools, Index: tools - 1})
	}
	return append(marks, model.Mark{Place: model.InMessages})
}

func (e *Environment) simple() string {
	return "You are adze, a coding agent in a terminal.\nWorking directory: " + e.Dir + "\nDate: " + e.Date
}

// describe returns the section about the surroundings. It holds nothing that changes during a session.
func (e *Environment) describe(m Model) string {
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			b.WriteString("\n" + label + ": " + value)
		}
	}
	b.WriteString("The environment you work in:")
	line("Working directory", e.Dir)
	line("Further directories", strings.Join(e.Extra, ", "))
	switch {
	case !e.Repository:
		line("Git repository", "no")
	case e.Branch == "":
		line("Git repository", "yes")
	default:
		line("Git repository", "yes, on branch "+e.Branch+" when the session began")
	}
	line("Platform", e.Platform)
	line("Shell", e.Shell)
	switch {
	case m.Name == "" || m.Name == m.ID:
		line("Model", m.ID)
	default:
		line("Model", m.Name+" ("+m.ID+")")
	}
	line("Knowledge cut-off", m.Cutoff)
	return b.String()
}
