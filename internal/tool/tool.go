// Package tool defines the contract between the agent and a tool: a tool's declaration, the
// binding and judging of a use, and its result. It runs nothing itself: gates decide, the
// executor runs, bounds and records calls, and front ends render them.
package tool

import (
	"context"
	"encoding/json"
	"io"

	"adze/internal/msg"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/text/texts"
)

// A Tool is a capability offered to the model.
type Tool interface {
	// Spec describes the tool to the model. It is constant for the tool's lifetime.
	Spec() msg.ToolSpec

	// Traits returns the tool's other fixed properties.
	Traits() Traits

	// Bind decodes and validates the input of one use. It has no side effects and touches no file.
	// Its error is shown to the model.
	Bind(input json.RawMessage) (Call, error)
}

// A Call is one validated, not yet executed use of a tool.
type Call interface {
	// Input returns the decoded input. Capabilities are looked up on it; see [As].
	Input() any

	// Run executes the call. Until it returns it may call report, from any goroutine; later reports
	// are ignored. Its error is shown to the model, unless it is [Fatal] or ctx is done.
	Run(ctx context.Context, report func(Progress)) (Result, error)
}

// Traits holds a tool's fixed properties. The zero value is the cautious choice.
type Traits struct {
	// Aliases holds former names: calls, rules and transcripts that use them keep working.
	Aliases []string
	// Origin is the tool's source: empty for built-in tools, otherwise such as "mcp:db".
	Origin string
	// Params declares each input parameter that holds text. Third-party tools declare none:
	// their calls are not judged by input.
	Params Params
	// Hint is a phrase of three to ten words naming the capability, for tool search.
	Hint string
	// Core means that the tool is in every request even while others are deferred. See [Registry].
	Core bool
	// Dispatcher means that the tool gives access to deferred tools: it is present, and sent, exactly
	// while tools are deferred.
	Dispatcher bool

	// MaxChars limits a result's text; 0 means [DefaultMaxChars]. A longer text is written to a
	// file and previewed, unless NeverPersist is set: then the tool limits itself.
	MaxChars     int
	NeverPersist bool
	// KeepTail makes the preview show the end of the text as well as its start.
	KeepTail bool

	// Background means that sub-agents in the background may have the tool, too. They cannot prompt.
	Background bool
	// MainOnly means that the tool concerns the user or the main conversation. Of the sub-agents,
	// only forks have it, and those whose definition or team needs it.
	MainOnly bool
	// Served describes the tool to clients of adze's MCP server. If nil, they do not get it.
	Served *Annotations

	// Waits means that calls only wait for something that continues without them, so that a new
	// user message ends the wait. Every other call finishes first.
	Waits bool
	// Prepare is called in the background when a call starts to arrive, so that work
	// independent of its input is done by the time it runs. It may be nil.
	Prepare func()
	// Delegates marks calls that wait for other agents. They do not count towards the limit on concurrent calls.
	Delegates bool
	// Clearable allows compaction to blank old results.
	Clearable bool
	// Shell marks tools whose failure cancels later calls of the same kind in the same message, if they are not read-only.
	Shell bool

	// Output is the JSON Schema of the structured result, or nil. Tests check every result
	// against it.
	Output json.RawMessage
	// Restore is called with the structured result of each earlier call of a resumed session,
	// oldest first, so that the tool can restore its knowledge of files. May be nil.
	Restore func(structured json.RawMessage)
	// Redisplay returns the display of a call of a resumed session from its structured result,
	// or nil if that is unknown. If it is nil, the result's text is shown.
	Redisplay func(structured json.RawMessage) Display
	// Translate returns the tool's texts in a language other than English, by name: "doc" for
	// its description, and the name of each parameter that has one ("outer/inner" if nested). A
	// nil func or result means no translation.
	Translate func(texts.Language) map[string]string
	// Spare reports whether a model can do without the tool for now if the conversation started
	// without it: sending it later invalidates the provider's cache. A nil func means that it
	// cannot.
	Spare func() bool
	// Late means that the tool is deferred, even if no others are, if it becomes available
	// after the conversation started without it: listing it then invalidates the provider's
	// cache.
	Late bool
	// Enabled returns the reason the tool cannot be offered now, or nil. A nil func means
	// always enabled.
	Enabled func() error
}

