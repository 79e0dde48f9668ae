// Package bundled holds the skills that come with the program: their heads are values in one list, their prompts and the
// files that belong to them are embedded. Running them is left to others.
package bundled

import (
	"context"
	"crypto/rand"
	"embed"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/skill"
)

// skills holds NAME.md, the prompt of each skill, and in the folder NAME the files that belong to it.
//
//go:embed skills
var skills embed.FS

// Skills returns the skills in the order of their names, always the same ones.
func (b *Bundle) Skills() []*skill.Skill {
	if b == nil {
		return nil
	}
	return b.all()
}

// A Bundle makes the skills, and unpacks the files that belong to them when a skill with files is first used. It is safe
// for concurrent use.
type Bundle struct {
	all func() []*skill.Skill

	dir      string // of the files; it is made when they are unpacked
	mu       sync.Mutex
	unpacked bool
	closed   bool
}

// New returns a bundle that unpacks files into a new directory in temp, such as that of [os.TempDir].
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

// list makes the skills.
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

// plain reports whether a path stands for itself in a permission rule.
func plain(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r))
	})
}
