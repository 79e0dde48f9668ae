package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/commands/schedule"
	"adze/internal/session/lifecycle"
	"adze/internal/ui/headless"
	"adze/internal/ui/hostapi"
)

// Host returns the API for a program that drives the conversation.
func (c *Conversation) Host(r *commands.Registry) headless.Host {
	h := headless.Host{
		DefaultModel: c.model.Name, Asks: c.spec.Access.Asks, States: c.ws.values().StateEvents, Actions: hostapi.Actions(r), Queries: hostapi.Queries(r),
		Initialize: func(_ context.Context, start headless.Start) ([]string, error) { return c.initialize(r, start) },
	}
	h.Attend = func(on bool) { schedule.Attend(r, on) }
	if c.Servers != nil {
		h.Servers, h.Receive, h.OnComplete = c.Servers.All, c.Servers.Receive, c.Servers.OnComplete
		h.Queries["mcp_set_servers"] = c.Servers.SetGuests()
	}
	for _, name := range c.model.Known().Aliases() {
		if m, ok := c.model.Known().Lookup(name); ok {
			h.Models = append(h.Models, headless.HostModel{Value: name, Name: m.Name, Description: m.ID})
		}
	}
	return h
}

// initialize applies the host's start options and returns notes about options without effect.
// Unsupported callbacks that guard calls are rejected rather than ignored. Callbacks come last,
// so that they replace earlier ones only if everything else is valid.
func (c *Conversation) initialize(r *commands.Registry, start headless.Start) (notes []string, err error) {
	if err := c.output.Require(start.JSONSchema); err != nil {
		return nil, &hostapi.Refusal{Code: "invalid_schema", Text: err.Error()}
	}
	if start.Title != "" {
		if err := r.Rename(start.Title); err != nil {
			return nil, err
		}
	}
	if notes, err = setHostHooks(c.Hooks, start); err != nil {
		return nil, err
	}
	notes = append(notes, c.vouch(start.TrustWorkspace)...)
	if err := c.Servers.Host(start.Servers); err != nil {
		return nil, err
	}
	if len(start.Agents) > 0 {
		agents, err := json.Marshal(start.Agents)
		if err == nil {
			err = c.ws.Env.Agents.Add(agents)
		}
		if err != nil {
			return nil, &hostapi.Refusal{Code: "invalid_agents", Text: err.Error()}
		}
		c.ws.Agents.Refresh()
	}
	if c.summaries != nil {
		c.summaries.Want(start.Summaries)
	}
	if len(start.Plugins) > 0 {
		notes = append(notes, "plugins of the host are not available in this version")
	}
	if start.SystemPrompt == nil && start.AppendSystemPrompt == "" {
		return notes, nil
	}
	choice := promptChoice(&c.spec, c.prompt.memory, c.ws.language())
	if start.SystemPrompt != nil {
		text := strings.Join(start.SystemPrompt, "\n\n")
		choice.Custom, choice.Agent = &text, nil
	}
	if start.AppendSystemPrompt != "" {
		choice.Append = start.AppendSystemPrompt
	}
	c.prompt.prompt.SetChoice(choice)
	return notes, nil
}

// vouch trusts the workspace for this run if the host does, and otherwise returns notes on
// withheld configuration. Decisions made when the conversation was opened, such as the model,
// are not revisited; --trust covers those too.
func (c *Conversation) vouch(trusted bool) (notes []string) {
	p := c.ws.Project
	if trusted && !p.Trust.Trusted() {
		for _, w := range p.Vouch() {
			notes = append(notes, w.String())
		}
		c.takeSettings()
	}
	names, texts := p.Trust.Brings()
	switch n := p.Settings().Withheld(); {
	case !p.Trust.Trusted() && len(names) > len(texts):
		notes = append(notes, "the workspace is not trusted: nothing of it is run; trustWorkspace trusts it for this session")
	case n > 0 && !p.Trust.Lasting():
		notes = append(notes, fmt.Sprintf("%d rules and directories of the project that grant access are ignored until the user trusts the workspace; see adze trust", n))
	}
	return notes
}

// setHostHooks adds the host's hooks.
func setHostHooks(h *lifecycle.Hooks, start headless.Start) (notes []string, err error) {
	if len(start.Hooks) == 0 {
		return nil, nil
	}
	hooks, err := json.Marshal(start.Hooks)
	if err != nil {
		return nil, err
	}
	problems, err := h.SetHost(hooks, start.RunHook)
	if err != nil {
		return nil, &hostapi.Refusal{Code: "invalid_hooks", Text: err.Error()}
	}
	for _, p := range problems {
		notes = append(notes, p.Error())
	}
	return notes, nil
}
