package gitrepo

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/fs/cachefile"
)

// StatusRules are the settings that the output of git status depends on.
type StatusRules struct {
	// Simple is false if the settings have effects that this type does not describe.
	Simple bool
	// Fold ignores case in ignore files. Aliases means that names on disk may differ from
	// those in the index.
	Fold, Aliases bool
	// Executable compares permissions. Converts means that the content of files may differ
	// from the objects.
	Executable, Converts bool
	// Excludes is the user's ignore file, which may not exist, or "".
	Excludes string
	// Attributes are the attribute files outside the work tree, which may not exist.
	Attributes []string
}

// userOnly are the core settings, in addition to the harmless ones, that do not affect status.
var userOnly = []string{"core.editor", "core.pager", "core.sshcommand", "core.askpass", "core.worktree"}

func (q *inquiry) statusRules(all []origin) StatusRules {
	r := StatusRules{Simple: true, Executable: true, Attributes: append(q.attributes(), "/etc/gitattributes")}
	for _, program := range []string{q.git, real(q.git)} {
		r.Attributes = append(r.Attributes, filepath.Join(filepath.Dir(filepath.Dir(program)), "etc", "gitattributes"))
	}
	if dir := q.userDir(); dir != "" {
		r.Excludes = filepath.Join(dir, "ignore")
	}
	for _, o := range all {
		section, name, sub := split(o.key)
		switch {
		case sub != "":
		case section == "core":
			r.core(name, o.value)
			if name == "excludesfile" {
				r.Excludes = q.untilde(o.value)
				r.Simple = r.Simple && (r.Excludes == "" || filepath.IsAbs(r.Excludes))
			}
		case section == "status":
			r.Simple = r.Simple && (name == "short" || name == "submodulesummary" || name == "showuntrackedfiles" && o.value == "normal")
		case section == "color" || section == "column":
			r.Simple = r.Simple && !strings.Contains(strings.ToLower(o.value), "always")
		}
	}
	return r
}

// core applies a setting core.name.
func (r *StatusRules) core(name, value string) {
	on := !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(value))
	switch name {
	case "excludesfile":
	case "filemode":
		r.Executable = on
	case "ignorecase":
		r.Fold, r.Aliases = on, r.Aliases || on
	case "precomposeunicode":
		r.Aliases = r.Aliases || on
	case "autocrlf", "attributesfile":
		r.Converts = r.Converts || on
	case "symlinks", "trustctime":
		r.Simple = r.Simple && on
	case "sparsecheckout", "sparsecheckoutcone":
		r.Simple = r.Simple && !on
	case "checkstat":
		r.Simple = r.Simple && strings.EqualFold(value, "default")
	default:
		key := "core." + name
		r.Simple = r.Simple && (isHarmless(key) || slices.Contains(userOnly, key))
	}
}

func (r StatusRules) write(w *cachefile.Writer) {
	w.Flags(r.Simple, r.Fold, r.Aliases, r.Executable, r.Converts)
	w.Text(r.Excludes)
	w.List(r.Attributes)
}

func readStatusRules(r *cachefile.Reader) StatusRules {
	f := r.Flags()
	return StatusRules{f[0], f[1], f[2], f[3], f[4], r.Text(), r.List()}
}
