package extensions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
	"adze/internal/model/tokens"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
)

func agentsCommand() commands.Command {
	return commands.Command{Name: "agents", Args: "[NAME|create NAME DESCRIPTION|generate NAME PURPOSE|edit NAME|delete NAME]",
		Doc:      "list the agents with source and problems, show one, or create, edit and delete agent files",
		Run:      runAgents,
		Complete: completeAgents}
}

// completeAgents completes the names of agents and actions, and after an action the names of
// agents that can be changed.
func completeAgents(r *commands.Registry, arg string) (words []string) {
	verb, _, second := strings.Cut(arg, " ")
	if second && verb != "edit" && verb != "delete" {
		return nil
	}
	if r.Extensions.Agents.Set != nil {
		for _, x := range r.Extensions.Agents.Set().Definitions {
			switch {
			case !second:
				words = append(words, x.Name)
			case x.Source.Kind == agentdef.User || x.Source.Kind == agentdef.Project:
				words = append(words, verb+" "+x.Name)
			}
		}
	}
	if second {
		return words
	}
	return append(words, "create ", "generate ", "edit ", "delete ")
}

func runAgents(_ context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	a := r.Extensions.Agents
	if a.Set == nil {
		return commands.Say("No agents in this session."), nil
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(arg), " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "":
		p := AgentsPage(a.Set())
		if a.Working != nil {
			commands.AddAgents(&p, a.Working())
		}
		if r.Terminal {
			return agentsList(a, p), nil
		}
		return p, nil
	case "create", "generate", "edit", "delete":
		if !r.Terminal { // others may have written the prompt
			return nil, commands.ErrTerminal
		}
		return changeAgents(a, verb, rest)
	}
	set := a.Set()
	i := slices.IndexFunc(set.Definitions, func(x *agentdef.Definition) bool { return strings.EqualFold(x.Name, arg) })
	if i < 0 {
		return nil, set.Unknown(arg)
	}
	return AgentPage(set.Definitions[i]), nil
}

// changeAgents creates, edits or deletes an agent file.
func changeAgents(a commands.Agents, verb, rest string) (commands.Answer, error) {
	name, text, _ := strings.Cut(rest, " ")
	text = strings.TrimSpace(text)
	switch {
	case verb == "delete" && name != "" && text == "":
		return deleteAgent(a, name)
	case verb == "edit" && name != "" && text == "":
		path, err := a.File(name)
		return commands.Edit{Path: path, Page: commands.Say("Edited " + path)}, err
	case verb == "generate" && text != "":
		return choosePlace(name, func(_ context.Context, to scope.Scope) (commands.Answer, error) {
			prompt, err := a.Write(to, name, text)
			return commands.Prompt{Text: prompt}, err
		})
	case verb == "create" && text != "":
		return choosePlace(name, func(ctx context.Context, to scope.Scope) (commands.Answer, error) {
			path, err := a.Create(ctx, to, &agentdef.Definition{Name: name, Description: text, Prompt: text})
			return commands.Edit{Path: path, Page: commands.Say(fmt.Sprintf("Created the agent %s in %s; /agents edit %s opens it again.", name, path, name))}, err
		})
	}
	return nil, errors.New("usage: /agents create NAME DESCRIPTION, /agents generate NAME PURPOSE, /agents edit NAME or /agents delete NAME")
}

// choosePlace asks whether an agent belongs to the project or to the user.
func choosePlace(name string, do func(context.Context, scope.Scope) (commands.Answer, error)) (commands.Answer, error) {
	if !agentdef.ValidName(name) {
		return nil, fmt.Errorf("an agent cannot be called %q: %s", name, agentdef.NameRule)
	}
	return commands.List{
		Page: commands.Say("Where is the agent " + name + " to be used?"), Usage: "adze agents create " + name + " --scope SCOPE",
		Choices: []commands.Choice{{ID: scope.Project.Short(), Title: "In this project", About: "by all who work on it"}, {ID: scope.User.Short(), Title: "In all projects", About: "by you"}},
		Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) {
			to, err := scope.Parse(c.ID)
			if err != nil {
				return nil, err
			}
			return do(ctx, to)
		},
	}, nil
}

