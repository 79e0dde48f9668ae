package skills

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/commands/about"
	"adze/internal/commands/display"
	"adze/internal/commands/extensions"
	"adze/internal/commands/memory"
	"adze/internal/commands/rules"
	"adze/internal/commands/schedule"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/feature/skills/bundled"
	"adze/internal/feature/skills/remote"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/search/ignore"
	"adze/internal/settings"
)

// Plugins returns the plugins' directories. Early returns the ones known without checking all
// files. Both may be nil.
type Plugins struct{ Roots, Early func() []library.Root }

// OpenLibrary starts scanning for the skills of a project opened in dir, including added
// directories, plugins and built-in skills.
func OpenLibrary(p *settings.Project, dir string, added []string, plugins Plugins, own *bundled.Bundle) *library.Library {
	return library.Open(libraryConfig(p, dir, added, plugins, own))
}

// OpenLater is like OpenLibrary but delays the scan until shortly after, or until skills are
// needed.
func OpenLater(p *settings.Project, dir string, added []string, plugins Plugins, own *bundled.Bundle) *library.Library {
	cfg := libraryConfig(p, dir, added, plugins, own)
	cfg.Later = true
	return library.Open(cfg)
}

func libraryConfig(p *settings.Project, dir string, added []string, plugins Plugins, own *bundled.Bundle) library.Config {
	with := func(plugins func() []library.Root) func() []library.Root {
		return func() []library.Root {
			if plugins == nil {
				return Roots(p, dir, added)
			}
			return append(Roots(p, dir, added), plugins()...)
		}
	}
	cfg := library.Config{
		Extra: func() []*skill.Skill {
			if p.Values().Skills.NoBundled {
				return nil
			}
			return own.Skills()
		},
		Roots: with(plugins.Roots), Early: with(plugins.Early), Reserved: commands.IsBuiltIn(slices.Concat(about.Sections(about.Config{}), extensions.Sections(), display.Sections(display.Config{}), rules.Sections(), memory.Sections(), schedule.Sections())),
		Dir: dir, Ignored: func(path string) bool { return ignored(dir, path) }, Pulse: &p.Pulse,
	}
	if p.Home != "" {
		cfg.Index = Index(p, dir)
	}
	return cfg
}

// Index returns the path of the skill index for a project opened in dir.
func Index(p *settings.Project, dir string) string {
	return filepath.Join(p.Cache, "skills-index", fsys.HashedKey(dir)+".json")
}

// Roots returns the skill directories that belong to no plugin, omitting an untrusted
// workspace's.
func Roots(p *settings.Project, dir string, added []string) []library.Root {
	l := library.Layout{Managed: p.Source().Managed, User: p.User}
	if p.Reads(scope.User) {
		l.Own, l.Other = p.Config, p.Other
	}
	if p.Reads(scope.Project) && p.Trust.Trusted() {
		l.Dir, l.Top, l.Added = dir, p.Trust.Root, added
	}
	return library.Places(l)
}

// ignored reports whether git ignores a directory in the working directory, or any of its
// parents. path has no symlinks.
func ignored(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rules := ignore.NewLoader(ignore.Options{})
	for p := path; p != dir && strings.HasPrefix(p, dir); p = filepath.Dir(p) {
		if rules.Above(p).IgnoresDir(filepath.ToSlash(p)) {
			return true
		}
	}
	return false
}

// Fetching returns a library that also finds the skills of a remote source, which may be nil.
func Fetching(l Library, from *remote.Source) Library {
	if from == nil {
		return l
	}
	return &fetching{l, from}
}

type fetching struct {
	Library
	from *remote.Source
}

// Find returns the named skill, preferring local ones to fetched ones.
func (f *fetching) Find(ctx context.Context, name string) *skill.Skill {
	if k := f.Library.Find(ctx, name); k != nil {
		return k
	}
	return f.from.Find(name)
}
