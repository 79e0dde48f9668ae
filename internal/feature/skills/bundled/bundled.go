// Package bundled holds the built-in skills. Their front matter is a list of Go values; their
// prompts and files are embedded.
package bundled

import (
	"context"
	"crypto/rand"
	"embed"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/domain/skill"
)

// skills holds each skill's prompt as NAME.md, and its files in directory NAME.
//
//go:embed skills
var skills embed.FS

// Skills returns the skills ordered by name, always the same values.
func (b *Bundle) Skills() []*skill.Skill {
	if b == nil {
		return nil
	}
	return b.all()
}

// A Bundle provides the built-in skills, and unpacks their files when a skill with files is
// first used. It is safe for concurrent use.
type Bundle struct {
	all func() []*skill.Skill

	dir      string // file directory, created on unpacking
	mu       sync.Mutex
	unpacked bool
	closed   bool
}

// New returns a bundle that unpacks files into a new directory in temp, which is typically
// [os.TempDir].
func New(temp string) *Bundle {
	b := &Bundle{}
	b.all = sync.OnceValue(func() []*skill.Skill {
		if real, err := filepath.EvalSymlinks(temp); err == nil { // permission is decided by real paths
			temp = real
		}
		b.dir = filepath.Join(temp, "adze-skills-"+rand.Text())
		return b.list()
	})
	return b
}

// list creates the skills.
func (b *Bundle) list() []*skill.Skill {
	all := heads()
	out := make([]*skill.Skill, 0, len(all))
	for _, h := range all {
		s := &skill.Skill{Name: h.name, Head: h.Head, Origin: skill.Origin{Kind: skill.Bundled}}
		if h.files {
			s.Dir = filepath.Join(b.dir, h.name)
			if plain(s.Dir) {
				s.Allowed = append(s.Allowed, "Read(/"+s.Dir+"/**)")
			}
		}
		s.Text = func(context.Context) (string, error) {
			if h.files {
				if err := b.unpack(); err != nil {
					return "", err
				}
			}
			text, err := skills.ReadFile("skills/" + h.name + ".md")
			return string(text), err
		}
		out = append(out, s)
	}
	return out
}

// plain reports whether a path needs no escaping in a permission rule.
func plain(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r))
	})
}
