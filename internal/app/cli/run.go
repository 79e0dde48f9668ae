package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/profile"
	"adze/internal/app/wire"
	"adze/internal/feature/agents"
	"adze/internal/feature/mcp"
	"adze/internal/feature/plugins"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/git/worktree"
	"adze/internal/settings"
	"adze/internal/setup"
	"adze/internal/tool/change"
	"adze/internal/ui/headless"
)

// runOptions holds the flags of a run: a conversation, a single turn, or a session driven by a
// host.
type runOptions struct {
	recital *recital // set by adze demo, otherwise nil
	project settings.Source
	spec    wire.Spec
	prompt  promptText
	extensions

	print, verbose, hookEvents bool
	plain                      bool // no line editing and no colors
	output                     headless.Format
	input                      string
	schema                     string // output schema, or its file
	asker                      string // destination of permission prompts
	replay                     bool   // report prompts when they are stored
	noCommands                 bool   // a host's slash commands are prompts
	pick                       bool   // ask which session to resume
	rewind                     string
	force                      bool
	profiling                  string // address for serving profiles
	version, help              bool
}

// extensions holds the agents, servers and plugins named on the command line.
type extensions struct {
	agents     *agents.Flags // may be nil
	servers    mcp.Flags
	pluginDirs []string
	plugins    *plugins.Plugins // the project's plugins
	editor     change.Editor    // the user's editor; may be nil
	// ahead, if non-nil, starts preparing a conversation while its workspace is being opened.
	ahead func(*wire.Workspace)
}

const (
	inputText   = "text"
	inputStream = "stream-json"

	askHost = "stdio"
)

// flags returns all flags that clients may pass, supported or not.
func (o *runOptions) flags() []flag { return append(o.supported(), missingFlags()...) }

// supported returns the flags that have an effect, in the order of adze help flags.
func (o *runOptions) supported() []flag {
	return slices.Concat(
		group("Prompt and output", o.outputFlags()...),
		group("Model", modelFlags(&o.spec.Model)...),
		group("System prompt", append(promptFlags(&o.prompt), bareFlag(&o.spec.Bare))...),
		group("Permissions", append(accessFlags(&o.spec.Access), o.askerFlag(), o.promptsFlag())...),
		group("Limits", limitFlags(&o.spec.Limits)...),
		group("Session", o.sessionFlags()...),
		group("Settings", projectFlags(&o.project)...),
		group("Extensions", slices.Concat(serverFlags(&o.servers), agentFlags(&o.spec.MainAgent, &o.agents), []flag{pluginDirFlag(&o.pluginDirs)}, teamFlags(&o.spec.Team))...),
		group("Debugging", append(debugFlags(&o.spec.Debug),
			flag{Name: "record-requests", Value: "DIR", Doc: "record requests and responses in DIR, as a script that can be replayed",
				Set: flags.SetText(&o.spec.Model.Record)},
			flag{Name: "pprof", Value: "ADDRESS", Doc: "serve profiles of the program at a loopback address, such as 127.0.0.1:6060",
				Set: func(v string) error { o.profiling = v; return profile.CheckAddress(v) }})...),
		group("Information",
			flag{Name: "version", Short: "v", Doc: "print the version", Set: flags.SetBool(&o.version)},
			flag{Name: "help", Short: "h", Doc: "print help", Set: flags.SetBool(&o.help)}),
	)
}

// group assigns flags to a help group.
func group(name string, flags ...flag) []flag {
	for i := range flags {
		flags[i].Group = name
	}
	return flags
}

