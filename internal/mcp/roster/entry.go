// Package roster determines the configured MCP servers: it reads their entries from files and
// settings, merges them, and validates each. It starts nothing.
package roster

import (
	"encoding/json"
	"time"
)

// An Entry is a server's configuration, with variables expanded.
type Entry struct {
	// Name is the server's name in tools and rules: letters, digits, '-' and '_'. Given is the
	// name in the file.
	Name, Given string
	Scope       Scope
	// File is the file containing the entry; empty if it comes from the command line or a host.
	File string
	Type Type

	// Command, Args and Env start a program that communicates over standard input and output.
	// Env is added to the environment.
	Command string
	Args    []string
	Env     map[string]string

	// URL and Headers are for a remote server. HeadersHelper is a command that prints more
	// headers as JSON.
	URL           string
	Headers       map[string]string
	HeadersHelper string
	OAuth         *OAuth // may be nil

	// Timeout limits a call without activity; 0 means the default.
	Timeout time.Duration
	// AlwaysLoad keeps the server's tools in every request.
	AlwaysLoad bool

	// Raw is the entry as written, which the user approves.
	Raw json.RawMessage
	// Problem is the reason the entry cannot be used; nil if it can.
	Problem error
	// Warnings lists minor mistakes for the user to fix.
	Warnings []string

	// Unapproved project entries wait for the user's approval. Disabled entries are neither
	// started nor prompted for: the user disabled them, or Same names another entry for the
	// same server.
	Unapproved, Disabled bool
	Same                 string
}

// Usable reports whether the server may be started.
func (e *Entry) Usable() bool { return e.Problem == nil && !e.Unapproved && !e.Disabled }

// Offers reports whether the model may call a server's tool. It may call two of an editor's
// tools; the others open files and show changes, and are not used.
func (e *Entry) Offers(tool string) bool {
	return e.Type != SSEIDE && e.Type != WSIDE || tool == "getDiagnostics" || tool == "executeCode"
}

// An OAuth holds an entry's sign-in options.
type OAuth struct {
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret"`
	CallbackPort int      `json:"callbackPort"`
	MetadataURL  string   `json:"authServerMetadataUrl"`
	Scopes       []string `json:"scopes"`
}

// A Type is a server's transport type.
type Type string

// The types.
const (
	Stdio Type = "stdio"
	HTTP  Type = "http"
	SSE   Type = "sse"
	WS    Type = "ws"
	// SSEIDE and WSIDE are an editor's servers, found by its lock file.
	SSEIDE Type = "sse-ide"
	WSIDE  Type = "ws-ide"
	// Proxy is a service that connects to an account's servers.
	Proxy Type = "proxy"
	// Host is a server in the program that drives adze.
	Host Type = "sdk"
)

// A Scope identifies where a server was configured.
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
