package hook

import "time"

// A Name is an event's name in settings and hooks.
type Name string

// The events.
const (
	SessionStart       Name = "SessionStart"
	SessionEnd         Name = "SessionEnd"
	Setup              Name = "Setup"
	UserPromptSubmit   Name = "UserPromptSubmit"
	Stop               Name = "Stop"
	StopFailure        Name = "StopFailure"
	Notification       Name = "Notification"
	PreToolUse         Name = "PreToolUse"
	PostToolUse        Name = "PostToolUse"
	PostToolUseFailure Name = "PostToolUseFailure"
	PermissionRequest  Name = "PermissionRequest"
	PermissionDenied   Name = "PermissionDenied"
	SubagentStart      Name = "SubagentStart"
	SubagentStop       Name = "SubagentStop"
	PreCompact         Name = "PreCompact"
	PostCompact        Name = "PostCompact"
	TeammateIdle       Name = "TeammateIdle"
	TaskCreated        Name = "TaskCreated"
	TaskCompleted      Name = "TaskCompleted"
	Elicitation        Name = "Elicitation"
	ElicitationResult  Name = "ElicitationResult"
	ConfigChange       Name = "ConfigChange"
	CwdChanged         Name = "CwdChanged"
	FileChanged        Name = "FileChanged"
	InstructionsLoaded Name = "InstructionsLoaded"
	WorktreeCreate     Name = "WorktreeCreate"
	WorktreeRemove     Name = "WorktreeRemove"
)

// A blockEffect is the effect a blocking hook has on its event.
type blockEffect uint8

const (
	shown   blockEffect = iota // none: its reason is shown to the user
	blocks                     // the event does not happen, or the model continues working
	refuses                    // the call does not run
	toModel                    // the model receives its reason
)

// A kind holds an event's fixed properties.
type kind struct {
	name    Name
	matches string // input field for matchers, or empty
	reach   blockEffect
	// guard means that hooks run before a call: a broken hook must not let the call through.
	guard bool
	// tool means that the event is about a call, so that hooks may have conditions.
	tool bool
	// plain means that non-JSON standard output is context for the model.
	plain bool
	// alone means that nothing waits for the hooks, so that they cannot ask the user.
	alone bool
	// envFile means that the hook may set variables for later commands.
	envFile bool
	// timeout is the default for command hooks; 0 means [defaultTimeout].
	timeout time.Duration
	// fields lists the members of hookSpecificOutput, for error messages.
	fields string
}

const (
	contextField   = "additionalContext?: string"
	watchField     = "watchPaths?: string[]"
	elicitedFields = `action?: "accept"|"decline"|"cancel", content?: object`
)

// kinds lists all events in display order. Settings may name each of them; events of
// unimplemented features are never fired and have no constructor.
var kinds = [...]kind{
	{name: SessionStart, matches: "source", plain: true, envFile: true, fields: contextField + ", initialUserMessage?: string, " + watchField},
	{name: SessionEnd, matches: "reason", alone: true},
	{name: Setup, matches: "trigger", envFile: true, fields: contextField},
	{name: UserPromptSubmit, reach: blocks, plain: true, timeout: 30 * time.Second, fields: contextField},
	{name: Stop, reach: blocks},
	{name: StopFailure, matches: "error"},
	{name: Notification, matches: "notification_type", alone: true, fields: contextField},
	{name: PreToolUse, matches: "tool_name", reach: refuses, guard: true, tool: true,
		fields: `permissionDecision?: "allow"|"deny"|"ask", permissionDecisionReason?: string, updatedInput?: object, ` + contextField},
	{name: PostToolUse, matches: "tool_name", reach: toModel, tool: true, fields: contextField + ", updatedToolOutput?: any"},
	{name: PostToolUseFailure, matches: "tool_name", reach: toModel, tool: true, fields: contextField},
	{name: PermissionRequest, matches: "tool_name", reach: refuses, guard: true, tool: true,
		fields: `decision?: {behavior: "allow", updatedInput?: object, updatedPermissions?: array} | {behavior: "deny", message?: string, interrupt?: boolean}`},
	{name: PermissionDenied, matches: "tool_name", tool: true, fields: "retry?: boolean"},
	{name: SubagentStart, matches: "agent_type", fields: contextField},
	{name: SubagentStop, matches: "agent_type", reach: blocks},
	{name: PreCompact, matches: "trigger", reach: blocks, plain: true, fields: contextField},
	{name: PostCompact, matches: "trigger", plain: true, fields: contextField},
	{name: TeammateIdle, reach: blocks},
	{name: TaskCreated, reach: blocks},
	{name: TaskCompleted, reach: blocks},
	{name: Elicitation, matches: "mcp_server_name", reach: blocks, fields: elicitedFields},
	{name: ElicitationResult, matches: "mcp_server_name", reach: blocks, fields: elicitedFields},
	{name: ConfigChange, matches: "source", reach: blocks},
	{name: CwdChanged, envFile: true, fields: watchField},
	{name: FileChanged, matches: "file_path", envFile: true, fields: watchField},
	{name: InstructionsLoaded, matches: "load_reason"},
	{name: WorktreeCreate, fields: "worktreePath?: string"},
	{name: WorktreeRemove},
}

func kindOf(n Name) (kind, bool) {
	for _, k := range kinds {
		if k.name == n {
			return k, true
		}
	}
	return kind{name: n}, false
}

// Names returns the names of all events.
func Names() []Name {
	names := make([]Name, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}
