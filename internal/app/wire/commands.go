package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/app/conversation"
	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/search/fileindex"
	"adze/internal/platform/term"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/session/attach"
	"adze/internal/session/transcript"
	"adze/internal/tool"
	"adze/internal/tools/bash"
	"adze/internal/tools/powershell"
	"adze/internal/tools/read"
	"adze/internal/ui/streamjson"
)

// Commands returns the conversation's commands for front ends.
func (c *Conversation) Commands() *commands.Registry {
	v, m := c.ws.values(), c.prompt.memory
	cfg := commands.Config{
		Terminal: c.spec.Entry == Interactive,
		Session:  c.Session, Dir: c.ws.Dir, Home: c.ws.Project.Home, Dirs: c.ws.Project.Dirs, Now: c.ws.Now, Log: c.record.Log,
		Tasks: c.shell.Tasks, Version: c.ws.Version, Models: c.modelCommands(),
		Permission: c.permissionCommands(), Env: c.commandEnv(), Extensions: c.extensionCommands(),
		Files: commands.Files{
			Dir: c.ws.Dir, History: c.files.history, State: c.files.state, Working: c.ws.writers.Working,
			Index: fileindex.New(fileindex.Config{
				Dir: c.ws.Dir, All: !v.Files.Gitignore, Skip: func(path string, _ bool) bool { return c.Gate.Hidden(path) },
			}),
			MayRead: c.mayRead,
			Short:   func(path string) string { return shortPath(c.ws.Dir, c.ws.Project.User, path) },
		},
		Preamble: commands.Preamble{
			Resolve: c.model.Resolve, Describe: c.prompt.describe, Watch: &c.prompt.watch,
			Blocks: func(m agent.Model, specs []msg.ToolSpec) []prompt.Block {
				blocks, _ := c.prompt.prompt.Blocks(m.ID, specs)
				return blocks
			},
		},
		Memory: &commands.Memory{Folder: m.Folder, Never: m.Never, Off: m.Switched, Set: m.Set, Dream: c.maintainer.Dream},
		Execute: func(ctx context.Context, command string, report func(tool.Display)) (commands.ShellResult, error) {
			return runTyped(ctx, c.Session.Pool(), command, report)
		},
	}
	c.closers.add(cfg.Files.Index.Close)
	if a := c.prompt.announcer; a != nil {
		cfg.Preamble.First = a.Preview
		if a.Instructed() {
			cfg.Instructions = &instructionFiles{a, replace.New(filepath.Join(c.ws.Project.Home, "locks"))}
		}
	}
	return commands.New(cfg)
}

// instructionFiles implements [commands.Instructions].
type instructionFiles struct {
	*prompt.Announcer
	files *replace.Replacer
}

// Load reads the instructions.
func (i *instructionFiles) Load(ctx context.Context) { i.Opening(ctx) }

// Add appends a line to an instruction file.
func (i *instructionFiles) Add(ctx context.Context, path, line string) error {
	return i.Announcer.Add(ctx, i.files, path, line)
}

// Facts describes a conversation for front ends.
type Facts struct {
	ModelID string // ID of the current model
	Mode    string // current permission mode
	Style   string // output style
	Skills  []string
	Agents  []streamjson.Agent // defined agents
	// Plugins are the active plugins; PluginErrors explains why others are not.
	Plugins      []streamjson.Plugin
	PluginErrors []string
	KeySource    string // source of the provider's credentials
	// LeftOut returns the workspace configuration that is not used, each item with the reason.
	// It is computed once.
	LeftOut func() []string
}

// Facts returns the current facts. There must be a model.
func (c *Conversation) Facts() Facts {
	m, _ := c.model.Resolve(c.Session.Model()) // ok: the session has it already
	set := c.ws.pluginSet()
	return Facts{ModelID: m.ID, Mode: string(c.Gate.Mode()), KeySource: c.model.Backend.KeySource, Style: c.prompt.style, Skills: c.skills.Names(), Agents: c.ws.listAgents(), Plugins: set.InUse(), PluginErrors: set.Errors(), LeftOut: c.prompt.leftOut}
}

