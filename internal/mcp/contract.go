// Package mcp manages a conversation's MCP servers: it connects to them, tracks their state,
// and provides their tools, resources and prompts. A [Dialer] implements the protocol; it is
// not used in a run without servers.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/mcp/roster"
)

// A Dialer connects to servers.
type Dialer interface {
	// Dial starts or reaches a server and initializes the session. When ctx is done it returns
	// soon and cleans up. Its error may be an [*AuthError].
	Dial(ctx context.Context, e *roster.Entry, c Client) (Conn, error)
}

// A Client handles servers' requests and notifications. If a func is nil, that capability is
// not offered.
type Client struct {
	// Roots returns the conversation's directories, as absolute paths.
	Roots func() []string
	// Elicit asks the user for input.
	Elicit func(context.Context, Elicitation) (Elicited, error)
	// Elicited is called when the user's interaction at a URL is complete; Server and ID
	// identify it.
	Elicited func(Elicitation)
	// Sample queries the model on behalf of the server.
	Sample func(context.Context, SampleRequest) (SampleResult, error)
	// Changed is called when a list of the server has changed, Updated when a resource has.
	Changed func(List)
	Updated func(uri string)
	// Logged is called with the server's log messages.
	Logged func(level, text string)
	// Pushed is called with unsolicited messages from the server to the conversation.
	Pushed func(Push)
}

// A Push is an unsolicited message from a server to the conversation.
type Push struct {
	Server string // sender
	Text   string
}

// A List identifies a server's list.
type List uint8

// The lists.
const (
	ToolList List = iota
	ResourceList
	PromptList
)

// A Conn is a connection to a server. All text from it is bounded and free of control and
// invisible characters. It is safe for concurrent use.
type Conn interface {
	// ServerInfo returns the server's description of itself.
	About() ServerInfo
	// Tools, Resources, Templates and Prompts return complete lists, over all pages. Cut
	// describes omitted entries.
	Tools(ctx context.Context) (list []Tool, cut string, err error)
	Resources(ctx context.Context) (list []Resource, cut string, err error)
	Templates(ctx context.Context) (list []Resource, cut string, err error)
	Prompts(ctx context.Context) (list []Prompt, cut string, err error)

	// Call calls a tool by the server's own name for it. Progress may be nil.
	Call(ctx context.Context, tool string, input json.RawMessage, progress func(Progress)) (*Result, error)
	// Read reads a resource.
	Read(ctx context.Context, uri string) ([]Content, error)
	// Subscribe requests notifications about a resource, and Unsubscribe ends them.
	Subscribe(ctx context.Context, uri string) error
	Unsubscribe(ctx context.Context, uri string) error
	// Prompt returns a prompt's messages.
	Prompt(ctx context.Context, name string, args map[string]string) ([]PromptMessage, error)
	// RootsChanged notifies the server that the directories changed.
	RootsChanged(ctx context.Context) error

	// Done is closed when the connection ends; Err then returns the reason.
	Done() <-chan struct{}
	Err() error
	// Log returns the end of the server's standard error.
	Log() string
	// Close ends the connection, and the program behind it, within 600 ms.
	Close() error
}

// ServerInfo is a server's description of itself.
type ServerInfo struct {
	Name, Title, Version, Protocol string
	Instructions                   string
	// Supported capabilities.
	Tools, Resources, Prompts, Subscriptions, Logging bool
}

// A Tool is a server's tool.
type Tool struct {
	Name, Title, Description string
	Schema                   json.RawMessage
	Output                   json.RawMessage // the schema of structured results; may be nil
	// ReadOnly, Destructive and OpenWorld are the server's claims; nil if it makes none.
	ReadOnly, Destructive, OpenWorld *bool
	// AlwaysLoad requests inclusion in every request, and Hint is for search.
	AlwaysLoad bool
	Hint       string
}

// An OfferedTool is a connected server's tool.
type OfferedTool struct {
	Server *roster.Entry
	Tool   Tool
}

// A Remote is an adze tool that represents a server's tool.
type Remote interface {
	// Remote returns the server and its own name for the tool.
	Remote() (server, tool string)
}

