package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/app/wire"
	"adze/internal/permission"
	"adze/internal/ui/headless"
)

// runOptions are the flags of a run: a conversation, a single turn, or a session driven by a host.
type runOptions struct {
	project settings.Source
	spec    wire.Spec
	prompt  promptText

	print, verbose, hookEvents bool
	plain                      bool // no line editing and no colours
	output                     headless.Format
	input                      string
	schema                     string // of structured output, or its file
	asker                      string // where permission questions go
	replay                     bool   // report prompts when they are stored
	noCommands                 bool   // slash commands of a host are prompts
	pick                       bool   // ask which session to resume
	rewind                     string
	force                      bool
	profiling                  string // the address where profiles are served
	version, help              bool
}

const (
	inputText   = "text"
	inputStream = "stream-json"

	askHost = "stdio"
)

// flags returns all flags that clients may pass, supported or not.
func (o *runOptions) flags() []flag { return append(o.supported(), missingFlags()...) }

// supported returns the flags that have an effect, in the order of the help text.
func (o *runOptions) supported() []flag {
	table := []flag{
		{name: "print", short: "p", doc: "run one turn and print the answer; the default when stdin or stdout is not a terminal",
			set: setBool(&o.print)},
		{name: "plain", doc: "leave line editing to the terminal and use no colours, for screen readers and simple terminals",
			set: setBool(&o.plain)},
		{name: "output-format", value: "FORMAT", doc: "text, json (one result object) or stream-json (every message as a line; needs --verbose)",
			set: setChoice(&o.output, headless.Text, headless.JSON, headless.StreamJSON)},
		{name: "input-format", value: "FORMAT", doc: "text, or stream-json: prompts and requests as lines of JSON on stdin",
			set: setChoice(&o.input, inputText, inputStream)},
		{name: "verbose", doc: "report progress in detail", set: setBool(&o.verbose)},
		{name: "include-partial-messages", doc: "add the provider's own events to stream-json", set: setBool(&o.spec.Raw)},
		{name: "include-hook-events", doc: "add hook events to stream-json", set: setBool(&o.hookEvents)},
		{name: "replay-user-messages", doc: "echo prompts in stream-json once they are stored", set: setBool(&o.replay)},
		{name: "json-schema", value: "SCHEMA|FILE", doc: "end each turn with a value that matches this JSON Schema, as structured_output of the result",
			set: setText(&o.schema)},
	}
	table = append(table, modelFlags(&o.spec.Model)...)
	table = append(table, promptFlags(&o.prompt)...)
	table = append(table,
		flag{name: "disable-slash-commands", doc: "without a terminal, treat commands such as /compact as prompts", set: setBool(&o.noCommands)},
		bareFlag(&o.spec.Bare))
	table = append(table, accessFlags(&o.spec.Access)...)
	table = append(table, flag{name: "permission-prompt-tool", value: "NAME", doc: "where to send permission questions; stdio means to the host, over --input-format stream-json",
		set: func(v string) error {
			if v != askHost {
				return fmt.Errorf("%q is not supported, only %s: MCP tools cannot answer questions in this version", v, askHost)
			}
			o.asker = v
			return nil
		}})
	table = append(table, limitFlags(&o.spec.Limits)...)
	table = append(table, o.sessionFlags()...)
	table = append(table, projectFlags(&o.project)...)
	table = append(table, debugFlags(&o.spec.Debug)...)
	return append(table,
		flag{name: "pprof", value: "ADDRESS", doc: "serve profiles of the program at a loopback address, such as 127.0.0.1:6060",
			set: func(v string) error { o.profiling = v; return checkLoopback(v) }},
		flag{name: "version", short: "v", doc: "print the version", set: setBool(&o.version)},
		flag{name: "help", short: "h", doc: "print this help", set: setBool(&o.help)},
	)
}

func (o *runOptions) sessionFlags() []flag {
	s := &o.spec.Session
	return append(newSessionFlags(s), []flag{
		{name: "continue", short: "c", doc: "continue the most recent session in this directory", set: setBool(&s.Latest)},
		{name: "resume", short: "r", value: "SESSION", bare: true, doc: "continue an earlier session, named by id, title or file; without a value, choose from a list",
			set: func(v string) error { s.Resume, o.pick = v, v == ""; return nil }},
		{name: "resume-session-at", value: "ID", doc: "with --resume, continue after this message and drop the later ones", set: setText(&s.At)},
		{name: "fork-session", doc: "with --resume or --continue, continue in a copy with an id of its own", set: setBool(&s.Fork)},
		{name: "rewind-files", value: "ID", doc: "with --resume, restore files to their state before this message", set: setText(&o.rewind)},
		{name: "force", doc: "with --rewind-files, also restore files that were changed outside the session since", set: setBool(&o.force)},
	}...)
}

// newSessionFlags returns the flags of commands that begin a session.
func newSessionFlags(s *wire.SessionSpec) []flag {
	return []flag{
		{name: "session-id", value: "UUID", doc: "the id of the new session",
			set: func(v string) error {
				if !isUUID(v) {
					return fmt.Errorf("%q is not a UUID, such as 3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", v)
				}
				s.ID = strings.ToLower(v)
				return nil
			}},
		{name: "no-session-persistence", doc: "do not write a transcript", set: setBool(&s.Ephemeral)},
	}
}

