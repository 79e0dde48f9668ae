package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/instruct"
	"adze/internal/memory"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/platform/term"
	"adze/internal/session/store"
)

// memory does what /memory asks for.
func (d *desk) memory(_ context.Context, arg string) (string, error) {
	m := d.builder.memory
	word, name, _ := strings.Cut(arg, " ")
	switch word {
	case "":
		return m.page()
	case "on":
		return "Memory is on.", m.set(false)
	case "off":
		return "Memory is off for the rest of this session: nothing of it is sent any more.", m.set(true)
	case "edit":
		path, err := m.editable(strings.TrimSpace(name))
		if err != nil {
			return "", err
		}
		return "Edited " + path, d.editor(path)
	}
	return "", fmt.Errorf("write /memory, /memory on, /memory off or /memory edit NAME")
}

// editable returns the file that a person means: a memory, the index, or instructions in force.
func (m *remembering) editable(name string) (string, error) {
	var inForce []instruct.File
	if m.b.announcer != nil {
		inForce = m.b.announcer.Files()
	}
	for _, f := range inForce {
		if f.Path == name || filepath.Base(f.Path) == name || paths.Relative(m.b.env.Dir, f.Path) == name {
			return f.Path, nil
		}
	}
	if name == memory.IndexName {
		return m.folder.Path(name), nil
	}
	found, err := m.folder.Find(name)
	return m.folder.Path(found.Name), err
}

// page tells the state of memory, what is wrong with it, and the instructions in force.
func (m *remembering) page() (string, error) {
	var b strings.Builder
	switch {
	case m.never != "":
		fmt.Fprintf(&b, "Memory is off: %s.\n", m.never)
	case m.off.Load():
		fmt.Fprintf(&b, "Memory is off for this session; /memory on switches it on.\nFolder: %s\n", m.folder.Dir)
	default:
		all, err := m.folder.List()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "Memory is on: %s.\nFolder: %s\n", countOf(len(all), "memory", "memories"), m.folder.Dir)
		for _, x := range all {
			fmt.Fprintf(&b, "  %s\n", listLine(x))
		}
		found, err := m.folder.Check()
		if err != nil {
			return "", err
		}
		for _, f := range found {
			fmt.Fprintf(&b, "  note: %s\n", findingLine(f))
		}
	}
	m.instructions(&b)
	return term.Sanitize(strings.TrimRight(b.String(), "\n")), nil
}

// instructions lists the instruction files in force, and those that are not used as they were meant.
func (m *remembering) instructions(b *strings.Builder) {
	g := m.b.announcer
	if g == nil || !g.Instructed() {
		b.WriteString("No instructions are read.\n")
		return
	}
	g.Opening(context.Background()) // before the first message they are not read yet
	files, problems := g.Files(), g.Problems()
	if len(files) == 0 {
		b.WriteString("No instructions are in force.\n")
	} else {
		b.WriteString("Instructions in force:\n")
	}
	for _, f := range files {
		about := strings.ToLower(f.Kind.String())
		if f.Parent != "" {
			about += ", included by " + f.Parent
		}
		fmt.Fprintf(b, "  %s (%s)\n", f.Path, about)
	}
	for _, p := range problems {
		fmt.Fprintf(b, "  note: %s %s\n", p.Path, p.Text)
	}
}

func listLine(m memory.Memory) string {
	kind := string(m.Type)
	if kind == "" {
		kind = "-"
	}
	return fmt.Sprintf("%-9s %s  %s", kind, m.Name, m.Description)
}

func findingLine(f memory.Finding) string {
	where := f.File
	if f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
	}
	return where + " " + f.Text
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// declinedName is the file that says that the person did not want to take over other memories.
const declinedName = "memory-import-declined"

// offerMemories asks the person once whether to copy what another program remembers of the project. Nothing
// is ever written there.
func offerMemories(env *Env, o *options) error {
	p, _ := findSettings(env, o) // ok: warnings are told later
	other := otherHome(env, fsys.UserHome(env.Getenv))
	if p.forgets(o) != "" || other == "" || p.live.Settings().Text("ADZE_MEMORY_PATH_OVERRIDE") != "" {
		return nil
	}
	root := p.projectRoot(env)
	declined := filepath.Join(store.ProjectDir(p.home, root), declinedName)
	if _, err := os.Lstat(declined); err == nil {
		return nil
	}
	f, claim, _ := p.memoryFolder(env)
	theirs := memory.Folder{Dir: filepath.Join(other, "projects", fsys.ProjectKey(root), "memory")}
	n := f.Adoptable(theirs)
	if n == 0 || f.Usable() != nil {
		return nil
	}
	yes, err := env.confirm(fmt.Sprintf("%s of this project are in %s. Copy them for adze?", countOf(n, "memory", "memories"), term.Sanitize(theirs.Dir)))
	if err != nil {
		return err
	}
	if !yes {
		if _, err := store.ClaimProject(p.home, root); err != nil {
			return err
		}
		return fsys.WriteAtomic(declined, nil, 0o600)
	}
	if err := claim(); err != nil {
		return err
	}
	copied, left, err := f.Adopt(theirs)
	if err != nil {
		return fmt.Errorf("copying memories: %w", err)
	}
	text := countOf(copied, "memory", "memories") + " copied to " + f.Dir
	if len(left) > 0 {
		text += "; left out, since they are no text, too large, or hold what looks like a secret: " + strings.Join(left, ", ")
	}
	return env.print(term.Sanitize(text) + "\n")
}