// outputFlags returns the flags that select the prompt and the output.
func (o *runOptions) outputFlags() []flag {
	return []flag{
		{Name: "print", Short: "p", Doc: "run one turn and print the answer; the default when stdin or stdout is not a terminal",
			Set: flags.SetBool(&o.print)},
		flags.OneOf(flag{Name: "output-format", Value: "FORMAT", Doc: "text, json (one result object) or stream-json (every message as a line; needs --verbose)"},
			&o.output, headless.Text, headless.JSON, headless.StreamJSON),
		flags.OneOf(flag{Name: "input-format", Value: "FORMAT", Doc: "text, or stream-json: prompts and requests as lines of JSON on stdin"},
			&o.input, inputText, inputStream),
		{Name: "json-schema", Value: "SCHEMA|FILE", Doc: "end each turn with a value that matches this JSON Schema, as structured_output of the result",
			Set: flags.SetText(&o.schema)},
		{Name: "verbose", Doc: "report progress in detail", Set: flags.SetBool(&o.verbose)},
		{Name: "include-partial-messages", Doc: "add the provider's own events to stream-json", Set: flags.SetBool(&o.spec.Raw)},
		{Name: "include-hook-events", Doc: "add hook events to stream-json", Set: flags.SetBool(&o.hookEvents)},
		{Name: "replay-user-messages", Doc: "echo prompts in stream-json once they are stored", Set: flags.SetBool(&o.replay)},
		{Name: "disable-slash-commands", Doc: "without a terminal, treat commands such as /compact as prompts", Set: flags.SetBool(&o.noCommands)},
		{Name: "plain", Doc: "leave line editing to the terminal and use no colours, for screen readers and simple terminals",
			Set: flags.SetBool(&o.plain)},
	}
}

// promptsFlag returns the short form of askerFlag that some clients pass.
func (o *runOptions) promptsFlag() flag {
	return flag{Name: "permission-prompts", Value: "MODE", Doc: "none: deny calls that would prompt, the default without a terminal; stdio: the same as --permission-prompt-tool stdio",
		Choices: []string{"none", askHost},
		Set: func(v string) error {
			switch v {
			case "none":
				o.asker = ""
			case askHost:
				o.asker = askHost
			default:
				return fmt.Errorf("invalid value %q (want none or %s)", v, askHost)
			}
			return nil
		}}
}

// askerFlag returns the flag that selects who answers permission prompts.
func (o *runOptions) askerFlag() flag {
	return flag{Name: "permission-prompt-tool", Value: "NAME", Doc: "who answers permission questions: a tool of an MCP server (mcp__server__tool), or stdio, the host, over --input-format stream-json",
		Choices: []string{askHost},
		Set: func(v string) error {
			if v != askHost && !strings.HasPrefix(v, "mcp__") {
				return fmt.Errorf("%q is neither %s nor a tool of an MCP server, such as mcp__server__tool", v, askHost)
			}
			o.asker = v
			return nil
		}}
}

func (o *runOptions) sessionFlags() []flag {
	s := &o.spec.Session
	return append(newSessionFlags(s), []flag{
		{Name: "continue", Short: "c", Doc: "continue the most recent session in this directory", Set: flags.SetBool(&s.Latest)},
		{Name: "resume", Short: "r", Value: "SESSION", Bare: true, Doc: "continue an earlier session, named by id, title or file; without a value, choose from a list",
			Source: sessionNames,
			Set:    func(v string) error { s.Resume, o.pick = v, v == ""; return nil }},
		{Name: "resume-session-at", Value: "ID", Doc: "with --resume, continue after this message and drop the later ones", Set: flags.SetText(&s.At)},
		{Name: "fork-session", Doc: "with --resume or --continue, continue in a copy with a new id", Set: flags.SetBool(&s.Fork)},
		{Name: "worktree", Short: "w", Value: "NAME", Bare: true, Doc: "work in a git worktree, a checkout on a separate branch: the one with this name, or a new one",
			Set: func(v string) error {
				o.spec.Worktree = wire.WorktreeSpec{Wanted: true, Name: v}
				if v == "" {
					return nil
				}
				return worktree.CheckName(v)
			}},
		{Name: "rewind-files", Value: "ID", Doc: "with --resume, restore files to their state before this message, or revert what this agent changed", Set: flags.SetText(&o.rewind)},
		{Name: "force", Doc: "with --rewind-files, also restore files that were changed outside the session since", Set: flags.SetBool(&o.force)},
	}...)
}

// newSessionFlags returns the flags of commands that start a session.
func newSessionFlags(s *wire.SessionSpec) []flag {
	return []flag{
		{Name: "session-id", Value: "UUID", Doc: "the id of the new session",
			Set: func(v string) error {
				if !isUUID(v) {
					return fmt.Errorf("%q is not a UUID, such as 3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", v)
				}
				s.ID = strings.ToLower(v)
				return nil
			}},
		{Name: "no-session-persistence", Doc: "do not write a transcript", Set: flags.SetBool(&s.Ephemeral)},
	}
}

