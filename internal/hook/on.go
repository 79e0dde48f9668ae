package hook

import (
	"encoding/json"
	"path/filepath"

	"adze/internal/msg"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// An Event is something that happened or is about to happen. Each kind has a constructor below.
type Event struct {
	Name Name

	value  string // value for matchers
	use    *tool.Use
	fields []field
}

// after returns the title of the ended call, or "". It distinguishes hooks of several calls in
// one message.
func (e Event) after() string {
	if e.use == nil || e.use.Call == nil || e.Name != PostToolUse && e.Name != PostToolUseFailure {
		return ""
	}
	return tool.TitleOf(e.use.Name, e.use.Call)
}

// A field is an input member that only some events have.
type field struct {
	name  string
	value any
}

// OnSessionStart returns the event for the start of a session: source is startup, resume,
// clear, compact or fork.
func OnSessionStart(source, model string) Event {
	return Event{Name: SessionStart, value: source, fields: []field{{"source", source}, {"model", model}}}
}

// OnSessionEnd returns the event for the end of a session: reason is clear, resume, logout,
// prompt_input_exit or other.
func OnSessionEnd(reason string) Event {
	return Event{Name: SessionEnd, value: reason, fields: []field{{"reason", reason}}}
}

// OnUserPromptSubmit returns the event for a submitted prompt.
func OnUserPromptSubmit(prompt string) Event {
	return Event{Name: UserPromptSubmit, fields: []field{{"prompt", prompt}}}
}

// OnStop returns the event fired when the model is about to stop. Active means that a hook has
// already made it continue.
func OnStop(active bool, last string) Event {
	return Event{Name: Stop, fields: []field{{"stop_hook_active", active}, {"last_assistant_message", last}}}
}

// OnSubagentStart returns the event for the start of a sub-agent of a type.
func OnSubagentStart(kind string) Event { return Event{Name: SubagentStart, value: kind} }

// OnSubagentStop returns the event fired when a sub-agent is about to stop; see [OnStop].
// Transcript is the file with its conversation.
func OnSubagentStop(kind string, active bool, last, transcript string) Event {
	return Event{Name: SubagentStop, value: kind, fields: []field{
		{"stop_hook_active", active}, {"last_assistant_message", last}, {"agent_transcript_path", transcript},
	}}
}

// OnStopFailure returns the event for a turn ended by a provider error.
func OnStopFailure(kind, details string) Event {
	return Event{Name: StopFailure, value: kind, fields: []field{{"error", kind}, {"error_details", details}}}
}

// OnPreToolUse returns the event fired before a call is judged.
func OnPreToolUse(u *tool.Use) Event { return onTool(PreToolUse, u) }

// OnPostToolUse returns the event for a successful call.
func OnPostToolUse(u *tool.Use, r *tool.Result) Event {
	var response any = r.Structured
	if response == nil {
		response = msg.PlainText(r.Parts)
	}
	return onTool(PostToolUse, u, field{"tool_response", response})
}

// OnPostToolUseFailure returns the event for a failed or interrupted call.
func OnPostToolUseFailure(u *tool.Use, why string, interrupted bool) Event {
	return onTool(PostToolUseFailure, u, field{"error", why}, field{"is_interrupt", interrupted})
}

// OnPermissionRequest returns the event fired before the user is prompted about a call.
// Suggestions holds the permission updates that would be offered.
func OnPermissionRequest(u *tool.Use, suggestions json.RawMessage) Event {
	if absent(suggestions) {
		suggestions = json.RawMessage("[]")
	}
	return onTool(PermissionRequest, u, field{"permission_suggestions", suggestions})
}

// OnPermissionDenied returns the event for a denied call.
func OnPermissionDenied(u *tool.Use, reason string) Event {
	return onTool(PermissionDenied, u, field{"reason", reason})
}

func onTool(n Name, u *tool.Use, more ...field) Event {
	var input any
	if u.Call != nil {
		input = tool.ObservedInput(u.Call)
	}
	return Event{Name: n, value: u.Name, use: u, fields: append([]field{
		{"tool_name", u.Name}, {"tool_input", input}, {"tool_use_id", u.ID}}, more...)}
}

// OnPreCompact returns the event fired before compaction: trigger is manual or auto.
func OnPreCompact(trigger, instructions string) Event {
	return Event{Name: PreCompact, value: trigger, fields: []field{
		{"trigger", trigger}, {"custom_instructions", instructions}}}
}

// OnPostCompact returns the event fired after compaction.
func OnPostCompact(trigger, summary string) Event {
	return Event{Name: PostCompact, value: trigger, fields: []field{
		{"trigger", trigger}, {"compact_summary", summary}}}
}

// OnNotification returns the event for a notification that something waits for the user: kind
// is its subject.
func OnNotification(kind, title, message string) Event {
	return Event{Name: Notification, value: kind, fields: []field{
		{"message", message}, {"title", title}, {"notification_type", kind}}}
}

// OnTaskCreated returns the event fired before a task is added to the task list.
func OnTaskCreated(id, subject, description string) Event {
	return onTask(TaskCreated, id, subject, description)
}

// OnTaskCompleted returns the event fired before a task in the task list is completed.
func OnTaskCompleted(id, subject, description string) Event {
	return onTask(TaskCompleted, id, subject, description)
}

func onTask(n Name, id, subject, description string) Event {
	return Event{Name: n, fields: []field{{"task_id", id}, {"task_subject", subject}, {"task_description", description}}}
}

// An ElicitRequest is a server's request to the user: for values that fit Schema, or to visit URL.
type ElicitRequest struct {
	Server, Message string
	Schema          json.RawMessage
	URL, ID         string
}

func (a ElicitRequest) mode() string {
	if a.URL != "" {
		return "url"
	}
	return "form"
}

// OnElicitation returns the event fired before a server's request is shown to the user.
func OnElicitation(a ElicitRequest) Event {
	fields := []field{{"mcp_server_name", a.Server}, {"message", a.Message}, {"mode", a.mode()}}
	if a.URL != "" {
		fields = append(fields, field{"url", a.URL})
	} else {
		fields = append(fields, field{"requested_schema", a.Schema})
	}
	return Event{Name: Elicitation, value: a.Server, fields: identified(fields, a.ID)}
}

// OnElicitationResult returns the event fired before the answer to a server is sent. Content
// may be nil.
func OnElicitationResult(a ElicitRequest, action string, content map[string]any) Event {
	fields := []field{{"mcp_server_name", a.Server}, {"mode", a.mode()}, {"action", action}}
	if content != nil {
		fields = append(fields, field{"content", content})
	}
	return Event{Name: ElicitationResult, value: a.Server, fields: identified(fields, a.ID)}
}

// identified adds an elicitation's ID, if it has one.
func identified(fields []field, id string) []field {
	if id == "" {
		return fields
	}
	return append(fields, field{"elicitation_id", id})
}

// OnConfigChange returns the event for a changed settings file.
func OnConfigChange(s scope.Scope, file string) Event {
	source := s.Short() + "_settings"
	return Event{Name: ConfigChange, value: source, fields: []field{{"source", source}, {"file_path", file}}}
}

// OnCwdChanged returns the event for a changed working directory.
func OnCwdChanged(from, to string) Event {
	return Event{Name: CwdChanged, fields: []field{{"old_cwd", from}, {"new_cwd", to}}}
}

// OnFileChanged returns the event for a watched file that has appeared, changed or vanished:
// what is "add", "change" or "unlink".
func OnFileChanged(path, what string) Event {
	return Event{Name: FileChanged, value: filepath.Base(path), fields: []field{{"file_path", path}, {"event", what}}}
}

// OnInstructionsLoaded returns the event for a loaded instructions file.
func OnInstructionsLoaded(file, memory, reason string, globs []string) Event {
	return Event{Name: InstructionsLoaded, value: reason, fields: []field{
		{"file_path", file}, {"memory_type", memory}, {"load_reason", reason}, {"globs", globs}}}
}

// OnWorktreeCreate returns the event requesting a worktree of that name. A hook that creates it
// returns its path.
func OnWorktreeCreate(name string) Event {
	return Event{Name: WorktreeCreate, fields: []field{{"name", name}}}
}

// OnWorktreeRemove returns the event fired before a worktree is removed.
func OnWorktreeRemove(path string) Event {
	return Event{Name: WorktreeRemove, fields: []field{{"worktree_path", path}}}
}

// names returns the names that matchers may use for the event's subject: for a call, the tool's
// name, its former names, and the name of the tool it represents.
func (e Event) names() []string {
	names := []string{e.value}
	if e.use != nil && e.use.Tool != nil {
		names = append(names, e.use.Tool.Traits().Aliases...)
	}
	if e.use != nil && e.use.Call != nil {
		if s, ok := tool.As[tool.AliasOf](e.use.Call); ok {
			names = append(names, s.StandsFor())
		}
	}
	return names
}

// title returns the event's name for lists and logs, such as "PreToolUse:Bash".
func (e Event) title() string {
	if e.value == "" {
		return string(e.Name)
	}
	return string(e.Name) + ":" + e.value
}