// missingFlags returns the flags that clients pass and this version does not implement.
func missingFlags() []flag {
	const (
		servers = "MCP servers"
		agents  = "sub-agents"
		hosting = "questions to the host"
	)
	return []flag{
		{name: "permission-prompts", value: "MODE", missing: hosting},
		{name: "mcp-config", value: "CONFIG", missing: servers},
		{name: "strict-mcp-config", missing: servers},
		{name: "plugin-dir", value: "DIR", missing: "plugins"},
		{name: "agent", value: "NAME", missing: agents},
		{name: "agents", value: "JSON", missing: agents},
		{name: "task-budget", value: "N", missing: "task budgets"},
		{name: "betas", value: "LIST", missing: "a way to ask for betas"},

		{name: "worktree", short: "w", value: "NAME", missing: "worktrees", refused: true},
		{name: "bg", missing: "background sessions", refused: true},
		{name: "tmux", missing: "worktrees", refused: true},
		{name: "ide", missing: "a connection to editors", refused: true},
		{name: "init", missing: "hooks at set-up", refused: true},
		{name: "init-only", missing: "hooks at set-up", refused: true},
		{name: "maintenance", missing: "hooks at set-up", refused: true},
	}
}

// check reports flags that contradict each other or need others.
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
	case o.input == inputStream && strings.Join(in.args, "") != "": // adapters pass an empty one
		return setup.Errorf("with --input-format stream-json, prompts come from stdin; remove %q", strings.Join(in.args, " "))
	case m.Fallback != "" && m.Fallback == m.Name:
		return setup.Errorf("--fallback-model %s is the main model; choose another one", m.Fallback)
	case o.spec.Access.Skip && in.given["permission-mode"] && o.spec.Access.Mode != string(permission.Bypass):
		return setup.Errorf("--dangerously-skip-permissions contradicts --permission-mode %s; use only one of them", o.spec.Access.Mode)
	}
	return nil
}

// checkPairs reports flags that exclude each other.
func checkPairs(in invocation) error {
	for _, p := range [...][2]string{
		{"system-prompt", "system-prompt-file"},
		{"append-system-prompt", "append-system-prompt-file"},
		{"thinking", "max-thinking-tokens"},
	} {
		if in.given[p[0]] && in.given[p[1]] {
			return setup.Errorf("--%s and --%s cannot be used together", p[0], p[1])
		}
	}
	return nil
}

// run runs the turns that the command line, the user or the host asks for.
func (o *runOptions) run(ctx context.Context, env *Env, in invocation) (err error) {
	if err := o.check(in); err != nil {
		return err
	}
	if o.asker != "" && o.input != inputStream {
		in.notes = append(in.notes, "--permission-prompt-tool has no effect without --input-format stream-json")
	}
	if o.rewind != "" {
		return o.rewindFiles(ctx, env)
	}
	single := o.print || !env.StdinTerminal || !env.StdoutTerminal || o.input == inputStream
	switch {
	case !single && (in.given["output-format"] || in.given["input-format"]):
		return setup.Errorf("--output-format and --input-format need -p at a terminal")
	case single && o.pick:
		return setup.Errorf("--resume without a value needs a terminal to show a list; give the id or title of the session (adze sessions list shows them)")
	case !single:
		o.spec.Entry, o.spec.Access.Asks = wire.Interactive, true
	case o.input == inputStream:
		o.spec.Entry, o.project.Hosted = wire.Host, true
		o.spec.Access.Asks = o.asker == askHost
	}
	if o.spec.Prompt, err = o.prompt.spec(); err != nil {
		return err
	}
	if o.spec.Schema, err = o.readSchema(in); err != nil {
		return err
	}
	// A long conversation is mostly one large buffer and the texts it was made from: collecting garbage more
	// often costs little and lowers the peak.
	debug.SetGCPercent(75)
	stop, err := serveProfiles(o.profiling, env.Say)
	if err != nil {
		return err
	}
	defer stop()
	if o.spec.Entry == wire.Interactive {
		return o.interact(ctx, env, in)
	}
	return o.headless(ctx, env, in)
}

// readSchema returns the schema of --json-schema, which is JSON or a file.
func (o *runOptions) readSchema(in invocation) ([]byte, error) {
	if !in.given["json-schema"] || strings.HasPrefix(strings.TrimSpace(o.schema), "{") {
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

// maxPrompt bounds the text on standard input, in bytes.
const maxPrompt = 10 << 20

// readPrompt returns the prompt: the text on standard input, then that of the arguments.
func readPrompt(ctx context.Context, env *Env, args []string) (string, error) {
	text := strings.Join(args, " ")
	if !env.StdinTerminal {
		piped, err := readStdin(ctx, env)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(piped) != "" {
			text = strings.TrimRight(piped, "\n") + "\n\n" + text
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", setup.Errorf("no prompt given; use adze -p \"your prompt\", or pipe it to stdin")
	}
	return text, nil
}

// patience is how long to wait for standard input before telling the user about it.
const patience = 3 * time.Second

// readStdin reads all of standard input, but no longer than ctx lasts.
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
			return string(r.data), nil
		case <-slow.C:
			env.Say("waiting for stdin to end; to send only the prompt, add </dev/null")
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
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
