package settings

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"adze/internal/agent/compact"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/permission/confine"
	"adze/internal/permission/judge"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings/config"
	"adze/internal/tool/command"
)

// Values holds the current settings, decoded. Each part of the program gets its own section.
type Values struct {
	Model       Model
	Prompt      Prompt
	Window      Window
	Memory      Memory
	Loop        Loop
	Files       Files
	Search      Search
	Shell       Shell
	Web         Web
	Sandbox     confine.Settings
	Hooks       Hooks
	Permissions Permissions
	Plan        Plan
	Transcript  Transcript
	WebSearch   WebSearch
	Display     Display
	Input       Input
	// PluginOptions holds the options of plugins by plugin, as JSON.
	PluginOptions json.RawMessage
	MCP           MCP
	Languages     Languages
	Skills        Skills
	Update        Update
	// StateEvents notifies hosts when a session becomes idle, runs or waits for an answer.
	StateEvents bool
	// Size selects the system prompt. [Project.Values] resolves auto.
	Size PromptSize
	// Env holds the variables for programs started by adze.
	Env []config.Var
}

// A PromptSize selects the instructions and tools of a request.
type PromptSize string

// Prompt sizes. AutoPrompt is small in a narrow context window, and full otherwise.
const (
	AutoPrompt   PromptSize = "auto"
	SmallPrompt  PromptSize = "small"  // three lines and three tools
	MediumPrompt PromptSize = "medium" // short instructions, file and command tools
	FullPrompt   PromptSize = "full"
)

// Reduced reports whether skills, memory, agents and other extensions are omitted.
func (s PromptSize) Reduced() bool { return s == SmallPrompt || s == MediumPrompt }

func promptSize(s *config.Settings) PromptSize {
	if s.Bool("ADZE_SIMPLE") {
		return SmallPrompt
	}
	return PromptSize(s.Text("promptSize"))
}

// A Value is a string with its origin, which is empty for a default.
type Value struct{ Text, Origin string }

func value(s *config.Settings, id string) Value { return Value{s.Text(id), s.Origin(id)} }

// A Model section configures the models.
type Model struct {
	Name, Fallback, Small string // unresolved names; empty means the default
	Effort                model.Effort
	Ultra                 bool // a keyword in a prompt raises the effort
	MaxOutput             int  // tokens per response; 0 means the model's limit
	// ThinkingBudget applies only if Budgeted is set; 0 disables thinking.
	ThinkingBudget int
	Budgeted       bool
	SendMetadata   bool
	// CostWarning is the session cost at which the user is warned, in US dollars; 0 means
	// never.
	CostWarning float64
}

// A Prompt section configures the system prompt.
type Prompt struct {
	Language       string // prompt language
	Answer         string // language of the model's answers; may be empty
	Style          string // output style
	Agent          string // agent of the main conversation; may be empty
	Explained      bool
	Attribution    bool
	NoCache        bool
	CacheHour      []string // request sources that are cached for an hour
	NoInstructions bool
	Excludes       []string // instruction files to skip
	StatusWait     time.Duration
}

// A Window section configures context window management.
type Window struct {
	Auto         bool
	Percent      int
	ReactiveOnly bool
	Micro        compact.ClearPolicy
	Notes        bool
	KeepNoted    compact.KeepPolicy
	Snip         bool
	Collapse     bool
}

// A Memory section configures memories.
type Memory struct {
	Enabled             bool
	Disabled            bool // disabled by the environment
	Extract             bool // a fork saves memories the model missed
	Dream               bool // periodic consolidation
	Directory, Override Value
}

// A Loop section limits the work of a turn.
type Loop struct {
	Concurrency int
	AfterStream bool // calls start after the response has ended
	Labels      bool // the small model labels calls
	Monitor     bool // the model can watch commands
	NamedBudget bool // a prompt can set its turn's token budget
	Schedule    Schedule
	Tasks       Tasks
	Worktree    Worktree
	Agents      Agents
	Teams       Teams
}

// A Tasks section configures the task list.
type Tasks struct {
	Shared bool   // several sessions can share a list
	List   string // list named by the environment; may be empty
	Team   string // team whose list is used otherwise; may be empty
}

