package about

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/net/contacts"
	"adze/internal/platform/text/amount"
)

func privacyCommand() commands.Command {
	return commands.Command{Name: "privacy", Rare: true, Doc: "show stored data and contacted hosts",
		Run: func(ctx context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			hosts, left := contacts.List()
			return privacyPage(r, stored(ctx, r.Dirs, r.Dir), hosts, left), nil
		}}
}

// A place is a location of stored data.
type place struct {
	path, about string
	files       int
	bytes       int64
	// more is true if there was too much to count.
	more bool
}

// contents describes the purpose of a file or folder in the state directory.
func contents(name string) string {
	switch name {
	case "projects":
		return "conversations, long outputs, memories"
	case "file-history":
		return "files before they were changed"
	case "history.jsonl":
		return "input history, for the Up key"
	case "drafts":
		return "unsent input"
	case "settings.json", "ADZE.md", "AGENTS.md", "CLAUDE.md", "rules", "skills", "commands", "agents", "output-styles", "workflows", "mcp.json", "keybindings.json":
		return "your settings and instructions"
	case "credentials.json":
		return "API keys, or which are in the keyring"
	case "mcp-tools", "mcp-needs-auth-cache.json":
		return "data about MCP servers"
	case "plugins":
		return "plugins and their data"
	case "trust.json", "sandbox-declined":
		return "your approvals and refusals"
	case "tips.json", "unknown-models":
		return "which tips and notes you were shown"
	case "plans":
		return "plans of plan mode"
	case "tasks":
		return "task lists of conversations"
	case "schedules":
		return "prompts that are scheduled"
	case "scratch":
		return "temporary files of conversations"
	case "session-env":
		return "variables that hooks set"
	case "session-memory":
		return "how notes of conversations are made"
	case "skills-index", "skill-usage.json":
		return "skills: a copy of their names, and use"
	case "agent-memory":
		return "memories of agents"
	case "dreams":
		return "when memories were last consolidated"
	case "teams":
		return "teams of agents, and their messages"
	case "worktrees":
		return "which worktrees were made"
	case "git-facts":
		return "cached git data"
	case "start":
		return "skills and agents as last sent"
	case "agents-index":
		return "a copy of the definitions of agents"
	case "quarantine":
		return "files that commands in the sandbox left"
	case "debug":
		return "logs of --debug"
	case "locks":
		return "locks of running processes"
	}
	return ""
}

// stored returns the contents of adze's directories and its files in a project.
func stored(ctx context.Context, dirs fsys.Dirs, dir string) []place {
	var places []place
	for _, own := range dirs.All() {
		entries, _ := os.ReadDir(own) // ok: if it cannot be read, nothing is stored
		for _, e := range entries {
			places = append(places, measure(ctx, filepath.Join(own, e.Name()), contents(e.Name())))
		}
	}
	if own := dirs.In(dir); !slices.Contains(dirs.All(), own) {
		if _, err := os.Lstat(own); err == nil {
			places = append(places, measure(ctx, own, "settings of this project"))
		}
	}
	return places
}

// measure returns the size of a path, as far as it can be counted before ctx ends. It does not
// follow links.
func measure(ctx context.Context, path, about string) place {
	p := place{path: path, about: about}
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			p.more = true
			return nil
		case e.IsDir():
			return nil
		}
		if info, err := e.Info(); err == nil {
			p.files++
			p.bytes += info.Size()
		}
		return nil
	})
	p.more = p.more || err != nil
	return p
}

// privacyPage shows the stored data and the contacted hosts.
func privacyPage(r *commands.Registry, places []place, hosts []contacts.Contact, left int) commands.Page {
	var dirs []string
	for _, dir := range r.Dirs.All() {
		dirs = append(dirs, r.Files.Short(dir))
	}
	p := commands.Say("Stored in " + strings.Join(dirs, " and ") + ", in files that only you can read:")
	table := commands.Table{Columns: []commands.Column{{Name: "Name", Cut: true}, {Name: "files", Right: true}, {Name: "size", Right: true}, {Name: "holds"}}}
	unsure := false
	for _, at := range places {
		size, name := amount.Bytes(at.bytes), filepath.Base(at.path)
		if r.Dirs.Split() || filepath.Dir(at.path) != r.Home {
			name = r.Files.Short(at.path)
		}
		if at.more {
			size, unsure = "over "+size, true
		}
		table.Rows = append(table.Rows, []string{name, amount.Grouped(at.files), size, at.about})
	}
	if len(places) == 0 {
		p = commands.Say("Nothing is stored on this machine.")
	} else {
		p.Add(table)
	}
	if unsure {
		p.Add(commands.Notice("some of it could not be counted whole"))
	}
	days := string(r.Env.Settings().Values["cleanupPeriodDays"])
	switch {
	case r.Log == nil:
		p.Add(commands.Text("This conversation is not saved."))
	case days == "":
		p.Add(commands.Text("Nothing is removed by age; the setting cleanupPeriodDays changes that. To remove a conversation: adze sessions rm " + r.Session.ID()))
	default:
		p.Add(commands.Text("Conversations that were not continued for " + days + " days are removed (cleanupPeriodDays)."))
	}
	if len(hosts) == 0 {
		p.Add(commands.Text("No host was contacted since adze was started."))
	} else {
		p.Add(commands.Text("Contacted since adze was started:"))
		table := commands.Table{Columns: []commands.Column{{Name: "Host", Cut: true}, {Name: "times", Right: true}, {Name: "for"}}}
		for _, c := range hosts {
			table.Rows = append(table.Rows, []string{c.Host, strconv.Itoa(c.Times), c.For})
		}
		p.Add(table)
	}
	if left > 0 {
		p.Add(commands.Notice("there were " + amount.Grouped(left) + " contacts to other hosts"))
	}
	p.Add(commands.Text("Hosts contacted by other programs are not listed: commands outside the sandbox, git and local MCP servers. adze sends no telemetry."))
	return p
}