// missingFlags returns the flags that clients pass but this version does not implement.
func missingFlags() []flag {
	return []flag{
		{Name: "task-budget", Value: "N", Missing: "task budgets"},

		{Name: "bg", Missing: "background sessions", Refused: true},
		{Name: "tmux", Missing: "terminal panes", Refused: true},
		{Name: "init", Missing: "hooks at set-up", Refused: true},
		{Name: "init-only", Missing: "hooks at set-up", Refused: true},
		{Name: "maintenance", Missing: "hooks at set-up", Refused: true},
	}
}

// check reports flags that conflict or require others.
func (o *runOptions) check(in invocation) error {
	s := o.spec.Session
	switch {
	case s.Latest && (s.Resume != "" || o.pick):
		return setup.Errorf("--continue and --resume cannot be used together")
	case s.Fork && !s.Resumes() && !o.pick:
		return setup.Errorf("--fork-session needs --resume or --continue")
	case s.At != "" && s.Resume == "":
		return setup.Errorf("--resume-session-at needs --resume with the session")
	case s.ID != "" && (s.Resumes() || o.pick) && !s.Fork:
		return setup.Errorf("--session-id sets the id of a new session; with --resume or --continue it needs --fork-session")
	case o.rewind != "" && s.Resume == "":
		return setup.Errorf("--rewind-files needs --resume with the id of the session")
	case o.force && o.rewind == "":
		return setup.Errorf("--force needs --rewind-files")
	}
	if err := checkPairs(in); err != nil {
		return err
	}
	switch m := o.spec.Model; {
	case o.output == headless.StreamJSON && !o.verbose:
		return setup.Errorf("--output-format stream-json needs --verbose")
	case o.input == inputStream && o.output != headless.StreamJSON:
		return setup.Errorf("--input-format stream-json needs --output-format stream-json")
	case o.spec.Raw && o.output != headless.StreamJSON:
		return setup.Errorf("--include-partial-messages needs --output-format stream-json")
	case o.input == inputStream && strings.Join(in.Args, "") != "": // adapters pass an empty argument
		return setup.Errorf("with --input-format stream-json, prompts come from stdin; remove %q", strings.Join(in.Args, " "))
	case m.Fallback != "" && m.Fallback == m.Name:
		return setup.Errorf("--fallback-model %s is the main model; choose another one", m.Fallback)
	case o.spec.Access.Skip && in.Given["permission-mode"] && o.spec.Access.Mode != string(permission.Bypass):
		return setup.Errorf("--dangerously-skip-permissions contradicts --permission-mode %s; use one or the other", o.spec.Access.Mode)
	}
	return nil
}

// checkPairs reports mutually exclusive flags.
func checkPairs(in invocation) error {
	for _, p := range [...][2]string{
		{"system-prompt", "system-prompt-file"},
		{"append-system-prompt", "append-system-prompt-file"},
		{"thinking", "max-thinking-tokens"},
	} {
		if in.Given[p[0]] && in.Given[p[1]] {
			return setup.Errorf("--%s and --%s cannot be used together", p[0], p[1])
		}
	}
	return nil
}

