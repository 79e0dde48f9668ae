// Package library finds the skills of a workspace on disk: in the folders of the administrator, the user, the project
// and plugins. It keeps an index of them, notices changes and says which of several skills with the same name is used.
// What skills mean is left to the package skill, and running them to others.
package library

import (
	"context"

	"adze/internal/skill"
)

// A Root is a folder that holds skills, or command files.
type Root struct {
	// Dir is absolute; it need not exist.
	Dir    string
	Origin skill.Origin
	// Prefix comes before the names in it, such as "plugin:"; it may be empty.
	Prefix string
}

// A Config says where skills are.
type Config struct {
	// Roots returns the folders, those first whose skills are used first. It is called again when plugins change.
	Roots func() []Root
	// Extra returns skills that are not on disk; it may be nil.
	Extra func() []*skill.Skill
	// Reserved reports whether a name is that of a command that is built in; it may be nil.
	Reserved func(name string) bool
	// Index is the file that keeps what was read of the skills; empty keeps nothing.
	Index string
	// Dir is the working directory: below it, folders of skills are found beside files that are touched. Ignored reports
	// whether such a folder is left out; it may be nil.
	Dir     string
	Ignored func(path string) bool
}

// A Set is the skills that were found. It does not change.
type Set struct {
	// Skills are those that can be called, in order of their names.
	Skills []*skill.Skill
	// Shadowed are those that another of the same name keeps from being called.
	Shadowed []Shadowed
	Problems []skill.Problem
}

// A Shadowed skill is not used, because By is called the same; By is nil if a built-in command is.
type Shadowed struct{ Skill, By *skill.Skill }

// A Library finds skills. It is safe for concurrent use.
type Library struct{ cfg Config }

// Open returns a library, and begins to look for skills in the background.
func Open(cfg Config) *Library { return &Library{cfg} }

// Set returns the skills as they are known, after they were looked for once: the same value until something changes.
func (l *Library) Set(ctx context.Context) *Set { return &Set{} }

// Find returns the skill that is called by a name, or nil.
func (l *Library) Find(ctx context.Context, name string) *skill.Skill { return nil }

// Touched looks for folders of skills beside a file that was read or changed, up to the working directory.
func (l *Library) Touched(path string) {}

// Refresh looks again, now.
func (l *Library) Refresh(ctx context.Context) *Set { return l.Set(ctx) }

// Watch calls changed when the set may be another, until the function it returns is called.
func (l *Library) Watch(changed func()) (stop func()) { return func() {} }

// Close ends what the library does in the background.
func (l *Library) Close() {}
