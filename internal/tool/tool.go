// Package tool defines the contract between the agent and a tool: what a tool declares, how one use
// of it is bound and judged, and what it returns. It runs nothing itself: gates decide, the executor
// runs, bounds and records, front ends draw.
package tool

import (
	"context"
	"encoding/json"
	"io"

	"adze/internal/msg"
	"adze/internal/platform/paths"
	"adze/internal/platform/texts"
)

// A Tool is a capability offered to the model.
type Tool interface {
	// Spec describes the tool to the model. It is constant for the tool's life.
	Spec() msg.ToolSpec

	// Traits returns what is fixed about the tool beyond its description.
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

// Traits are the fixed properties of a tool. The zero value is the cautious one.
type Traits struct {
	// Aliases are former names: calls, rules and transcripts that use them keep working.
	Aliases []string
	// Origin says where the tool comes from: empty for built in, else such as "mcp:db".
	Origin string
	// Params declares each parameter of the input that holds text. Tools of others declare none: no call of theirs is
	// judged by its input.
	Params Params
	// Hint is a phrase of three to ten words naming the capability, for tool search.
	Hint string
	// AlwaysLoad asks that the tool be in every request even when others are deferred; see [Registry].
	AlwaysLoad bool
	// Door says that the tool is a way to deferred ones: it is there, and sent, exactly while tools are deferred.
	Door bool

	// MaxChars bounds the text of a result; 0 means [DefaultMaxChars]. A longer text is written to a
	// file and previewed, unless NeverPersist is set: then the tool bounds itself.
	MaxChars     int
	NeverPersist bool
	// KeepTail makes the preview show the end of the text as well as its beginning.
	KeepTail bool

	// Waits says that calls do nothing but wait for something that goes on without them, so that a new message of the
	// user ends the wait. Every other call finishes first.
	Waits bool
	// Prepare is called in the background when a call begins to arrive, so that work that does not depend on its input is done
	// by the time it runs. It may be nil.
	Prepare func()
	// Delegates marks calls that wait for other agents. They do not count towards the limit on concurrent calls.
	Delegates bool
	// Clearable allows compaction to blank old results.
	Clearable bool
	// Shell marks tools whose failure cancels later calls of the same kind in the same message, if they are not read-only.
	Shell bool

	// Output is the JSON Schema of the structured result, or nil. Tests hold every result to it.
	Output json.RawMessage
	// Restore is given the structured result of each earlier call of a resumed session, oldest first, so
	// that the tool knows again what it knew of files. May be nil.
	Restore func(structured json.RawMessage)
	// Translate returns what the tool says of itself in another language than English, by name: "doc" for its
	// description, and the name of each parameter that has one ("outer/inner" for one within another). It is
	// nil, and so is its answer, for what is not translated.
	Translate func(texts.Language) map[string]string
	// Spare reports whether a model can do without the tool for now if it was not told of it when the conversation
	// began: to tell it later costs the provider's cache. A nil func means that it cannot.
	Spare func() bool
	// Late says that the tool is deferred, whatever else is, if it becomes available when the conversation has begun
	// without it: to list it then costs the provider's cache.
	Late bool
	// Enabled reports why the tool cannot be offered now, or nil. A nil func means always enabled.
	Enabled func() error
}

// Params declares the meaning of parameters by name, "outer/inner" for one within another. The gate must see the Paths, Hosts,
// Programs and Commands of a call, by [Accesser] or [Commander]; Texts name nothing that needs a permission.
type Params struct{ Paths, Hosts, Programs, Commands, Texts []string }

// DefaultMaxChars bounds the text of a result of a tool that does not say otherwise.
const DefaultMaxChars = 100_000

// A Result is what a call returns.
type Result struct {
	Parts      []msg.Part // what the model reads
	Display    Display    // what the human sees; nil means Parts
	Structured any        // what hooks, hosts and the log get; nil means none
	Body       Body       // a large output, bounded by the executor; nil means none
	Reminders  []string   // what the program, not the source of Parts, tells the model after them
	Context    []msg.Part // added to the conversation after the results of the message
	IsError    bool       // the result is an error, with Code from the tool's contract
	Code       int
}

// A Body is output too large to hold: the executor reads it once, and shows the model as much as the
// tool's cap allows, after Parts. Size is in bytes.
type Body interface {
	Size() int64
	Open() (io.ReadCloser, error)
}

// A FileBody is a [Body] that is a file already. MoveTo gives the file another name, in a directory that
// exists, instead of having it copied; closing the body does not remove it then.
type FileBody interface {
	Body
	io.ReaderAt
	MoveTo(path string) error
	Lines() int // how many line ends there are
}

// Text returns a result of one text.
func Text(text string) Result { return Result{Parts: []msg.Part{&msg.Text{Text: text}}} }

// Progress is news about a running call, for users and hosts, never for the model. A later one
// replaces an earlier one that was not shown yet.
type Progress struct{ Display Display }

// Capabilities of a call, found on it or on its input; see [As]. Each depends on the concrete input,
// each is pure, and the absence of each means the cautious thing.
type (
	// Accesser lists what the call will touch, with paths as the model gave them; absent = anything.
	Accesser interface{ Access() []Access }
	// ReadOnly says that the call changes nothing; absent = it may.
	ReadOnly interface{ ReadOnly() bool }
	// Destructive says that the call cannot be undone; absent = no.
	Destructive interface{ Destructive() bool }
	// OpenWorld says that the call reaches beyond this machine; absent = it may.
	OpenWorld interface{ OpenWorld() bool }
	// Concurrent says that the call may run beside others; absent = alone.
	Concurrent interface{ Concurrent() bool }
	// Titler gives one line for dialogs and logs; absent = the tool's name.
	Titler interface{ Title() string }
	// Activity gives a present-tense phrase for a spinner; absent = the tool's name.
	Activity interface{ Activity() string }
	// Past says what the call did, for the line that stays of it: a verb in the past tense and its object, such as "Read" and
	// the name of a file. Runs of calls with the same verb are shown in one line. A command has no verb. Absent = the title.
	Past interface{ Past() (verb, object string) }
	// Named gives a friendlier name for display; absent = the tool's name.
	Named interface{ DisplayName() string }
	// Pather gives the one file the call acts on; absent = rules match the name only.
	Pather interface{ Path() string }
	// Locator resolves a target of Access, with everything the path leads through. The call resolves each target once,
	// and opens what was judged; absent = the gate resolves it.
	Locator interface {
		Paths(target string) (paths.Set, error)
	}
	// Folder classifies the call for display: search, read or list; absent = not folded.
	Folder interface{ Fold() Fold }
	// Validator checks beyond the schema, by computing on the input alone.
	Validator interface{ Validate() error }
	// Observer returns a copy of the input with derived fields filled in, for hooks and users.
	Observer interface{ Observe() any }
	// Personal says that only the user may answer whether the call runs; absent = others may.
	Personal interface{ NeedsPerson() bool }
	// Preapproved says that the hosts the call connects to need no permission, unless a rule speaks of them, or that a call
	// that touches nothing needs none; absent = no.
	Preapproved interface{ Preapproved() bool }
	// Serving names the server that the call goes to: rules about the tools of the server hold for the call, and what it
	// says of itself is a hint. Absent = none.
	Serving interface{ Server() string }
	// Standing names the tool that the call is another way to use: rules and hooks for that tool hold for the call, too.
	// Absent = none.
	Standing interface{ StandsFor() string }
	// Planning says that the call may be made while planning though it is not read-only; absent = no.
	Planning interface{ Planning() bool }
	// Matcher answers whether a rule's content, such as "git push*", applies to this input.
	Matcher interface {
		Match(content string) (bool, error)
	}
	// Ruled names the contents of rules that would allow the call and those like it, for the user to choose; absent = a
	// rule for the whole tool.
	Ruled interface{ Rules() []string }
	// Amender makes the call of an input that the user changed when asked about this one: its result
	// tells the model what was changed. Absent = the gate binds the new input, and the model is not told.
	Amender interface {
		Amend(input json.RawMessage) (Call, error)
	}
	// Foreseer reports why the call would fail, so that no one is asked about it; nil if it would not, as far as can
	// be told. Look says that the files it names may be looked at; otherwise only what is recorded of them counts.
	// Absent = nothing can be told.
	Foreseer interface{ Foresee(look bool) error }
	// Consenter says what a yes of the user does, where that is more than to run the call; absent = it runs the call.
	Consenter interface{ Consent() string }
	// Drafter says what the user may edit before agreeing; absent = nothing.
	Drafter interface{ Draft() Draft }
	// Previewer shows what would happen, when the user is asked.
	Previewer interface {
		Preview(ctx context.Context) (Display, error)
	}
)

// A Draft is what the user may edit before agreeing to a call, which must be an [Amender].
type Draft struct {
	Field string // the text field of the input; empty means that nothing can be edited
	// Plan is the plan that the text is; nil if it is none.
	Plan *Plan
}

// A Plan is presented to the user, who may agree to it in several ways.
type Plan struct {
	File string
	Next string   // the mode in which the work continues after a plain yes; empty means unknown
	Asks []string // what the plan asks permission for, in words
}

// DraftOf returns what the user may edit before agreeing to c, or nil.
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

// An Access is one thing a call will touch.
type Access struct {
	Verb   Verb
	Target string
}

// A Verb is what a call does to a target.
type Verb uint8

// The verbs.
const (
	Read Verb = iota
	Write
	Execute
	Connect
)

// A Fold is a class of calls that front ends show folded into one line.
type Fold uint8

// The folds.
const (
	NoFold Fold = iota
	FoldSearch
	FoldRead
	FoldList
)