// Annotations describes all calls of a tool, for clients that show them or use them to decide when to
// prompt.
type Annotations struct {
	// Fixed means that the other fields hold for every call. If false, they depend on the input.
	Fixed               bool
	ReadOnly, OpenWorld bool
}

// Params declares the meaning of parameters by name, "outer/inner" if nested. The gate must see
// the Paths, Hosts, Programs and Commands of a call, by [Accesser] or [Commander]; Texts name
// nothing that needs permission.
type Params struct{ Paths, Hosts, Programs, Commands, Texts []string }

// DefaultMaxChars is the default limit on a result's text.
const DefaultMaxChars = 100_000

// A Result is the result of a call.
type Result struct {
	Parts      []msg.Part // content for the model
	Display    Display    // content for the user; nil means Parts
	Structured any        // value for hooks, hosts and the log; nil means none
	Body       Body       // a large output, bounded by the executor; nil means none
	Reminders  []string   // reminders from adze, not the source of Parts, sent after Parts
	Context    []msg.Part // added to the conversation after the message's results
	IsError    bool       // the result is an error, with Code from the tool's contract
	Code       int
}

// A Body is output too large to hold in memory: the executor reads it once, and shows the model
// as much as the tool's limit allows, after Parts. Size is in bytes.
type Body interface {
	Size() int64
	Open() (io.ReadCloser, error)
}

// A FileBody is a [Body] that is already a file. MoveTo renames the file into an existing
// directory instead of having it copied; closing the body then does not remove it.
type FileBody interface {
	Body
	io.ReaderAt
	MoveTo(path string) error
	Lines() int // number of newlines
}

// Text returns a result with a single text.
func Text(text string) Result { return Result{Parts: []msg.Part{&msg.Text{Text: text}}} }

// Progress is an update about a running call, for users and hosts, never for the model. A later
// update replaces an earlier one not yet shown.
type Progress struct{ Display Display }

