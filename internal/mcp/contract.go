// Package mcp keeps the servers of the Model Context Protocol that a conversation works with: it connects them,
// notices what becomes of them, and hands on what they offer. It does not speak the protocol itself: a [Dialer]
// does, and nothing of it is touched in a run without servers.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/mcp/roster"
)

// A Dialer connects to servers.
type Dialer interface {
	// Dial starts or reaches a server and greets it. When ctx is done it returns soon and leaves nothing behind. Its
	// error may be an [*AuthError].
	Dial(ctx context.Context, e *roster.Entry, c Client) (Conn, error)
}

// A Client is what servers may ask of the program, and whom they tell. Funcs may be nil: then it is not offered.
type Client struct {
	// Roots returns the directories that the conversation works in, as absolute paths.
	Roots func() []string
	// Elicit asks the user for something.
	Elicit func(context.Context, Elicitation) (Elicited, error)
	// Elicited is told that what the user did at a URL is complete: Server and ID say which.
	Elicited func(Elicitation)
	// Sample asks the model something on behalf of the server.
	Sample func(context.Context, Sampling) (Sampled, error)
	// Changed is told that a list of the server has changed, Updated that a resource has.
	Changed func(List)
	Updated func(uri string)
	// Logged is told what the server logs.
	Logged func(level, text string)
	// Pushed is told what the server sends into the conversation by itself.
	Pushed func(Push)
}

// A Push is a message that a server sends into the conversation by itself.
type Push struct {
	Server string // who sends it
	Text   string
}

// A List is something that servers offer several of.
type List uint8

// The lists.
const (
	ToolList List = iota
	ResourceList
	PromptList
)

// A Conn is a connection to a server. All text that comes from it is free of control and invisible characters, and
// bounded. It is safe for concurrent use.
type Conn interface {
	// About returns what the server said of itself.
	About() About
	// Tools, Resources, Templates and Prompts list what there is, over all pages. What was cut is said in a second value.
	Tools(ctx context.Context) (list []Tool, cut string, err error)
	Resources(ctx context.Context) (list []Resource, cut string, err error)
	Templates(ctx context.Context) (list []Resource, cut string, err error)
	Prompts(ctx context.Context) (list []Prompt, cut string, err error)

	// Call calls a tool by the server's own name for it. Progress may be nil.
	Call(ctx context.Context, tool string, input json.RawMessage, progress func(Progress)) (*Result, error)
	// Read reads a resource.
	Read(ctx context.Context, uri string) ([]Content, error)
	// Subscribe asks for news of a resource, and Unsubscribe for no more of them.
	Subscribe(ctx context.Context, uri string) error
	Unsubscribe(ctx context.Context, uri string) error
	// Prompt returns the messages of a prompt.
	Prompt(ctx context.Context, name string, args map[string]string) ([]PromptMessage, error)
	// RootsChanged tells the server that the directories changed.
	RootsChanged(ctx context.Context) error

	// Done is closed when the connection is gone or closed; Err says why then.
	Done() <-chan struct{}
	Err() error
	// Log returns the end of what the server printed on standard error.
	Log() string
	// Close ends the connection, and the program behind it, within 600 ms.
	Close() error
}

// About is what a server says of itself.
type About struct {
	Name, Title, Version, Protocol string
	Instructions                   string
	// What it offers.
	Tools, Resources, Prompts, Subscriptions, Logging bool
}

// A Tool is one of a server.
type Tool struct {
	Name, Title, Description string
	Schema                   json.RawMessage
	Output                   json.RawMessage // the schema of structured results; may be nil
	// ReadOnly, Destructive and OpenWorld are what the server claims; nil if it does not say.
	ReadOnly, Destructive, OpenWorld *bool
	// AlwaysLoad asks to be in every request, and Hint is for search.
	AlwaysLoad bool
	Hint       string
}

// An Offered tool is one of a connected server.
type Offered struct {
	Server *roster.Entry
	Tool   Tool
}

// A Remote is a tool of this program that stands for one of a server.
type Remote interface {
	// Remote returns the server and its own name for the tool.
	Remote() (server, tool string)
}