// run runs the turns requested by the command line, the user or the host.
func (o *runOptions) run(ctx context.Context, env *Env, in invocation) (err error) {
	if err := o.check(in); err != nil {
		return err
	}
	if o.asker == askHost && o.input != inputStream {
		in.Notes = append(in.Notes, "--permission-prompt-tool has no effect without --input-format stream-json")
	}
	if o.rewind != "" {
		return o.rewindFiles(ctx, env)
	}
	single := o.print || !env.StdinTerminal || !env.StdoutTerminal || o.input == inputStream
	switch {
	case !single && (in.Given["output-format"] || in.Given["input-format"]):
		return setup.Errorf("--output-format and --input-format need -p at a terminal")
	case single && o.pick:
		return setup.Errorf("--resume without a value needs a terminal to show a list; give the id or title of the session (adze sessions list shows them)")
	case !single:
		o.spec.Entry, o.spec.Access.Asks, o.servers.Terminal = wire.Interactive, true, true
	case o.input == inputStream:
		o.spec.Entry, o.project.Hosted = wire.Host, true
		o.spec.Access.Asks = o.asker == askHost
	}
	switch {
	case o.asker == "" || o.asker == askHost:
	case single:
		o.spec.Access.AskTool = o.asker
	default:
		in.Notes = append(in.Notes, "--permission-prompt-tool has no effect at a terminal: you answer the prompts there")
	}
	for _, p := range o.agents.Problems() {
		in.Notes = append(in.Notes, p.Error())
	}
	if ctx, err = o.joinTeam(ctx); err != nil {
		return err
	}
	if o.spec.Prompt, err = o.prompt.spec(); err != nil {
		return err
	}
	if o.spec.Schema, err = o.readSchema(in); err != nil {
		return err
	}
	// A long conversation is mostly one large buffer and the texts it was built from, so
	// collecting garbage more often costs little and lowers the peak. Startup allocates so
	// little, even with many skills and plugins, that collecting it is not worthwhile.
	debug.SetGCPercent(250)
	later := time.AfterFunc(time.Second, func() { debug.SetGCPercent(75) })
	defer later.Stop()
	stop, err := profile.Serve(o.profiling, env.Say)
	if err != nil {
		return err
	}
	defer stop()
	if o.spec.Entry == wire.Interactive {
		return o.interact(ctx, env, in)
	}
	return o.headless(ctx, env, in)
}

// readSchema returns the schema from --json-schema, which is JSON or a file.
func (o *runOptions) readSchema(in invocation) ([]byte, error) {
	if !in.Given["json-schema"] || strings.HasPrefix(strings.TrimSpace(o.schema), "{") {
		return []byte(o.schema), nil
	}
	source, err := os.ReadFile(o.schema)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, setup.Errorf("--json-schema: %q is neither a JSON object nor a file", o.schema)
	case err != nil:
		return nil, setup.Errorf("--json-schema: %v", err)
	}
	return source, nil
}

// maxPrompt is the maximum size of the text on standard input, in bytes.
const maxPrompt = 10 << 20

// readPrompt returns the prompt: standard input followed by the arguments.
func readPrompt(ctx context.Context, env *Env, args []string) (string, error) {
	text := strings.Join(args, " ")
	if !env.StdinTerminal {
		piped, err := readStdin(ctx, env)
		if err != nil {
			return "", err
		}
		switch {
		case strings.TrimSpace(piped) == "":
		case strings.TrimSpace(text) == "":
			text = piped
		default:
			text = msg.WithPipedInput(piped, text)
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", setup.Errorf("no prompt given; use adze -p \"your prompt\", or pipe it to stdin")
	}
	return text, nil
}

// patience is how long to wait for standard input before notifying the user.
const patience = 3 * time.Second

// readStdin reads standard input until EOF or until ctx is done.
func readStdin(ctx context.Context, env *Env) (string, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(env.Stdin, maxPrompt+1))
		done <- read{data, err}
	}()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		select {
		case r := <-done:
			switch {
			case r.err != nil:
				return "", fmt.Errorf("reading stdin: %w", r.err)
			case len(r.data) > maxPrompt:
				return "", setup.Errorf("the text on stdin is longer than %d MB; save it to a file and mention the file in the prompt", maxPrompt>>20)
			}
			return stdinText(env, r.data)
		case <-slow.C:
			env.Say("waiting for stdin to end; to send only the prompt, add </dev/null")
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// stdinText returns piped input as text. Binary input is an error, because it would reach the
// model garbled.
func stdinText(env *Env, data []byte) (string, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", setup.Errorf("stdin is not text: byte %d is NUL; save it to a file and mention the file in the prompt", i)
	}
	if !utf8.Valid(data) {
		env.Say("stdin is not valid UTF-8; invalid bytes are sent as \ufffd. Convert it first, for example with iconv -f latin1 -t utf8")
	}
	return string(data), nil
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
		return "", setup.Errorf("%s: reading %s: %v", flag, file, err)
	}
	return string(data), nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
				return false
			}
		}
	}
	return true
}