// Capabilities of a call, found on it or on its input; see [As]. Each depends on the concrete
// input and is pure. An absent capability means the cautious answer.
type (
	// Accesser lists the call's accesses, with paths as the model gave them. If absent, the
	// call may access anything.
	Accesser interface{ Access() []Access }
	// ReadOnly reports whether the call changes nothing. If absent, it may.
	ReadOnly interface{ ReadOnly() bool }
	// Destructive reports whether the call is irreversible. If absent, it is not.
	Destructive interface{ Destructive() bool }
	// OpenWorld reports whether the call reaches beyond this machine. If absent, it may.
	OpenWorld interface{ OpenWorld() bool }
	// Concurrent reports whether the call may run concurrently with others. If absent, it runs
	// alone.
	Concurrent interface{ Concurrent() bool }
	// Titler returns one line for dialogs and logs. If absent, the tool's name is used.
	Titler interface{ Title() string }
	// Activity returns a present-tense phrase for a spinner. If absent, the tool's name is
	// used.
	Activity interface{ Activity() string }
	// Past describes the completed call, for the line kept in the transcript: a verb in the
	// past tense and its object, such as "Read" and a file name. Runs of calls with the same
	// verb are shown on one line. A command has no verb. If absent, the title is used.
	Past interface{ Past() (verb, object string) }
	// Named returns a friendlier name for display. If absent, the tool's name is used.
	Named interface{ DisplayName() string }
	// Pather returns the single file the call acts on. If absent, rules match the name only.
	Pather interface{ Path() string }
	// Locator resolves a target of Access to every path it leads through. The call resolves
	// each target once, and opens the file that was judged. If absent, the gate resolves it.
	Locator interface {
		Paths(target string) (paths.ResolvedPath, error)
	}
	// Folder classifies the call for display: search, read or list. If absent, it is not
	// folded.
	Folder interface{ Fold() Fold }
	// Validator checks the input beyond the schema, using only the input.
	Validator interface{ Validate() error }
	// Observer returns a copy of the input with derived fields filled in, for hooks and users.
	Observer interface{ Observe() any }
	// UserOnly reports whether only the user may decide whether the call runs. If absent,
	// others may.
	UserOnly interface{ NeedsPerson() bool }
	// Preapproved reports whether the call needs no permission for hosts that no rule covers,
	// or, if it touches nothing, no permission at all. If absent, it needs permission.
	Preapproved interface{ Preapproved() bool }
	// ServerCall returns the server that the call goes to: rules for the server's tools apply to
	// the call, and its capabilities are only hints. If absent, the call does not go to a
	// server.
	ServerCall interface{ Server() string }
	// AliasOf returns the tool that the call is another way to use: rules and hooks for that
	// tool apply to the call, too. If absent, only the call's own tool counts.
	AliasOf interface{ StandsFor() string }
	// Planning reports whether the call is allowed while planning although it is not read-only.
	// If absent, it is not.
	Planning interface{ Planning() bool }
	// Matcher reports whether a rule's content, such as "git push*", applies to this input.
	Matcher interface {
		Match(content string) (bool, error)
	}
	// Ruled returns the contents of rules that would allow the call and similar ones, for the
	// user to choose from. If absent, a rule for the whole tool is offered.
	Ruled interface{ Rules() []string }
	// Amender returns the call for an input that the user changed when prompted; its result
	// tells the model about the changes. If absent, the gate binds the new input, and the model
	// does not learn of them.
	Amender interface {
		Amend(input json.RawMessage) (Call, error)
	}
	// FailurePredictor returns the reason the call would fail, so that no prompt is shown, or nil as
	// far as it can be predicted. Look allows reading the files it names; otherwise only their
	// records count. If absent, nothing is predicted.
	FailurePredictor interface{ Foresee(look bool) error }
	// Consenter describes the effect of the user's consent, if it does more than run the call.
	// If absent, it just runs the call.
	Consenter interface{ Consent() string }
	// Drafter returns the part that the user may edit before agreeing. If absent, nothing can
	// be edited.
	Drafter interface{ Draft() Draft }
	// Previewer returns a preview of the call's effect for the prompt.
	Previewer interface {
		Preview(ctx context.Context) (Display, error)
	}
)

// A Draft is the part of a call that the user may edit before agreeing. The call must be an
// [Amender].
type Draft struct {
	Field string // text field of the input; empty means that nothing can be edited
	// Plan is set if the text is a plan.
	Plan *Plan
}

// A Plan is presented to the user, who may agree to it in several ways.
type Plan struct {
	File string
	Next string   // mode after a plain yes; empty means unknown
	Asks []string // descriptions of the permissions requested
}

// DraftOf returns the part of c that the user may edit before agreeing, or nil.
func DraftOf(c Call) *Draft {
	d, ok := As[Drafter](c)
	if !ok {
		return nil
	}
	draft := d.Draft()
	if draft.Field == "" {
		return nil
	}
	return &draft
}

// As finds capability T on c or on its input.
func As[T any](c Call) (T, bool) {
	if t, ok := c.(T); ok {
		return t, true
	}
	t, ok := c.Input().(T)
	return t, ok
}

// An Access is a resource that a call accesses, with the kind of access.
type Access struct {
	Verb   Verb
	Target string
}

// A Verb is a kind of access.
type Verb uint8

// The verbs.
const (
	Read Verb = iota
	Write
	Execute
	Connect
)

// A Fold is a class of calls that front ends collapse to one line.
type Fold uint8

// The folds.
const (
	NoFold Fold = iota
	FoldSearch
	FoldRead
	FoldList
)
