package shell

import (
	"path"
	"slices"
	"strings"
)

// An outcome holds the directories the shell may be in after a command: if it succeeded, and if
// it failed. A nil set is unknown.
type outcome struct{ ok, failed []string }

func (o outcome) either() []string { return union(o.ok, o.failed) }

// moves returns the directories the shell may be in after p.
func (p *Part) moves(dirs []string) outcome {
	out := outcome{dirs, dirs}
	switch p.program() {
	case "cd", "pushd":
		target, ok := p.cdTarget()
		if !ok || dirs == nil {
			out.ok = nil
			break
		}
		out.ok = []string{}
		for _, dir := range dirs {
			out.ok = union(out.ok, []string{join(dir, target)})
		}
	case "popd":
		out.ok = nil
	}
	return out
}

// cdTarget returns the target of cd or pushd, if it is certain.
func (p *Part) cdTarget() (string, bool) {
	args := p.Words[1:]
	for len(args) > 0 && (args[0].Value == "-L" || args[0].Value == "-P") {
		args = args[1:]
	}
	if len(args) > 0 && args[0].Value == "--" {
		args = args[1:]
	}
	home := p.script.vars.Home
	switch {
	case len(args) == 0 && p.program() == "cd":
		return home, home != ""
	case len(args) != 1 || !args[0].Static || args[0].Glob || args[0].Value == "":
		return "", false
	case strings.HasPrefix(args[0].Value, "-") || strings.HasPrefix(args[0].Value, "+"):
		return "", false
	}
	return args[0].Value, true
}

// join returns target relative to dir.
func join(dir, target string) string {
	if dir == "" || path.IsAbs(target) {
		return target
	}
	return dir + "/" + target
}

// union merges sets of directories. Nil is the set of all directories, and also replaces sets
// that are too large to be useful.
func union(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	all := slices.Clone(a)
	for _, dir := range b {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	if len(all) > 8 {
		return nil
	}
	return all
}