// A Worktree section configures worktrees, and whether the model can enter one.
type Worktree struct {
	Tools         bool
	Links, Sparse []string // directories to link, and for sparse checkout
}

// A Teams section configures agent teams.
type Teams struct {
	Enabled bool
	// Backend is where teammates run: auto, in-process or tmux.
	Backend string
}

// An Agents section configures sub-agents.
type Agents struct {
	// Fork makes an agent without a type a fork of the conversation.
	Fork bool
	// Most is the maximum number of concurrent agents; MaxTurns and Limit bound each of them. 0
	// means no limit.
	Most, MaxTurns int
	Limit          time.Duration
	// Wait is how long to wait for a foreground agent before moving it to the background; 0
	// means indefinitely.
	Wait time.Duration
	// Coordinator requests coordinator mode, in which the main agent only directs others, and
	// Coordination allows it.
	Coordinator, Coordination bool
	// Summaries enables periodic one-line summaries of each agent's activity.
	Summaries bool
	// Verify requires a verdict from the verification agent on larger changes.
	Verify bool
}

// A Schedule section configures scheduled prompts.
type Schedule struct {
	Enabled bool
	Tools   bool          // the model can schedule prompts
	MaxAge  time.Duration // maximum age of recurring prompts
}

// An Update section configures adze update.
type Update struct {
	URL     string // of the releases; "" means the built-in one
	Channel string
	Check   bool   // look for newer versions
	Minimum string // the oldest version that may be used; may be ""
}

// A Files section configures the file tools.
type Files struct {
	MaxBytes     int64
	MaxTokens    int
	Repeat       bool     // show unchanged files again
	Remind       bool     // remind the model about malware
	Exempt       []string // models that get no reminder
	AllowCovered bool
	History      bool
	// Gitignore excludes ignored files from suggestions.
	Gitignore bool
}

// A Search section configures the search engine.
type Search struct {
	Engine  string
	Builtin bool
	Timeout time.Duration
}

// A Shell section configures the tools that run commands.
type Shell struct {
	Timeout, MaxTimeout time.Duration
	Budget              time.Duration // foreground time; 0 means until the timeout
	Wait                time.Duration // wait for background commands at the end of a headless turn
	MaxChars            int
	NoBackground        bool
	DropSecrets         bool
	PassEnv             []string
	// KeyEnv lists the variables holding the keys of the user's own providers. They are
	// withheld from commands.
	KeyEnv []string
	// Attribution holds the trailers for commit messages and pull requests.
	Attribution command.Attribution
}

// A Web section configures the web tools.
type Web struct {
	Offline      bool
	PrivateHosts []string
	DomainCheck  string
}

// A Hooks section holds the hooks and their policy.
type Hooks struct {
	Sources    []hook.Source
	Policy     hook.Policy
	EndTimeout time.Duration
}

// A Permissions section holds rules, directories and modes.
type Permissions struct {
	Rules          []rule.Rule
	Directories    []string
	ManagedOnly    bool
	Mode           Value
	BypassDisabled bool
	AutoDisabled   bool
	Auto           judge.Rules // the user's rules for auto mode
	InSandbox      bool        // IS_SANDBOX is set
}

// A Plan section configures plan mode.
type Plan struct {
	Restrained bool
	Directory  string
}

// A Transcript section configures session storage.
type Transcript struct {
	Never   bool // store nothing
	Cleanup int  // days until sessions are removed; 0 means never
	NoSync  bool
	Titles  bool // the small model names sessions
}

// A Display section configures what is shown at a terminal.
type Display struct {
	UI           string // front end
	Theme        string
	Thinking     bool
	Still        bool // nothing moves
	Tips         bool
	StatusLine   string // command that prints it; may be empty
	Feedback     string // URL
	PullRequests bool   // show the branch's pull request
}

// An Input section configures the input line.
type Input struct {
	Vim    bool
	Escape string // keys that leave vim's insert mode
}

