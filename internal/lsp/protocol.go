package lsp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// A Location is a range in a file.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// A Severity is how serious a diagnostic is.
type Severity int

// The severities.
const (
	Error Severity = 1 + iota
	Warning
	Information
	Hint
)

// String returns the severity's name.
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Information:
		return "info"
	case Hint:
		return "hint"
	}
	return "error"
}

// A Diagnostic is a problem in a file. Its texts are from the server.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity Severity        `json:"severity"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

// A TextEdit replaces a range of a file.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// A WorkspaceEdit changes files. Servers use either field.
type WorkspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes,omitempty"`
	DocumentChanges []DocumentChange      `json:"documentChanges,omitempty"`
}

// A DocumentChange edits a file, or creates, renames or deletes it if Kind is set.
type DocumentChange struct {
	Kind         string `json:"kind,omitempty"`
	URI          string `json:"uri,omitempty"`
	OldURI       string `json:"oldUri,omitempty"`
	NewURI       string `json:"newUri,omitempty"`
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Edits []TextEdit `json:"edits,omitempty"`
}

// A Symbol is a named piece of code. Servers answer with a tree in Children, or with a list with
// Location.
type Symbol struct {
	Name           string   `json:"name"`
	Detail         string   `json:"detail,omitempty"`
	Kind           int      `json:"kind"`
	ContainerName  string   `json:"containerName,omitempty"`
	Location       Location `json:"location"`
	SelectionRange Range    `json:"selectionRange"`
	Children       []Symbol `json:"children,omitempty"`
}

// A CallItem is a function in a call hierarchy. Data belongs to the server.
type CallItem struct {
	Name           string          `json:"name"`
	Kind           int             `json:"kind"`
	Detail         string          `json:"detail,omitempty"`
	URI            string          `json:"uri"`
	Range          Range           `json:"range"`
	SelectionRange Range           `json:"selectionRange"`
	Data           json.RawMessage `json:"data,omitempty"`
}

// A CodeAction is a change that a server offers.
type CodeAction struct {
	Title    string          `json:"title"`
	Kind     string          `json:"kind,omitempty"`
	Edit     *WorkspaceEdit  `json:"edit,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Disabled *struct {
		Reason string `json:"reason"`
	} `json:"disabled,omitempty"`

	raw json.RawMessage // unchanged
}

// URI returns the URI of an absolute path.
func URI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Path returns the absolute path of a file URI, or "" for any other URI.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return ""
	}
	return filepath.Clean(path)
}
