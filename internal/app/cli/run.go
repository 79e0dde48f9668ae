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

// runOptions are the flags of a run: a conversation, a single turn, or what a host drives.
type runOptions struct {
	project settings.Source
	spec    wire.Spec
	prompt  promptText

	print, verbose, hookEvents bool
	plain                      bool // no line editing and no colours
	output                     headless.Format
	input                      string
	schema                     string // of structured output, or its file
	asker                      string // who is asked about calls
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

// flags are all that clients may give, supported or not.
func (o *runOptions) flags() []flag { return append(o.supported(), missingFlags()...) }

// supported are the flags in the order of the help text.
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
		{name: "verbose", doc: "say what is being done", set: setBool(&o.verbose)},
		{name: "include-partial-messages", doc: "add the provider's own events to stream-json", set: setBool(&o.spec.Raw)},
		{name: "include-hook-events", doc: "add what hooks do to stream-json", set: setBool(&o.hookEvents)},
		{name: "replay-user-messages", doc: "add the prompts to stream-json when they are stored", set: setBool(&o.replay)},
		{name: "json-schema", value: "SCHEMA|FILE", doc: "end each turn in a value that fits this JSON Schema; it is the structured_output of the result",
			set: setText(&o.schema)},
	}
	table = append(table, modelFlags(&o.spec.Model)...)
	table = append(table, promptFlags(&o.prompt)...)
	table = append(table,
		flag{name: "disable-slash-commands", doc: "without a terminal, treat commands such as /compact as prompts", set: setBool(&o.noCommands)},
		bareFlag(&o.spec.Bare))
	table = append(table, accessFlags(&o.spec.Access)...)
	table = append(table, flag{name: "permission-prompt-tool", value: "NAME", doc: "who is asked about calls; stdio means the host, over --input-format stream-json",
		set: func(v string) error {
			if v != askHost {
				return fmt.Errorf("%q is not %s; tools of MCP servers cannot be asked in this version", v, askHost)
			}
			o.asker = v
			return nil
		}})
	table = append(table, limitFlags(&o.spec.Limits)...)
	table = append(table, o.sessionFlags()...)
	table = append(table, projectFlags(&o.project)...)
	table = append(table, debugFlags(&o.spec.Debug)...)
	return append(table,
		flag{name: "pprof", value: "ADDRESS", doc: "serve profiles of the program at an address of this machine, such as 127.0.0.1:6060",
			set: func(v string) error { o.profiling = v; return checkLoopback(v) }},
		flag{name: "version", short: "v", doc: "print the version", set: setBool(&o.version)},
		flag{name: "help", short: "h", doc: "print this help", set: setBool(&o.help)},
	)
}

func (o *runOptions) sessionFlags() []flag {
	s := &o.spec.Session
	return append(newSessionFlags(s), []flag{
		{name: "continue", short: "c", doc: "continue the most recent session of this directory", set: setBool(&s.Latest)},
		{name: "resume", short: "r", value: "SESSION", bare: true, doc: "continue an earlier session: its id, its title or its file; alone, at a terminal, it offers a list",
			set: func(v string) error { s.Resume, o.pick = v, v == ""; return nil }},
		{name: "resume-session-at", value: "ID", doc: "with --resume, continue after this message and leave out the later ones", set: setText(&s.At)},
		{name: "fork-session", doc: "with --resume or --continue, continue in a copy with an id of its own", set: setBool(&s.Fork)},
		{name: "rewind-files", value: "ID", doc: "with --resume, restore the files to what they were before this message", set: setText(&o.rewind)},
		{name: "force", doc: "with --rewind-files, also restore files that others have changed since", set: setBool(&o.force)},
	}...)
}

// newSessionFlags are those of commands that begin a session.
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
		{name: "no-session-persistence", doc: "write no transcript", set: setBool(&s.Ephemeral)},
	}
}

// missingFlags are those that clients know and this version does not have the part for.
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

// check reports what cannot be meant together.
func (o *runOptions) check(in invocation) error {
	s := o.spec.Session
	switch {
	case s.Latest && (s.Resume != "" || o.pick):
		return setup.Errorf("--continue and --resume cannot be given together; leave one out")
	case s.Fork && !s.Resumes() && !o.pick:
		return setup.Errorf("--fork-session needs --resume or --continue")
	case s.At != "" && s.Resume == "":
		return setup.Errorf("--resume-session-at needs --resume with the session")
	case s.ID != "" && (s.Resumes() || o.pick) && !s.Fork:
		return setup.Errorf("--session-id gives a new session its id; with --resume or --continue it needs --fork-session")
	case o.rewind != "" && s.Resume == "":
		return setup.Errorf("--rewind-files needs --resume with the id of the session")
	case o.force && o.rewind == "":
		return setup.Errorf("--force belongs to --rewind-files")
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
	case o.input == inputStream && len(in.args) > 0:
		return setup.Errorf("with --input-format stream-json prompts come from stdin; leave out %q", in.args[0])
	case m.Fallback != "" && m.Fallback == m.Name:
		return setup.Errorf("--fallback-model %s is the main model; name another one", m.Fallback)
	case o.spec.Access.Skip && in.given["permission-mode"] && o.spec.Access.Mode != string(permission.Bypass):
		return setup.Errorf("--dangerously-skip-permissions contradicts --permission-mode %s; leave one out", o.spec.Access.Mode)
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
			return setup.Errorf("--%s and --%s cannot be given together; leave one out", p[0], p[1])
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
		return setup.Errorf("--output-format and --input-format at a terminal need -p")
	case single && o.pick:
		return setup.Errorf("--resume alone offers a list, which needs a terminal; name the session by its id or its title (adze sessions list shows them)")
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
	// A long conversation is mostly one large buffer and the texts it was made of: collecting garbage more often
	// costs little and keeps the peak down.
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
		return "", setup.Errorf("there is no prompt; write adze -p \"your prompt\", or pipe it in")
	}
	return text, nil
}

// patience is how long an input may be silent before the user is told what is waited for.
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
				return "", setup.Errorf("the text on stdin is longer than %d MB; put it into a file and name the file in the prompt", maxPrompt>>20)
			}
			return string(r.data), nil
		case <-slow.C:
			env.Say("waiting for the end of stdin; to send no more than the prompt, add </dev/null")
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