// A WebSearch section configures web search.
type WebSearch struct {
	Adapter, BraveKey string
	Small             bool // search with the small model
	Page              bool // allow scraping a search engine's result page
	PageURL, Market   string
	Headers           http.Header
}

// An MCP section configures MCP servers and deferred tools.
type MCP struct {
	Timeout, CallTimeout time.Duration // limits for connecting, and for a call without progress
	Batch, RemoteBatch   int           // concurrent connection attempts
	MaxOutput            int           // tokens per result
	// InSystem puts server instructions into the system prompt.
	InSystem bool
	Sampling []string // servers that may query the model
	Channels []string // servers that may push messages
	Skills   bool     // skill resources become commands
	Editor   bool     // connect to the editor when at a terminal
	// Approved and Rejected list a trusted project's servers that are used without a question, or
	// not at all; AllApproved approves the others.
	Approved, Rejected []string
	AllApproved        bool
	Extra              Extra
}

// A Languages section configures language servers.
type Languages struct {
	Enabled bool
	Wait    time.Duration   // limit for an edit's result
	Servers json.RawMessage // definitions by name
}

// An Extra section configures deferred tools.
type Extra struct {
	Mode    Value    // unparsed; empty means always
	Never   bool     // overrides Mode
	Ignored []string // servers whose always-load requests are ignored
}

// A Skills section configures the skill listing.
type Skills struct {
	Budget int    // list size in characters; 0 means 1 % of the context window
	Search string // searchable: auto, always or never
	// NoShell disables commands in skill prompts, and Markets lists the marketplaces whose
	// skills need no confirmation.
	NoShell   bool
	NoBundled bool // omit built-in skills
	Markets   []string
	Remote    []string // URLs to fetch skills from
}

// headers converts a JSON object of names and values to headers.
func headers(object json.RawMessage) http.Header {
	var values map[string]string
	if json.Unmarshal(object, &values) != nil { // ok: unset or invalid
		return nil
	}
	h := http.Header{}
	for name, value := range values {
		h.Set(name, value)
	}
	return h
}

