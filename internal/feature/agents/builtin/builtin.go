// Package builtin defines the built-in agents, and the standard prompt texts for the
// coordinator, its workers, team members and forks.
package builtin

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/agentdef"
	"adze/internal/platform/text/texts"
)

// The names of agents that the program itself uses.
const (
	General      = "general-purpose"
	Explore      = "Explore"
	Plan         = "Plan"
	Verification = "verification"
	Worker       = "worker"
	StatusLine   = "statusline-setup"
)

// smallModel is the alias of a provider's small model.
const smallModel = "small"

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

var (
	inEnglish = sync.OnceValue(func() []*agentdef.Definition { return definitions(texts.English) })
	inChinese = sync.OnceValue(func() []*agentdef.Definition { return definitions(texts.Chinese) })
)

// Definitions returns the built-in agents in a language: the same values each time.
func Definitions(l texts.Language) []*agentdef.Definition {
	if l == texts.Chinese {
		return inChinese()
	}
	return inEnglish()
}

func definitions(l texts.Language) []*agentdef.Definition {
	looking := agentdef.Access{
		Tools: []string{"Read", "Glob", "Grep", "Bash", "PowerShell", "WebFetch", "WebSearch", "SearchExtraTools", "ExecuteExtraTool"},
		Mode:  "plan",
	}
	list := []*agentdef.Definition{
		define(l, Explore, "explore"), define(l, Plan, "plan"), {Name: General, Description: catalogue.Text(l, "general.when")},
		define(l, StatusLine, "statusline"), define(l, Verification, "verification"),
	}
	explore, plan, statusLine, verification := list[0], list[1], list[3], list[4]
	explore.Access, explore.Model, explore.OmitInstructions, explore.OneShot = looking, smallModel, true, true
	plan.Access, plan.OneShot = looking, true
	statusLine.Tools, statusLine.Color = []string{"Read", "Edit", "Write"}, "orange"
	verification.Disallowed, verification.Color = []string{"Edit", "Write", "NotebookEdit"}, "red"
	return list
}

// define returns a built-in agent.
func define(l texts.Language, name, text string) *agentdef.Definition {
	return &agentdef.Definition{Name: name, Description: catalogue.Text(l, text+".when"), Prompt: catalogue.Text(l, text)}
}

// NewWorker returns the agent that a coordinator launches. It has the background agents' tools
// except those for teams and messages.
func NewWorker(l texts.Language) *agentdef.Definition {
	d := define(l, Worker, "worker")
	d.Background = true
	d.Disallowed = []string{"TeamCreate", "TeamDelete", "SendMessage", "StructuredOutput"}
	return d
}

// NewSimpleWorker returns the worker of simple mode, which has only the basic tools.
func NewSimpleWorker(l texts.Language) *agentdef.Definition {
	d := NewWorker(l)
	d.Tools = []string{"Bash", "Read", "Edit"}
	return d
}

// System returns a sub-agent's system prompt: its own or the default one, followed by the text
// common to all sub-agents. The caller appends the environment.
func System(l texts.Language, d *agentdef.Definition) string {
	prompt := d.Prompt
	if prompt == "" {
		prompt = catalogue.Text(l, "agent")
	}
	prompt += "\n\n" + catalogue.Text(l, "notes")
	if d.Tools == nil || slices.ContainsFunc(d.Tools, func(name string) bool { return strings.HasPrefix(name, "Bash") || name == "*" }) {
		prompt += "\n" + catalogue.Text(l, "notes.shell")
	}
	return prompt
}

// Coordinator returns the system prompt of coordinator mode, in which the model only directs
// workers.
func Coordinator(l texts.Language) string { return catalogue.Text(l, "coordinator") }

// WorkerInfo describes a coordinator's workers.
type WorkerInfo struct {
	Tools, Servers []string
	Scratchpad     string
}

// CoordinatorContext returns the text about workers that is added to the coordinator's prompt.
func CoordinatorContext(l texts.Language, s WorkerInfo) string {
	lines := []string{catalogue.Text(l, "coordinator.context", strings.Join(s.Tools, ", "))}
	if len(s.Servers) > 0 {
		lines = append(lines, catalogue.Text(l, "coordinator.servers", strings.Join(s.Servers, ", ")))
	}
	if s.Scratchpad != "" {
		lines = append(lines, catalogue.Text(l, "coordinator.scratchpad", s.Scratchpad))
	}
	return strings.Join(lines, "\n")
}

// Teammate returns the text at the end of a team member's system prompt.
func Teammate(l texts.Language, name, team string) string {
	return catalogue.Text(l, "teammate", name, team)
}
