// Package skill defines skills: Markdown prompts with front matter. It parses skills, fills in
// their arguments and formats the list shown to the model.
package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A Skill is a prompt that users call as /name and the model through the Skill tool. It is
// immutable; a changed file is a new Skill.
type Skill struct {
	// Name is the name it is called by, such as review, team:deploy or plugin:review.
	Name string
	Head
	Origin Origin
	// File is the file it was read from, and Dir the directory of its files. Both are absolute,
	// and empty if the skill is not on disk.
	File, Dir string
	// Text returns the prompt without front matter, reading it on demand.
	Text func(context.Context) (string, error)
}

// A Head is a skill's front matter. Unset fields are zero.
type Head struct {
	Title       string // name: for display; the directory name remains the ID
	Description string // default: first paragraph of the prompt
	When        string // when_to_use
	// Allowed lists rules for calls allowed while the skill runs.
	Allowed   []string // allowed-tools
	Hint      string   // argument-hint
	Arguments []string // names of positional arguments
	Model     string   // empty or inherit: the current model
	Effort    string
	Fork      bool   // context: fork
	As        string // agent type of a fork
	Hidden    bool   // user-invocable: false
	Manual    bool   // disable-model-invocation: true
	Version   string
	Paths     []string        // active once a matching file is touched
	Hooks     json.RawMessage // format as in settings; nil if none
	Shell     string          // shell for embedded commands
}

// An Origin is a skill's source.
type Origin struct {
	Kind Kind
	// By is the plugin or MCP server that provides it; otherwise empty.
	By string
	// Command marks a command file, the older form of a skill.
	Command bool
}

// A Kind ranks origins: of two skills with the same name, the lower kind is used. Built-in
// commands precede all of them.
type Kind uint8

// The kinds.
const (
	Managed Kind = iota + 1 // set by the administrator
	User
	Project // workspace and added directories
	Bundled // built in
	Plugin
	Server
	Remote // named in a request, fetched from a configured URL
)

// Own reports whether commands in the skill may run. Skills from servers and fetched skills are
// plain text.
func (o Origin) Own() bool { return o.Kind != Server && o.Kind != Remote }

// String returns the origin as shown to users.
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

// A Problem is the reason a file is not used as intended.
type Problem struct {
	File string
	// Field is the invalid front matter field; empty for the whole file.
	Field string
	Text  string
}

// Error returns a one-line message for the user.
func (p Problem) Error() string {
	if p.Field != "" {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Field, p.Text)
	}
	return fmt.Sprintf("%s: %s", p.File, p.Text)
}

// MaxName is the maximum length of a name.
const MaxName = 128

// ValidName reports whether name is a valid skill name.
func ValidName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("_:.-", c) < 0 {
			return false
		}
	}
	return name != "" && len(name) <= MaxName
}