// Decode decodes settings.
func Decode(s *config.Settings) *Values {
	return &Values{
		WebSearch: WebSearch{
			Adapter: s.Text("webSearch.adapter"), BraveKey: s.Text("ADZE_BRAVE_API_KEY"), Small: s.Text("webSearch.model") == "small",
			Page: s.Bool("webSearch.html.enabled"), PageURL: s.Text("webSearch.html.url"), Market: s.Text("webSearch.html.market"),
			Headers: headers(s.Object("webSearch.html.headers")),
		},
		Model: Model{
			Name: s.Text("model"), Fallback: s.Text("fallbackModel"), Small: s.Text("ADZE_SMALL_MODEL"),
			Effort: model.Effort(s.Text("effort")), Ultra: s.Bool("ultrathink"), MaxOutput: s.Int("ADZE_MAX_OUTPUT_TOKENS"),
			ThinkingBudget: s.Int("ADZE_MAX_THINKING_TOKENS"), Budgeted: s.Origin("ADZE_MAX_THINKING_TOKENS") != "",
			SendMetadata: s.Bool("sendMetadata"), CostWarning: s.Float("costWarningUsd"),
		},
		Prompt: Prompt{
			Language: s.Text("promptLanguage"), Answer: s.Text("language"), Style: s.Text("outputStyle"), Agent: s.Text("agent"), Explained: s.Text("communication") == "explained",
			Attribution: s.Bool("attributionHeader"), NoCache: s.Bool("ADZE_DISABLE_PROMPT_CACHING"), CacheHour: s.Strings("cache1h"),
			NoInstructions: s.Bool("ADZE_DISABLE_INSTRUCTIONS"), Excludes: s.Strings("instructionExcludes"),
			StatusWait: milliseconds(s, "ADZE_GIT_STATUS_WAIT_MS"),
		},
		Window: Window{
			Auto: s.Bool("autoCompact"), Percent: s.Int("autoCompactPercent"), ReactiveOnly: s.Bool("reactiveCompactOnly"),
			Micro: compact.ClearPolicy{
				Keep: s.Int("microCompact.keepResults"), Total: s.Int("microCompact.maxTokens"),
				Gain: s.Int("microCompact.minGainTokens"), Idle: time.Duration(s.Int("microCompact.idleMinutes")) * time.Minute,
			},
			Notes: s.Bool("sessionMemory.enabled"),
			KeepNoted: compact.KeepPolicy{
				MinTokens: s.Int("sessionMemoryCompact.minTokens"), MinTexts: s.Int("sessionMemoryCompact.minTextMessages"),
				MaxTokens: s.Int("sessionMemoryCompact.maxTokens"),
			},
			Snip: s.Bool("snip.enabled"), Collapse: s.Bool("contextCollapse.enabled"),
		},
		Memory: Memory{
			Enabled: s.Bool("autoMemoryEnabled"), Disabled: s.Bool("ADZE_DISABLE_MEMORY"),
			Extract: s.Bool("memoryExtraction"), Dream: s.Bool("memoryDream"),
			Directory: value(s, "autoMemoryDirectory"), Override: value(s, "ADZE_MEMORY_PATH_OVERRIDE"),
		},
		Loop: Loop{Labels: s.Bool("toolUseSummaries"), Concurrency: s.Int("ADZE_MAX_TOOL_CONCURRENCY"), AfterStream: !s.Bool("ADZE_STREAMING_TOOLS"),
			Monitor: s.Bool("experimental.monitor"), NamedBudget: s.Bool("experimental.tokenBudget"),
			Tasks:    Tasks{Shared: s.Bool("tasks.shared"), List: s.Text("ADZE_TASK_LIST_ID"), Team: s.Text("ADZE_TEAM_NAME")},
			Schedule: Schedule{Enabled: s.Bool("schedule.enabled") && !s.Bool("ADZE_DISABLE_CRON"), Tools: s.Bool("schedule.tools"), MaxAge: time.Duration(s.Int("schedule.days")) * 24 * time.Hour},
			Worktree: Worktree{Tools: s.Bool("worktree.tools"), Links: s.Strings("worktree.symlinkDirectories"), Sparse: s.Strings("worktree.sparsePaths")},
			Teams:    Teams{Enabled: s.Bool("teams.enabled"), Backend: s.Text("teammateMode")},
			Agents: Agents{
				Fork: s.Bool("agents.fork"), Summaries: s.Bool("agents.summaries"), Most: s.Int("agents.max"), MaxTurns: s.Int("agents.maxTurns"), Limit: milliseconds(s, "agents.timeoutMs"),
				Wait: milliseconds(s, "autoBackgroundMs"), Coordinator: s.Bool("ADZE_COORDINATOR_MODE"), Coordination: s.Bool("experimental.coordinator"), Verify: s.Bool("verificationAgent"),
			}},
		Update: Update{URL: s.Text("update.url"), Channel: s.Text("update.channel"), Check: s.Bool("update.check"), Minimum: s.Text("update.minimumVersion")},
		Files: Files{
			MaxBytes: int64(s.Int("read.maxBytes")), MaxTokens: s.Int("read.maxTokens"), Repeat: !s.Bool("read.dedup"),
			Remind: s.Bool("read.malwareReminder"), Exempt: s.Strings("read.malwareReminderExempt"), AllowCovered: s.Bool("edit.allowCovered"),
			History: s.Bool("fileHistory.enabled"), Gitignore: s.Bool("respectGitignore"),
		},
		Search: Search{
			Engine: s.Text("search.engine"), Builtin: s.Bool("ADZE_USE_BUILTIN_RIPGREP"), Timeout: milliseconds(s, "search.timeoutMs"),
		},
		Shell: Shell{
			Timeout: milliseconds(s, "shell.defaultTimeoutMs"), MaxTimeout: milliseconds(s, "shell.maxTimeoutMs"),
			Budget: milliseconds(s, "shell.blockingBudgetMs"), Wait: milliseconds(s, "shell.backgroundWaitMs"), MaxChars: s.Int("shell.maxOutputChars"),
			NoBackground: s.Bool("ADZE_DISABLE_BACKGROUND_TASKS"),
			DropSecrets:  s.Bool("ADZE_SUBPROCESS_ENV_SCRUB"), PassEnv: s.Strings("shell.passEnv"), KeyEnv: keyEnv(s),
			Attribution: attribution(s),
		},
		Sandbox: confine.Settings{
			Enabled:          s.Bool("sandbox.enabled"),
			Required:         s.Bool("sandbox.failIfUnavailable"),
			AutoAllow:        s.Bool("sandbox.autoAllowBashIfSandboxed"),
			AllowUnsandboxed: s.Bool("sandbox.allowUnsandboxedCommands"),
			Excluded:         s.Strings("sandbox.excludedCommands"),
			AllowWrite:       s.Strings("sandbox.filesystem.allowWrite"),
			DenyWrite:        s.Strings("sandbox.filesystem.denyWrite"),
			DenyRead:         s.Strings("sandbox.filesystem.denyRead"),
			AllowedDomains:   s.Strings("sandbox.network.allowedDomains"),
			DeniedDomains:    s.Strings("sandbox.network.deniedDomains"),
			PassEnv:          s.Strings("shell.passEnv"),
		},
		Languages: Languages{
			Enabled: s.Bool("languageServers.enabled"), Wait: milliseconds(s, "languageServers.waitMs"), Servers: s.Object("languageServers.servers"),
		},
		MCP: MCP{
			Timeout: milliseconds(s, "ADZE_MCP_TIMEOUT"), CallTimeout: milliseconds(s, "ADZE_MCP_TOOL_TIMEOUT"),
			Batch: s.Int("ADZE_MCP_SERVER_CONNECTION_BATCH_SIZE"), RemoteBatch: s.Int("ADZE_MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE"),
			MaxOutput: s.Int("ADZE_MAX_MCP_OUTPUT_TOKENS"), InSystem: !s.Bool("mcpInstructionsDelta"), Sampling: s.Strings("mcpSampling"), Channels: s.Strings("mcpChannels"), Editor: s.Bool("autoConnectIde"), Skills: s.Bool("experimental.mcpSkills"),
			Approved: s.Strings("enabledMcpjsonServers"), Rejected: s.Strings("disabledMcpjsonServers"), AllApproved: s.Bool("enableAllProjectMcpServers"),
			Extra: Extra{Mode: value(s, "tools.deferral"), Never: s.Bool("ADZE_DISABLE_EXPERIMENTAL_BETAS"), Ignored: s.Strings("tools.ignoreAlwaysLoad")},
		},
		Skills: Skills{
			Budget: s.Int("ADZE_SKILL_CHAR_BUDGET"), Search: s.Text("skillSearch"),
			NoShell: s.Bool("disableSkillShellExecution"), NoBundled: s.Bool("disableBundledSkills"), Markets: s.Strings("trustedMarketplaces"), Remote: s.Strings("remoteSkills"),
		},
		Web:         webSection(s),
		Hooks:       hooks(s),
		Permissions: permissions(s),
		Plan:        Plan{Restrained: s.Text("planEagerness") == "restrained", Directory: s.Text("plansDirectory")},
		Transcript: Transcript{
			Titles:  s.Bool("sessionTitles"),
			Never:   s.Bool("ADZE_SKIP_TRANSCRIPT") || s.Int("cleanupPeriodDays") == 0 && s.Origin("cleanupPeriodDays") != "",
			Cleanup: s.Int("cleanupPeriodDays"), NoSync: s.Bool("ADZE_NO_FSYNC"),
		},
		Display: Display{
			UI: s.Text("ui"), Theme: s.Text("theme"), Thinking: s.Bool("showThinking"), Still: s.Bool("reducedMotion"), Tips: s.Bool("tips"),
			StatusLine: s.Text("statusLine.command"), Feedback: s.Text("feedbackUrl"), PullRequests: s.Bool("pullRequestStatus"),
		},
		PluginOptions: s.Object("pluginConfigs"),
		Input:         Input{Vim: s.Text("editorMode") == "vim", Escape: s.Text("vimEscape")},
		StateEvents:   s.Bool("ADZE_EMIT_SESSION_STATE_EVENTS"),
		Size:          promptSize(s), Env: programVars(s),
	}
}

