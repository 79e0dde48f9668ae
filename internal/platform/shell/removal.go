package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// DangerousRemovals returns the reasons why the line may remove something that no line should:
// the root, the home directory, a top-level directory, a drive, a direct child of these, or a
// working directory or its ancestor. The first of dirs is the current directory.
//
// An uncertain path counts as dangerous if it is removed recursively and may be anywhere, or if
// it would be dangerous with its expansions empty. If the line runs in the same shell as
// another line, outer, it uses its variables; outer may be nil.
func (s *Script) DangerousRemovals(home string, dirs []string, outer *Script) []string {
	var reasons []string
	r := remover{home: home, dirs: dirs, script: s}
	if outer != nil {
		r.script = outer
	}
	for _, p := range s.Parts {
		for _, words := range removals(p.Words) {
			reasons = append(reasons, r.command(words, p.dirs)...)
		}
	}
	if len(s.Parts) == 0 && s.Opaque {
		if text, ok := s.Suspected(removalPattern()); ok {
			reasons = append(reasons, fmt.Sprintf("what %s removes is not certain", quote(text)))
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// DangerousRemoval returns the reason why removing target, by code in any language, is
// something that no line should do, or "". A relative target is resolved against the first of
// dirs.
func DangerousRemoval(target, home string, dirs []string) string {
	current := ""
	if len(dirs) > 0 {
		current = dirs[0]
	}
	if rest, ok := strings.CutPrefix(target, "~"); ok && home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		target = home + rest
	}
	if why := danger(absolute(current, "", target), home, dirs); why != "" {
		return "it removes " + why
	}
	return ""
}

func removalPattern() Pattern {
	p, _ := ParsePattern("rm:*") // ok: a valid pattern
	return p
}

// removals returns the tails of a command that begin with a removing program, once per program:
// a later tail's operands are included in the first.
func removals(words []Word) [][]Word {
	var found [][]Word
	seen := make(map[string]bool)
	for i, w := range words {
		if i == 1 && runsNothing([]string{words[0].Value}) {
			break
		}
		switch name := baseName(w.Value); name {
		case "rm", "rmdir", "unlink", "shred", "mv", "find":
			if !seen[name] {
				seen[name] = true
				found = append(found, words[i:])
			}
		}
	}
	return found
}

// A remover judges the removing commands of a line.
type remover struct {
	home   string
	dirs   []string
	script *Script // provides the variables
	held   map[string]*variableValues
}

// command returns the reasons why a command, run in any of the directories at, removes
// something that no line should.
func (r *remover) command(words []Word, at []string) []string {
	var reasons []string
	name := baseName(words[0].Value)
	deep := name == "find" || name == "rm" && manualOf(name).parse(name, words[1:]).has("-r", "-R", "--recursive")
	for _, u := range removed(words) {
		reasons = append(reasons, r.word(u, at, deep, name != "mv")...)
	}
	return reasons
}

// removed returns the targets that a command removes. For a find that matches names, they are
// names below its roots.
func removed(words []Word) []Word {
	if baseName(words[0].Value) == "find" {
		return foundBy(words[1:])
	}
	var list []Word
	for _, u := range operandsOf(words) {
		if u.verb == RemovePath {
			list = append(list, u.word)
		}
	}
	return list
}

// foundBy returns the targets that find deletes or passes to a removing program.
func foundBy(words []Word) []Word {
	roots, expression := findPaths(words)
	deletes, wide, narrow := false, false, ""
	for i, w := range expression {
		value := ""
		if i+1 < len(expression) {
			value = expression[i+1].Value
		}
		switch w.Value {
		case "-delete":
			deletes = true
		case "-exec", "-execdir", "-ok", "-okdir":
			switch baseName(value) {
			case "rm", "rmdir", "unlink", "shred":
				deletes = true
			}
		case "-name", "-iname":
			if strings.Trim(value, "*?.[]!^") != "" && expression[i+1].Static {
				narrow = "*" + value
			}
		case "-path", "-ipath", "-wholename", "-regex", "-iregex", "-empty":
			if narrow == "" && (w.Value == "-empty" || strings.Trim(value, "*?./") != "") {
				narrow = "*narrow*"
			}
		case "!", "-not", "-o", "-or", ",":
			wide = true
		}
	}
	if !deletes {
		return nil
	}
	if len(roots) == 0 {
		roots = []Word{plainWord(".")}
	}
	if narrow == "" || wide {
		return roots
	}
	below := make([]Word, len(roots))
	for i, root := range roots {
		below[i] = root
		if root.Static {
			below[i] = plainWord(root.Value + "/" + narrow)
		}
	}
	return below
}

// word returns the reasons why removing w is dangerous, for each directory the command may run
// in. Deep means that the removal is recursive, lost that the data is destroyed, not moved.
func (r *remover) word(w Word, at []string, deep, lost bool) []string {
	if w.Static {
		return r.path(w.Value, w.Text, at, deep, lost)
	}
	if w.pipe {
		return []string{"adze cannot tell what it removes: " + w.why}
	}
	if len(w.holes) == 0 {
		values := w.alternatives()
		if values == nil && deep {
			return []string{"adze cannot tell what it removes: " + w.why}
		}
		var reasons []string
		for _, value := range values {
			reasons = append(reasons, r.path(value, quote(value), at, deep, lost)...)
		}
		return reasons
	}
	if r.held == nil {
		r.held = r.script.holdings()
	}
	values, open, openStart := w.fillings(r.held)
	if openStart && deep {
		return []string{"adze cannot tell what it removes: " + w.why}
	}
	var reasons []string
	for _, value := range values {
		wild := strings.ContainsAny(value, "*?[")
		if value == "" || open && !deep && !wild {
			continue
		}
		reasons = append(reasons, r.path(value, quote(value), at, deep, lost)...)
	}
	return reasons
}

func (r *remover) path(value, text string, at []string, deep, lost bool) []string {
	current := ""
	if len(r.dirs) > 0 {
		current = r.dirs[0]
	}
	if at == nil && !path.IsAbs(value) {
		if lost && (deep || strings.Trim(value, "*?./") == "") {
			return []string{fmt.Sprintf("it is not certain where %s is removed", text)}
		}
		return nil
	}
	if at == nil || path.IsAbs(value) {
		at = []string{""}
	}
	var reasons []string
	for _, dir := range at {
		if why := danger(absolute(current, dir, value), r.home, r.dirs); why != "" {
			reasons = append(reasons, fmt.Sprintf("it removes %s", why))
		}
	}
	return reasons
}

func absolute(current, dir, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	full := join(dir, target)
	if !path.IsAbs(full) && !drive(full) {
		full = current + "/" + full
	}
	return path.Clean(full)
}

// danger describes target if removing it needs confirmation in every mode, otherwise it returns
// "".
func danger(target, home string, dirs []string) string {
	parent, last := path.Split(target)
	parent = path.Clean(parent)
	wild := strings.ContainsAny(last, "*?[{")
	if wild && !strings.ContainsAny(parent, "*?[{") {
		switch {
		case parent == "/" || drive(parent):
			return "everything in " + parent
		case parent == clean(home):
			return "everything in the home directory"
		case topLevel(parent):
			return "everything in " + parent
		case above(parent, dirs, strings.Trim(last, "*.") == ""):
			return "everything in a working directory or above it"
		}
		return ""
	}
	switch {
	case target == "/" || drive(target):
		return "the root directory"
	case home != "" && (target == clean(home) || within(clean(home), target)):
		return "the home directory"
	case topLevel(target):
		return "the directory " + target
	case above(target, dirs, true):
		return "a working directory or one above it"
	case strings.ContainsAny(parent, "*?[{") && strings.Count(parent, "/") <= 2:
		return "whatever " + target + " stands for"
	}
	return ""
}

// above reports whether target is an ancestor of any of dirs or, if self is true, equal to one.
func above(target string, dirs []string, self bool) bool {
	for _, dir := range dirs {
		if self && target == clean(dir) || target != clean(dir) && within(clean(dir), target) {
			return true
		}
	}
	return false
}

func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// within reports whether p is inside dir or dir itself.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// topLevel reports whether p is a directory directly under the root. It applies to /tmp itself,
// not to files in /tmp.
func topLevel(p string) bool {
	return strings.Count(p, "/") == 1 && len(p) > 1 || len(p) > 3 && drive(p[:3]) && strings.Count(p, "/") == 1
}

// drive reports whether p is the root of a Windows drive.
func drive(p string) bool {
	return (len(p) == 2 || len(p) == 3 && p[2] == '/') && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}