// deleteAgent asks whether to delete an agent file.
func deleteAgent(a commands.Agents, name string) (commands.Answer, error) {
	path, err := a.File(name)
	if err != nil {
		return nil, err
	}
	return commands.List{
		Page: commands.Say("Delete " + path + "?"), Title: "Delete", Usage: "adze agents rm " + name,
		Choices: []commands.Choice{{ID: "no", Title: "No"}, {ID: "yes", Title: "Yes, delete it"}},
		Choose: func(_ context.Context, c commands.Choice) (commands.Answer, error) {
			if c.ID != "yes" {
				return commands.Say("Nothing was changed."), nil
			}
			path, err := a.Remove(name)
			return commands.Say("Deleted " + path + "."), err
		},
	}, nil
}

// maxAgents is the maximum number of agents listed per source.
const maxAgents = 40

// AgentsPage lists the agents by source, in order of precedence, and the unused definitions.
func AgentsPage(set *agentdef.Set) commands.Page {
	var p commands.Page
	var sources []agentdef.Source
	by := map[agentdef.Source][]*agentdef.Definition{}
	for _, d := range set.Definitions {
		if by[d.Source] == nil {
			sources = append(sources, d.Source)
		}
		by[d.Source] = append(by[d.Source], d)
	}
	slices.SortFunc(sources, func(a, b agentdef.Source) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), strings.Compare(a.By, b.By))
	})
	shown, left := 0, 0
	for _, s := range sources {
		list, from := by[s], "from "+s.String()
		if s.Kind == agentdef.Plugin && shown >= maxListed {
			left += len(list)
			continue
		}
		if shown += len(list); s.Kind == agentdef.BuiltIn {
			from = "built in"
		}
		p.Add(commands.Text(fmt.Sprintf("%s %s:", amount.Of(len(list), "agent", "agents"), from)))
		table := commands.Table{Columns: []commands.Column{{}, {}, {Cut: true}}, Indented: true}
		for _, d := range list[:min(maxAgents, len(list))] {
			table.Rows = append(table.Rows, []string{d.Name, cmp.Or(d.Model, "inherit"), d.Description})
		}
		p.Add(table)
		if more := len(list) - len(table.Rows); more > 0 {
			p.Add(commands.Text("  And " + amount.Of(more, "agent", "agents") + " more; /agents NAME shows one."))
		}
	}
	if left > 0 {
		p.Add(commands.Text("And " + amount.Of(left, "agent", "agents") + " more from other plugins; /agents NAME shows one, and Tab completes its name."))
	}
	for _, line := range set.Report() {
		p.Add(commands.Notice(line))
	}
	return p
}

// AgentPage shows an agent.
func AgentPage(d *agentdef.Definition) commands.Page {
	fields := commands.Fields{{Name: "Name", Value: d.Name}, {Name: "About", Value: d.Description}, {Name: "From", Value: d.Source.String()}}
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, commands.Field{Name: name, Value: value})
		}
	}
	add("File", d.File)
	tools := "all that sub-agents may have"
	switch {
	case d.Tools != nil && len(d.Tools) == 0:
		tools = "none"
	case d.Tools != nil:
		tools = strings.Join(d.Tools, ", ")
	}
	add("Tools", tools)
	add("Without", strings.Join(d.Disallowed, ", "))
	add("Mode", d.Mode)
	add("Model", cmp.Or(d.Model, "inherit"))
	add("Effort", d.Effort)
	if d.MaxTurns > 0 {
		add("Max turns", strconv.Itoa(d.MaxTurns))
	}
	add("Skills", strings.Join(d.Skills, ", "))
	add("Servers", strings.Join(serverNames(d), ", "))
	add("Memory", string(d.Memory))
	if d.Hooks != nil {
		add("Hooks", string(d.Hooks))
	}
	if d.Background {
		add("Runs", "in the background")
	}
	if d.Worktree {
		add("Works in", "a worktree of its own")
	}
	if d.Prompt != "" {
		add("Prompt", "about "+amount.Of(tokens.New("").Text(d.Prompt), "token", "tokens"))
	}
	return commands.Page{Blocks: []commands.Block{fields}}
}

func serverNames(d *agentdef.Definition) (names []string) {
	for _, s := range d.Servers {
		names = append(names, s.Name)
	}
	return append(names, d.Required...)
}