func webSection(s *config.Settings) Web {
	w := Web{
		Offline: s.Bool("ADZE_OFFLINE"), DomainCheck: s.Text("webFetch.domainCheckUrl"),
		PrivateHosts: s.Strings("webFetch.allowedPrivateHosts"),
	}
	if s.Bool("webFetch.skipDomainCheck") {
		w.DomainCheck = ""
	}
	return w
}

// programVars returns the variables for programs. Provider addresses from workspace files are
// removed, because a program started by the user, such as a hook, may have the key.
func programVars(s *config.Settings) []config.Var {
	addresses := Addresses()
	return slices.DeleteFunc(slices.Clone(s.Env()), func(v config.Var) bool {
		return (v.Scope == scope.Local || v.Scope == scope.Project) && slices.ContainsFunc(addresses, func(id string) bool {
			k, _ := s.Key(id) // ok: an unknown key has no variables
			return slices.Contains(k.Env, v.Name)
		})
	})
}

func milliseconds(s *config.Settings, key string) time.Duration {
	return time.Duration(s.Int(key)) * time.Millisecond
}

func hooks(s *config.Settings) Hooks {
	h := Hooks{
		EndTimeout: milliseconds(s, "ADZE_SESSIONEND_HOOKS_TIMEOUT_MS"),
		Policy: hook.Policy{
			Disable:     s.Bool("disableAllHooks"),
			ManagedOnly: s.Bool("allowManagedHooksOnly"),
			InHook:      s.Bool("ADZE_IN_HOOK"),
		},
	}
	from, set := s.ScopeOf("disableAllHooks")
	h.Policy.DisableManaged = h.Policy.Disable && set && from == scope.Managed
	if s.Origin("allowedHttpHookUrls") != "" {
		h.Policy.AllowedURLs = append([]string{}, s.Strings("allowedHttpHookUrls")...)
	}
	// An untrusted workspace's hooks are not among the parts.
	for _, p := range s.Parts("hooks") {
		h.Sources = append(h.Sources, hook.Source{
			Name: p.Scope.String(), Scope: p.Scope, File: p.File, JSON: p.JSON, Workspace: p.Scope == scope.Project, Trusted: true,
		})
	}
	return h
}

