package hook

import (
	"encoding/json"
	"path/filepath"

	"adze/internal/msg"
	"adze/internal/platform/scope"
	"adze/internal/tool"
)

// An Event is something that happened, or is about to. The functions below make one of each kind.
type Event struct {
	Name Name

	value  string // what matchers are compared with
	use    *tool.Use
	fields []field
}

// after returns the ended call, or nothing. It distinguishes hooks of several calls in one message.
func (e Event) after() string {
	if e.use == nil || e.use.Call == nil || e.Name != PostToolUse && e.Name != PostToolUseFailure {
		return ""
	}
	return tool.TitleOf(e.use.Name, e.use.Call)
}

// A field is a member of the input that only some events have.
type field struct {
	name  string
	value any
}

// OnSessionStart says that a session begins: source is startup, resume, clear, compact or fork.
func OnSessionStart(source, model string) Event {
	return Event{Name: SessionStart, value: source, fields: []field{{"source", source}, {"model", model}}}
}

// OnSessionEnd says that a session ends: reason is clear, resume, logout, prompt_input_exit or other.
func OnSessionEnd(reason string) Event {
	return Event{Name: SessionEnd, value: reason, fields: []field{{"reason", reason}}}
}

// OnUserPromptSubmit says that the user submits a prompt.
func OnUserPromptSubmit(prompt string) Event {
	return Event{Name: UserPromptSubmit, fields: []field{{"prompt", prompt}}}
}

// OnStop says that the model is about to stop. Active says that a hook already sent it back to work.
func OnStop(active bool, last string) Event {
	return Event{Name: Stop, fields: []field{{"stop_hook_active", active}, {"last_assistant_message", last}}}
}

// OnSubagentStart says that a sub-agent of a type begins to work.
func OnSubagentStart(kind string) Event { return Event{Name: SubagentStart, value: kind} }

// OnSubagentStop says that a sub-agent is about to stop; see [OnStop]. Transcript is where its conversation is.
func OnSubagentStop(kind string, active bool, last, transcript string) Event {
	return Event{Name: SubagentStop, value: kind, fields: []field{
		{"stop_hook_active", active}, {"last_assistant_message", last}, {"agent_transcript_path", transcript},
	}}
}

// OnStopFailure says that an error of the provider ended the turn.
func OnStopFailure(kind, details string) Event {
	return Event{Name: StopFailure, value: kind, fields: []field{{"error", kind}, {"error_details", details}}}
}

// OnPreToolUse says that a call is about to be judged.
func OnPreToolUse(u *tool.Use) Event { return onTool(PreToolUse, u) }

// OnPostToolUse says that a call succeeded.
func OnPostToolUse(u *tool.Use, r *tool.Result) Event {
	var response any = r.Structured
	if response == nil {
		response = msg.PlainText(r.Parts)
	}
	return onTool(PostToolUse, u, field{"tool_response", response})
}

// OnPostToolUseFailure says that a call failed, or was interrupted.
func OnPostToolUseFailure(u *tool.Use, why string, interrupted bool) Event {
	return onTool(PostToolUseFailure, u, field{"error", why}, field{"is_interrupt", interrupted})
}

// OnPermissionRequest says that the user is about to be asked about a call. Suggestions are the
// permission updates that would be offered.
func OnPermissionRequest(u *tool.Use, suggestions json.RawMessage) Event {
	if absent(suggestions) {
		suggestions = json.RawMessage("[]")
	}
	return onTool(PermissionRequest, u, field{"permission_suggestions", suggestions})
}

// OnPermissionDenied says that a call was denied.
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

// OnPreCompact says that the conversation is about to be shortened: trigger is manual or auto.
func OnPreCompact(trigger, instructions string) Event {
	return Event{Name: PreCompact, value: trigger, fields: []field{
		{"trigger", trigger}, {"custom_instructions", instructions}}}
}

// OnPostCompact says that the conversation was shortened.
func OnPostCompact(trigger, summary string) Event {
	return Event{Name: PostCompact, value: trigger, fields: []field{
		{"trigger", trigger}, {"compact_summary", summary}}}
}

// OnNotification says that the user is told something that waits for them: kind is what it is about.
func OnNotification(kind, title, message string) Event {
	return Event{Name: Notification, value: kind, fields: []field{
		{"message", message}, {"title", title}, {"notification_type", kind}}}
}