// A Resource is a readable resource. In a list of templates, URI is a template.
type Resource struct {
	URI, Name, Title, Description, MIME string
	Size                                int64 // 0 if unknown
}

// A Prompt is a text that a server offers to its users.
type Prompt struct {
	Name, Title, Description string
	Args                     []PromptArg
}

// A PromptArg is a prompt's argument.
type PromptArg struct {
	Name, Description string
	Required          bool
}

// A PromptMessage is a message in a prompt. Role is "user" or "assistant".
type PromptMessage struct {
	Role    string
	Content Content
}

// A Content is a piece of a result, a resource or a prompt.
type Content struct {
	Kind Kind
	Text string
	Data []byte // image, audio or blob data
	MIME string
	// URI, Name and Description describe a resource or a link to it.
	URI, Name, Description string
	// Flaw describes an error in the content, such as broken base64; the other fields are then
	// empty.
	Flaw string
}

// A Kind identifies the type of a Content.
type Kind uint8

// The kinds.
const (
	TextContent Kind = iota
	ImageContent
	AudioContent
	ResourceText // a resource's text
	ResourceBlob
	ResourceLink
)

// A Result is a tool's result.
type Result struct {
	Content    []Content
	Structured json.RawMessage // may be nil
	IsError    bool
	Meta       json.RawMessage // may be nil
}

// Progress is a call's progress notification. Total is 0 if unknown.
type Progress struct {
	Done, Total float64
	Text        string
}

// An Elicitation is a server's question to the user.
type Elicitation struct {
	Server  string // the asking server
	Message string
	// Schema describes the requested values; nil if the user should open URL.
	Schema  json.RawMessage
	URL, ID string
	// Await means that the answer is needed only when the user is done at URL, because a call
	// is then repeated.
	Await bool
}

// Elicited answers an [Elicitation]. Action is "accept", "decline" or "cancel".
type Elicited struct {
	Action string
	Values map[string]any
}

// A SampleRequest is a server's question to the model.
type SampleRequest struct {
	Server    string // the asking server
	System    string
	Messages  []PromptMessage
	MaxTokens int
}

// SampleResult answers a [SampleRequest].
type SampleResult struct{ Text, Model, StopReason string }

// An AuthError is returned if a server requires the user to sign in.
type AuthError struct {
	Server string
	// Scope is the missing scope if the user has already signed in; may be empty.
	Scope string
	// Cached is set if the server was not contacted because the user was notified recently,
	// perhaps in another run.
	Cached bool
	Err    error
}

func (e *AuthError) Error() string {
	return fmt.Sprintf("%s wants you to sign in: %v", e.Server, e.Err)
}

// Unwrap returns the cause.
func (e *AuthError) Unwrap() error { return e.Err }

// A GoneError is returned if the server no longer knows the session, so that a new one is
// needed.
type GoneError struct{ Err error }

func (e *GoneError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *GoneError) Unwrap() error { return e.Err }

// A LostError is returned if the network or the server's end failed: reset, timed out, refused,
// unreachable, or a broken stream. The connection may still be open.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// A SilentError is returned if a server did not respond in time. Printed is the end of its
// program's output.
type SilentError struct {
	Printed string
	Err     error
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("%v; its program printed: %s", e.Err, e.Printed)
}

// Unwrap returns the cause.
func (e *SilentError) Unwrap() error { return e.Err }

// A URLError is returned if the user has to open URLs before a call can succeed.
type URLError struct {
	Elicitations []Elicitation
	Err          error
}

func (e *URLError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *URLError) Unwrap() error { return e.Err }

// A State is a server's connection state.
type State string

// The states.
const (
	Pending   State = "pending"
	Connected State = "connected"
	Failed    State = "failed"
	NeedsAuth State = "needs-auth"
	Disabled  State = "disabled"
	// Unapproved project servers wait for the user's approval.
	Unapproved State = "pending approval"
)

// A Status describes a server's state.
type Status struct {
	*roster.Entry
	State   State
	Err     error // why it failed or ended
	About   ServerInfo
	Tools   []Tool // result of the last listing
	Prompts []Prompt
	Cut     []string // entries missing from its lists
	Changes []string // how its tools differ from the ones the user knew
	Log     string   // end of its standard error
}