func permissions(s *config.Settings) Permissions {
	p := Permissions{
		ManagedOnly:    s.Bool("allowManagedPermissionRulesOnly"),
		Mode:           value(s, "permissions.defaultMode"),
		BypassDisabled: s.Text("permissions.disableBypassPermissionsMode") == "disable",
		AutoDisabled:   s.Text("permissions.disableAutoMode") == "disable",
		Auto:           judge.Rules{Allow: s.Strings("autoMode.allow"), Block: s.Strings("autoMode.soft_deny"), Environment: s.Strings("autoMode.environment")},
		InSandbox:      s.Bool("IS_SANDBOX"),
	}
	for _, set := range s.Rules() {
		r := rule.Unreadable(set.Text)
		if !set.Broken {
			r, _ = rule.Parse(set.Text) // ok: the rule carries its own error
		}
		r.Behavior, r.Scope = permission.Behavior(set.Behavior), set.Scope
		r.File, r.Line, r.Base = set.File, set.Line, set.Dir
		p.Rules = append(p.Rules, r)
	}
	for _, d := range s.Directories() {
		p.Directories = append(p.Directories, d.Path)
	}
	return p
}

// keyEnv returns the variables holding the keys of the user's own providers.
func keyEnv(s *config.Settings) (names []string) {
	raw := s.Object("providers")
	if len(raw) == 0 {
		return nil
	}
	var rows map[string]json.RawMessage
	json.Unmarshal(raw, &rows) // ok: opening providers reports errors
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		var row struct {
			APIKeyEnv string `json:"apiKeyEnv"`
		}
		json.Unmarshal(rows[name], &row) // ok: likewise
		if row.APIKeyEnv != "" {
			names = append(names, row.APIKeyEnv)
		}
	}
	return names
}
