// Package skill knows what a skill is: a prompt in Markdown, with a head that says when it helps and how it runs. It
// reads skills, fills in their arguments and writes the list that the model is shown. Finding them is left to the
// package library, and running them to others.
package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A Skill is a prompt that users call as /name and the model by the Skill tool. It does not change; a file that changed
// is another skill.
type Skill struct {
	// Name is what it is called by, such as review, team:deploy or plugin:review.
	Name string
	Head
	Origin Origin
	// File is the file that it was read from, and Dir the folder of the files that belong to it; both are absolute, and
	// empty if it is not on disk.
	File, Dir string
	// Text returns the prompt, without its head. It is read when it is needed.
	Text func(context.Context) (string, error)
}

// A Head is what a skill says of itself. Fields that are not set are zero.
type Head struct {
	Title       string // name: to be shown; the name of the folder stays the id
	Description string // or else the first paragraph of the prompt
	When        string // when_to_use
	// Allowed are rules for calls that are allowed while it runs.
	Allowed   []string // allowed-tools
	Hint      string   // argument-hint
	Arguments []string // names of positional arguments
	Model     string   // empty, or inherit, means the one in use
	Effort    string
	Fork      bool   // context: fork
	As        string // type of the agent that a fork runs as
	Hidden    bool   // user-invocable: false
	Manual    bool   // disable-model-invocation: true
	Version   string
	Paths     []string        // it is active once a file that matches one is touched
	Hooks     json.RawMessage // as in settings; nil if there are none
	Shell     string          // of embedded commands
}

// An Origin is where a skill comes from.
type Origin struct {
	Kind Kind
	// By is the plugin or the MCP server that offers it; empty for others.
	By string
	// Command says that it is a command file, the older form of a skill.
	Command bool
}

// A Kind ranks origins: of two skills with the same name, the one of the lower kind is used. Commands that are built in
// come before all of them.
type Kind uint8

// The kinds.
const (
	Managed Kind = iota + 1 // of the administrator
	User
	Project // in the workspace, and in directories that were added
	Bundled // comes with the program
	Plugin
	Server
	Remote // named in a request, and fetched from an address that the user configured
)

// Own reports whether what the skill says may run: that of servers, and what was fetched, is text and nothing else.
func (o Origin) Own() bool { return o.Kind != Server && o.Kind != Remote }

// String returns the origin as users are told it.
func (o Origin) String() string {
	switch o.Kind {
	case Managed:
		return "the managed policy"
	case User:
		return "your files"
	case Project:
		return "the project"
	case Bundled:
		return "adze"
	case Plugin:
		return "plugin " + o.By
	case Server:
		return "server " + o.By
	case Remote:
		return "a remote address"
	}
	return "unknown"
}

// A Problem is why a file is not used as it was meant.
type Problem struct {
	File string
	// Field is the field of the head that is wrong; empty if it is the whole file.
	Field string
	Text  string
}

// Error returns the problem as one line for the user.
func (p Problem) Error() string {
	if p.Field != "" {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Field, p.Text)
	}
	return fmt.Sprintf("%s: %s", p.File, p.Text)
}

// MaxName is how long a name may be.
const MaxName = 128

// ValidName reports whether a skill can be called that.
func ValidName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("_:.-", c) < 0 {
			return false
		}
	}
	return name != "" && len(name) <= MaxName
}