// OnTaskCreated says that a task is about to be added to the task list.
func OnTaskCreated(id, subject, description string) Event {
	return onTask(TaskCreated, id, subject, description)
}

// OnTaskCompleted says that a task of the task list is about to be completed.
func OnTaskCompleted(id, subject, description string) Event {
	return onTask(TaskCompleted, id, subject, description)
}

func onTask(n Name, id, subject, description string) Event {
	return Event{Name: n, fields: []field{{"task_id", id}, {"task_subject", subject}, {"task_description", description}}}
}

// An Asked is what a server asks the user for: values that fit Schema, or a visit to URL.
type Asked struct {
	Server, Message string
	Schema          json.RawMessage
	URL, ID         string
}

func (a Asked) mode() string {
	if a.URL != "" {
		return "url"
	}
	return "form"
}

// OnElicitation says that a server is about to ask the user for something.
func OnElicitation(a Asked) Event {
	fields := []field{{"mcp_server_name", a.Server}, {"message", a.Message}, {"mode", a.mode()}}
	if a.URL != "" {
		fields = append(fields, field{"url", a.URL})
	} else {
		fields = append(fields, field{"requested_schema", a.Schema})
	}
	return Event{Name: Elicitation, value: a.Server, fields: identified(fields, a.ID)}
}

// OnElicitationResult says that the answer to a server is about to be sent. Content may be nil.
func OnElicitationResult(a Asked, action string, content map[string]any) Event {
	fields := []field{{"mcp_server_name", a.Server}, {"mode", a.mode()}, {"action", action}}
	if content != nil {
		fields = append(fields, field{"content", content})
	}
	return Event{Name: ElicitationResult, value: a.Server, fields: identified(fields, a.ID)}
}

// identified adds the id of an elicitation that has one.
func identified(fields []field, id string) []field {
	if id == "" {
		return fields
	}
	return append(fields, field{"elicitation_id", id})
}

// OnConfigChange says that a settings file changed.
func OnConfigChange(s scope.Scope, file string) Event {
	source := s.Short() + "_settings"
	return Event{Name: ConfigChange, value: source, fields: []field{{"source", source}, {"file_path", file}}}
}

// OnCwdChanged says that the working directory changed.
func OnCwdChanged(from, to string) Event {
	return Event{Name: CwdChanged, fields: []field{{"old_cwd", from}, {"new_cwd", to}}}
}

// OnFileChanged says that a watched file has appeared, changed or vanished: what is "add", "change" or "unlink".
func OnFileChanged(path, what string) Event {
	return Event{Name: FileChanged, value: filepath.Base(path), fields: []field{{"file_path", path}, {"event", what}}}
}

// OnInstructionsLoaded says that a file of instructions was read.
func OnInstructionsLoaded(file, memory, reason string, globs []string) Event {
	return Event{Name: InstructionsLoaded, value: reason, fields: []field{
		{"file_path", file}, {"memory_type", memory}, {"load_reason", reason}, {"globs", globs}}}
}

// OnWorktreeCreate says that a worktree of that name is wanted. A hook that makes one says where it is.
func OnWorktreeCreate(name string) Event {
	return Event{Name: WorktreeCreate, fields: []field{{"name", name}}}
}

// OnWorktreeRemove says that a worktree is about to be removed.
func OnWorktreeRemove(path string) Event {
	return Event{Name: WorktreeRemove, fields: []field{{"worktree_path", path}}}
}

// names returns what matchers may call the thing the event is about: for a call the tool's name, its former
// ones, and that of the tool it stands for.
func (e Event) names() []string {
	names := []string{e.value}
	if e.use != nil && e.use.Tool != nil {
		names = append(names, e.use.Tool.Traits().Aliases...)
	}
	if e.use != nil && e.use.Call != nil {
		if s, ok := tool.As[tool.Standing](e.use.Call); ok {
			names = append(names, s.StandsFor())
		}
	}
	return names
}

// title is the event as lists and logs show it, such as "PreToolUse:Bash".
func (e Event) title() string {
	if e.value == "" {
		return string(e.Name)
	}
	return string(e.Name) + ":" + e.value
}
