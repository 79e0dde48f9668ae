package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/platform/scope"
	"adze/internal/ui/headless"
)

// Options are what the command line says. The zero value says nothing.
type options struct {
	args  []string        // what is not a flag
	given map[string]bool // flags by name
	notes []string        // flags that have no effect

	print, verbose, partial bool
	plain                   bool // no line editing and no colours
	hookEvents              bool
	output                  headless.Format
	input                   string

	model, fallback, provider string
	effort                    model.Effort
	thinking                  string // adaptive, enabled or disabled
	thinkingTokens            int
	record                    string

	schema string // of structured output, or its file
	asker  string // who is asked about calls
	replay bool   // say when prompts are stored

	system, systemFile, appended, appendedFile string

	allow, deny, tools, dirs []string
	mode                     string
	bypass, bypassAllowed    bool

	maxTurns, tokenBudget int
	maxBudget             float64

	session   string
	resume    string
	pick      bool // which session to resume is to be asked
	latest    bool
	fork      bool
	resumeAt  string
	rewind    string
	force     bool
	ephemeral bool
	settings  string
	managed   string        // further managed settings
	sources   []scope.Scope // which settings are read; nil means all
	scope     string        // whose settings are changed
	// configRoot is where the project's settings are; empty means the working directory
	configRoot string
	trust      bool     // trust the workspace for this run
	noCommands bool     // of a host
	bare       bool     // use nothing that was not asked for
	includes   []string // files outside the project that its instructions may include
	goOn       bool     // without files of settings that cannot be read
	debug      bool
	filter     string
	debugFile  string
	profiling  string // the address where profiles are served

	sessions                      sessionOptions
	json, list, stdin, fast, keep bool
	remove, show, fix             bool
	version, help                 bool
}

// check reports what cannot be meant together.
func (o *options) check() error {
	if o.asker != "" && o.input != inputStream {
		o.notes = append(o.notes, "--permission-prompt-tool has no effect without --input-format stream-json")
	}
	pairs := [...][2]string{
		{"system-prompt", "system-prompt-file"},
		{"append-system-prompt", "append-system-prompt-file"},
		{"thinking", "max-thinking-tokens"},
	}
	switch {
	case o.latest && (o.resume != "" || o.pick):
		return setupErrorf("--continue and --resume cannot be given together; leave one out")
	case o.fork && !o.resumes() && !o.pick:
		return setupErrorf("--fork-session needs --resume or --continue")
	case o.resumeAt != "" && o.resume == "":
		return setupErrorf("--resume-session-at needs --resume with the session")
	case o.session != "" && (o.resumes() || o.pick) && !o.fork:
		return setupErrorf("--session-id gives a new session its id; with --resume or --continue it needs --fork-session")
	case o.rewind != "" && o.resume == "":
		return setupErrorf("--rewind-files needs --resume with the id of the session")
	case o.force && o.rewind == "":
		return setupErrorf("--force belongs to --rewind-files")
	}
	for _, p := range pairs {
		if o.given[p[0]] && o.given[p[1]] {
			return setupErrorf("--%s and --%s cannot be given together; leave one out", p[0], p[1])
		}
	}
	switch {
	case o.output == headless.StreamJSON && !o.verbose:
		return setupErrorf("--output-format stream-json needs --verbose")
	case o.input == inputStream && o.output != headless.StreamJSON:
		return setupErrorf("--input-format stream-json needs --output-format stream-json")
	case o.partial && o.output != headless.StreamJSON:
		return setupErrorf("--include-partial-messages needs --output-format stream-json")
	case o.input == inputStream && len(o.args) > 0:
		return setupErrorf("with --input-format stream-json prompts come from stdin; leave out %q", o.args[0])
	case o.fallback != "" && o.fallback == o.model:
		return setupErrorf("--fallback-model %s is the main model; name another one", o.fallback)
	case o.bypass && o.given["permission-mode"] && o.mode != bypassMode:
		return setupErrorf("--dangerously-skip-permissions contradicts --permission-mode %s; leave one out", o.mode)
	}
	return nil
}

const (
	inputText   = "text"
	inputStream = "stream-json"

	bypassMode = "bypassPermissions"

	askHost = "stdio"
)

// Setters, for the tables of flags.

func setBool(field func(*options) *bool) func(*options, string) error {
	return func(o *options, _ string) error { *field(o) = true; return nil }
}

func setText(field func(*options) *string) func(*options, string) error {
	return func(o *options, v string) error { *field(o) = v; return nil }
}

func setChoice[T ~string](field func(*options) *T, choices ...T) func(*options, string) error {
	return func(o *options, v string) error {
		if !slices.Contains(choices, T(v)) {
			return fmt.Errorf("%q is not one of %s", v, joined(choices))
		}
		*field(o) = T(v)
		return nil
	}
}

func joined[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}

func setCount(field func(*options) *int, least int) func(*options, string) error {
	return func(o *options, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least {
			return fmt.Errorf("%q is not a whole number of at least %d", v, least)
		}
		*field(o) = n
		return nil
	}
}

func setBudget(o *options, v string) error {
	usd, err := strconv.ParseFloat(v, 64)
	if err != nil || !(usd > 0) || usd > 1e9 {
		return fmt.Errorf("%q is not a positive number of US dollars", v)
	}
	o.maxBudget = usd
	return nil
}

// addList appends a value as it is: lists of rules are split by those who know rules.
func addList(field func(*options) *[]string) func(*options, string) error {
	return func(o *options, v string) error {
		*field(o) = append(*field(o), v)
		return nil
	}
}

func setResume(o *options, v string) error {
	o.resume, o.pick = v, v == ""
	return nil
}

func setAsker(o *options, v string) error {
	if v != askHost {
		return fmt.Errorf("%q is not %s; tools of MCP servers cannot be asked in this version", v, askHost)
	}
	o.asker = v
	return nil
}

func setSession(o *options, v string) error {
	if !isUUID(v) {
		return fmt.Errorf("%q is not a UUID, such as 3f2a9c1e-5b7d-4e80-9a61-0c4d8e2f7b13", v)
	}
	o.session = strings.ToLower(v)
	return nil
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

// looksLikeRule reports whether an argument after a list of rules belongs to it: a prompt of several
// words does not.
func looksLikeRule(arg string) bool {
	name, _, content := strings.Cut(arg, "(")
	if name == "" || content && !strings.HasSuffix(arg, ")") {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-*,") == "" && name[0] != '-'
}

func isDir(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && info.IsDir()
}

func setDir(o *options, v string) error {
	if !isDir(v) {
		return fmt.Errorf("%s is not a directory", v)
	}
	abs, err := filepath.Abs(v)
	if err != nil {
		return err
	}
	o.dirs = append(o.dirs, abs)
	return nil
}