// A Resource is something that can be read. URI is a template in the list of those.
type Resource struct {
	URI, Name, Title, Description, MIME string
	Size                                int64 // 0 if unknown
}

// A Prompt is a text that a server offers to its users.
type Prompt struct {
	Name, Title, Description string
	Args                     []PromptArg
}

// A PromptArg is an argument of a prompt.
type PromptArg struct {
	Name, Description string
	Required          bool
}

// A PromptMessage is one message of a prompt. Role is "user" or "assistant".
type PromptMessage struct {
	Role    string
	Content Content
}

// A Content is a piece of a result, a resource or a prompt.
type Content struct {
	Kind Kind
	Text string
	Data []byte // of an image, audio or blob
	MIME string
	// URI, Name and Description are those of a resource or a link to one.
	URI, Name, Description string
	// Flaw says what is wrong with the content, such as broken base64; it has nothing else then.
	Flaw string
}

// A Kind is what a content is.
type Kind uint8

// The kinds.
const (
	TextContent Kind = iota
	ImageContent
	AudioContent
	ResourceText // the text of a resource
	ResourceBlob
	ResourceLink
)

// A Result is what a tool returned.
type Result struct {
	Content    []Content
	Structured json.RawMessage // may be nil
	IsError    bool
	Meta       json.RawMessage // may be nil
}

// Progress is news of a call. Total is 0 if it is not known.
type Progress struct {
	Done, Total float64
	Text        string
}

// An Elicitation is a question of a server to the user.
type Elicitation struct {
	Server  string // who asks
	Message string
	// Schema describes the values asked for; nil if the user is to open URL.
	Schema  json.RawMessage
	URL, ID string
	// Await says that the answer is wanted when the user is done at URL, because a call is repeated then.
	Await bool
}

// Elicited answers an [Elicitation]. Action is "accept", "decline" or "cancel".
type Elicited struct {
	Action string
	Values map[string]any
}

// A Sampling is a question of a server to the model.
type Sampling struct {
	Server    string // who asks
	System    string
	Messages  []PromptMessage
	MaxTokens int
}

// Sampled answers a [Sampling].
type Sampled struct{ Text, Model, StopReason string }

// An AuthError says that a server wants the user to sign in.
type AuthError struct {
	Server string
	// Scope is what is missing when the user has signed in already; may be empty.
	Scope string
	// Told says that the server was not asked again, since the user was told a short while ago, perhaps in another run.
	Told bool
	Err  error
}

func (e *AuthError) Error() string {
	return fmt.Sprintf("%s wants you to sign in: %v", e.Server, e.Err)
}

// Unwrap returns the cause.
func (e *AuthError) Unwrap() error { return e.Err }

// A GoneError says that the server no longer knows the session, so that it has to be begun again.
type GoneError struct{ Err error }

func (e *GoneError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *GoneError) Unwrap() error { return e.Err }

// A LostError says that the network or the server's end failed: reset, timed out, refused, unreachable, or a stream
// that broke off. The connection may still be open.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// A SilentError says that a server was not there in time. Printed is the end of what its program printed.
type SilentError struct {
	Printed string
	Err     error
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("%v; its program printed: %s", e.Err, e.Printed)
}

// Unwrap returns the cause.
func (e *SilentError) Unwrap() error { return e.Err }

// A URLError says that the user has to open URLs before a call can succeed.
type URLError struct {
	Elicitations []Elicitation
	Err          error
}

func (e *URLError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *URLError) Unwrap() error { return e.Err }

// A State is what has become of a server.
type State string

// The states.
const (
	Pending   State = "pending"
	Connected State = "connected"
	Failed    State = "failed"
	NeedsAuth State = "needs-auth"
	Disabled  State = "disabled"
	// Unapproved servers of the project wait for the user's approval.
	Unapproved State = "pending approval"
)

// A Status is how a server stands.
type Status struct {
	*roster.Entry
	State   State
	Err     error // why it failed, or ended
	About   About
	Tools   []Tool // as last listed
	Prompts []Prompt
	Cut     []string // what is missing from its lists
	Changes []string // how its tools differ from those the user knew
	Log     string   // the end of its standard error
}
