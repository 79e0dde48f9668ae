// Package roster says which servers of the Model Context Protocol are configured: it reads their entries
// from files and settings, merges them, and finds what is wrong with each. It starts nothing.
package roster

import (
	"encoding/json"
	"time"
)

// An Entry is the configuration of one server, with variables expanded.
type Entry struct {
	// Name is what the server is called in tools and rules: letters, digits, '-' and '_'. Given is how the file spells it.
	Name, Given string
	Scope       Scope
	// File is where the entry stands; empty for one of the command line or of a host.
	File string
	Type Type

	// Command, Args and Env start a program that is spoken to over standard input and output. Env is added to the
	// environment.
	Command string
	Args    []string
	Env     map[string]string

	// URL and Headers are those of a remote server. HeadersHelper is a command that prints more headers as JSON.
	URL           string
	Headers       map[string]string
	HeadersHelper string
	OAuth         *OAuth // may be nil

	// Timeout bounds a call without news of it; 0 means the usual time.
	Timeout time.Duration
	// AlwaysLoad keeps the tools of the server in every request.
	AlwaysLoad bool

	// Raw is the entry as it is written, which is what the user approves.
	Raw json.RawMessage
	// Problem says why the entry cannot be used; nil if it can.
	Problem error
	// Warnings say what the user may want to correct.
	Warnings []string

	// Unapproved entries of a project wait for the user's approval. Disabled ones are not to be started, and not to be
	// asked about: the user said so, or Same names another entry for the same server.
	Unapproved, Disabled bool
	Same                 string
}

// Usable reports whether the server may be started.
func (e *Entry) Usable() bool { return e.Problem == nil && !e.Unapproved && !e.Disabled }

// Offers reports whether the model may call a tool of the server. Of an editor's tools it may call two; the others open
// files and show changes, and are not used.
func (e *Entry) Offers(tool string) bool {
	return e.Type != SSEIDE && e.Type != WSIDE || tool == "getDiagnostics" || tool == "executeCode"
}

// An OAuth is what an entry says about signing in.
type OAuth struct {
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret"`
	CallbackPort int      `json:"callbackPort"`
	MetadataURL  string   `json:"authServerMetadataUrl"`
	Scopes       []string `json:"scopes"`
}

// A Type is how a server is spoken to.
type Type string

// The types.
const (
	Stdio Type = "stdio"
	HTTP  Type = "http"
	SSE   Type = "sse"
	WS    Type = "ws"
	// SSEIDE and WSIDE are servers of an editor, found by its lock file.
	SSEIDE Type = "sse-ide"
	WSIDE  Type = "ws-ide"
	// Proxy is a service that connects to the servers of an account.
	Proxy Type = "proxy"
	// Host is a server in the program that drives this one.
	Host Type = "sdk"
)

// A Scope says who configured a server.
type Scope string

// The scopes, from the weakest to the strongest.
const (
	Plugin  Scope = "plugin"
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
	Flag    Scope = "flag" // the command line, or a host
	Managed Scope = "managed"
)

// Remote reports whether the server is reached over the network.
func (e *Entry) Remote() bool { return e.Type != Stdio && e.Type != Host }