// Greeting returns the introduction of an interactive conversation, with any important notices.
func (c *Conversation) Greeting(now commands.Glance) commands.Greeting {
	g := commands.Greeting{Program: "adze " + c.ws.Version, Model: now.Model, Dir: shortPath("", c.ws.Project.User, c.dir.Home()), Branch: now.Branch}
	if now.Mode != string(permission.Default) {
		g.Mode = now.Mode
	}
	if c.record.Earlier != nil {
		g.Notes = "Continuing " + c.continued() + "."
	}
	g.Notes = strings.TrimPrefix(g.Notes+describeLost(c.record.Lost), "\n")
	return g
}

// continued returns the title, or else the ID, of the continued session.
func (c *Conversation) continued() string {
	if info, err := archive.Find(c.ws.Project.Home, c.ws.Dir, c.record.ID); err == nil && info.Name() != info.ID {
		return strconv.Quote(term.Sanitize(info.Name()))
	}
	return "session " + c.record.ID
}

// describeLost describes tasks that ended with an earlier process, on one line.
func describeLost(all []transcript.LostTask) string {
	const most = 10
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, l := range all[:min(most, len(all))] {
		names = append(names, l.Name)
	}
	if n := len(all) - most; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return "\nThese were at work when it ended, and have stopped: " + strings.Join(names, ", ") + ". The model will be notified with your next prompt; the agents' work is saved, and the model can resume them."
}

// shortPath returns path as a user would write it, safe to print.
func shortPath(dir, home, path string) string {
	short := paths.Relative(dir, path)
	if short == path {
		short = paths.Short(home, path)
	}
	return term.Sanitize(short)
}

// runTyped runs a command the user typed, without prompting. It sets the longest possible
// timeout so that the command is not moved to the background automatically: the user waits for
// it, and can move it.
func runTyped(ctx context.Context, pool *tool.Pool, command string, report func(tool.Display)) (commands.ShellResult, error) {
	if program := bash.Interactive(command); program != "" {
		return commands.ShellResult{Output: program + " needs a terminal of its own; open it in another window"}, nil
	}
	input, err := json.Marshal(map[string]any{"command": command, "timeout": typedLimit.Milliseconds()})
	if err != nil {
		return commands.ShellResult{}, err
	}
	ex := &exec.Executor{Gates: []exec.Gate{{Name: "permission", Gate: userGate{}}}}
	name := bash.Name
	if _, _, ok := pool.Lookup(name); !ok {
		name = powershell.Name // no other shell is available
	}
	p := ex.Bind(pool, msg.NewToolUse("typed", name, string(input)))
	if !ex.Admit(ctx, p) {
		return commands.ShellResult{Output: msg.PlainText(p.Refused().Result.Parts)}, nil
	}
	began := time.Now()
	o := ex.Run(ctx, p, func(p tool.Progress) {
		if report != nil {
			report(p.Display)
		}
	})
	ran := commands.ShellResult{Output: msg.PlainText(o.Result.Parts)}
	if printed, ok := o.Display.(tool.Output); ok && ctx.Err() != nil {
		stopped := fmt.Sprintf("Stopped after %v.", time.Since(began).Round(time.Second))
		ran.Shown = strings.TrimSpace(printed.Text + "\n" + stopped)
	}
	return ran, nil
}

// typedLimit is how long a command typed by the user may run before it moves to the background.
const typedLimit = 10 * time.Minute

// attachments returns a prompt hook that attaches the files mentioned in a message.
func (c *Conversation) attachments() func(context.Context, session.Prompt) session.HookResult {
	return attach.PromptHook(attach.Config{
		Dir: c.dir.Here, Home: c.ws.Project.User, Tool: read.Name, Hidden: c.Gate.Hidden, Language: c.ws.language,
		Resource: c.Servers.Mentioned,
		MaxBytes: func() int { return c.ws.Project.Values().Files.MaxTokens * leastPerToken },
		Session:  c.session, Attended: c.spec.Entry == Interactive, Refused: c.coordinator.Unattached(),
		MayRead: c.mayRead,
	})
}

// leastPerToken is the minimum number of bytes per token of a file.
const leastPerToken = 2

// mayRead checks a file with the permission gate, as for a model's Read call.
func (c *Conversation) mayRead(ctx context.Context, path string) error {
	t, _, ok := c.Session.Pool().Lookup(read.Name)
	if !ok {
		return errors.New("files may not be read in this session")
	}
	return conversation.MayRead(ctx, t, c.Gate, path)
}

// A userGate allows every call. It is used for commands typed by the user.
type userGate struct{}

// Before implements [tool.Gate].
func (userGate) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Allow, "user", "the user typed it")
	return nil
}
