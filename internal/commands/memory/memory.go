// Package memory implements the built-in commands for memories and instruction files, and
// adds lines to the latter.
package memory

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/instruct"
	"adze/internal/domain/memdir"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/text/amount"
)

// Sections returns the commands in their /help section.
func Sections() []commands.Section {
	return []commands.Section{{Name: "Context", Commands: []commands.Command{memoryCommand(), dreamCommand()}}}
}

func memoryCommand() commands.Command {
	return commands.Command{Name: "memory", Kind: commands.Change, Args: "[on|off]",
		Doc: "show memories and instructions, or switch memory on or off; edit NAME opens one in your editor",
		Run: func(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return runMemory(ctx, r, arg)
		},
		Complete: func(*commands.Registry, string) []string { return []string{"on", "off", "edit "} }}
}

func dreamCommand() commands.Command {
	return commands.Command{Name: "dream", Kind: commands.Change, Doc: "have an agent consolidate the memories of the project: merge, correct and prune them",
		Run: func(ctx context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			if r.Memory == nil || r.Memory.Dream == nil {
				return nil, errNoMemory
			}
			text, err := r.Memory.Dream(ctx)
			return commands.Say(text), err
		}}
}

var errNoMemory = errors.New("memory is not available in this session")

func runMemory(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	if r.Memory == nil {
		return nil, errNoMemory
	}
	word, name, _ := strings.Cut(arg, " ")
	switch word {
	case "":
		return memoryPage(ctx, r)
	case "on":
		return commands.Say("Memory is on."), r.Memory.Set(false)
	case "off":
		return commands.Say("Memory is off for the rest of this session: the model no longer sees any of it."), r.Memory.Set(true)
	case "edit":
		path, err := editable(r, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		return commands.Edit{Path: path, Page: commands.Say("Edited " + path)}, nil
	}
	return nil, errors.New("usage: /memory, /memory on, /memory off or /memory edit NAME")
}

// editable returns the path of a memory, of the index or of an instruction file in use, by its
// name.
func editable(r *commands.Registry, name string) (string, error) {
	var inForce []instruct.File
	if r.Instructions != nil {
		inForce = r.Instructions.Files()
	}
	for _, f := range inForce {
		if f.Path == name || filepath.Base(f.Path) == name || paths.Relative(r.Dir, f.Path) == name {
			return f.Path, nil
		}
	}
	folder := r.Memory.Folder
	if name == memdir.IndexName {
		return folder.Path(name), nil
	}
	found, err := folder.Find(name)
	return folder.Path(found.Name), err
}

// memoryPage shows the state of memory, its problems and the instruction files in use.
func memoryPage(ctx context.Context, r *commands.Registry) (commands.Page, error) {
	var p commands.Page
	switch m := r.Memory; {
	case m.Never != "":
		p.Add(commands.Text("Memory is off: " + m.Never + "."))
	case m.Off():
		p.Add(commands.Text("Memory is off for this session; /memory on switches it back on."), commands.Text("Folder: "+r.Files.Short(m.Folder.Dir)))
	default:
		all, err := m.Folder.List()
		if err != nil {
			return p, err
		}
		p.Add(commands.Text("Memory is on: "+amount.Of(len(all), "memory", "memories")+"."), commands.Text("Folder: "+r.Files.Short(m.Folder.Dir)))
		var lines commands.Items
		for _, x := range all {
			lines = append(lines, x.String())
		}
		p.Add(lines)
		found, err := m.Folder.Check()
		if err != nil {
			return p, err
		}
		for _, f := range found {
			p.Add(commands.Notice(f.String()))
		}
	}
	addInstructions(ctx, r, &p)
	return p, nil
}

// addInstructions adds the instruction files in use and their problems to p.
func addInstructions(ctx context.Context, r *commands.Registry, p *commands.Page) {
	in := r.Instructions
	if in == nil {
		p.Add(commands.Text("Instruction files are not read in this session."))
		return
	}
	in.Load(ctx) // the files are otherwise read with the first message
	files := in.Files()
	if len(files) == 0 {
		p.Add(commands.Text("No instruction files."))
	} else {
		p.Add(commands.Text("Instruction files in use:"))
	}
	var lines commands.Items
	for _, f := range files {
		about := strings.ToLower(f.Kind.String())
		if f.Parent != "" {
			about += ", included by " + r.Files.Short(f.Parent)
		}
		lines = append(lines, r.Files.Short(f.Path)+" ("+about+")")
	}
	p.Add(lines)
	for _, problem := range in.Problems() {
		p.Add(commands.Notice(r.Files.Short(problem.Path) + " " + problem.Text))
	}
}

// Note offers to add a line to an instruction file. The model sees the change with the next
// prompt.
func Note(r *commands.Registry, line string) (commands.Answer, error) {
	if r.Instructions == nil || r.Home == "" {
		return nil, errors.New("this session reads no instruction files")
	}
	if line == "" {
		return nil, errors.New("type the line to add after #")
	}
	var page commands.Page
	for _, problem := range r.Instructions.Problems() {
		page.Add(commands.Notice(r.Files.Short(problem.Path) + " " + problem.Text))
	}
	list := commands.List{
		Page: page, Title: "# " + line, Question: "Save this note in which file?",
		Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) {
			if err := r.Instructions.Add(ctx, c.ID, line); err != nil {
				return nil, err
			}
			return commands.Say("Added to " + c.Title + ". The model sees it with your next prompt."), nil
		},
	}
	about := map[instruct.Kind]string{instruct.Project: "project", instruct.User: "for all your projects", instruct.Local: "private"}
	for _, p := range r.Instructions.Places() {
		text := about[p.Kind]
		if p.New {
			text += ", new file"
		}
		if p.Keeps != "" {
			text += " that includes " + r.Files.Short(p.Keeps)
		}
		list.Choices = append(list.Choices, commands.Choice{ID: p.Path, Title: r.Files.Short(p.Path), About: text})
	}
	if len(list.Choices) == 0 {
		return nil, errors.New("no instruction file to add to")
	}
	return list, nil
}
