package rule

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"adze/internal/platform/search/glob"
)

// An anchor identifies the base directory of a path pattern.
type anchor uint8

const (
	atWork anchor = iota // x and ./x: the working directory
	atRoot               // //x
	atHome               // ~/x
	atFile               // /x: the directory of the settings file
)

// A pathPattern is a path rule's parsed content, not yet bound to a directory.
type pathPattern struct {
	anchor anchor
	ups    int    // number of directories above the anchor
	rest   string // begins with a slash unless it matches at any depth; empty matches everything
}

// parsePathPattern parses a path rule's content.
func parsePathPattern(content string) (pathPattern, error) {
	p := pathPattern{rest: norm.NFC.String(filepath.ToSlash(content))}
	switch {
	case strings.HasPrefix(content, "!"):
		return p, errors.New("a pattern can't start with !, because rules only add up; write \\! for a name that starts with it")
	case strings.HasPrefix(p.rest, "//"):
		p.anchor, p.rest = atRoot, p.rest[1:]
	case p.rest == "~" || strings.HasPrefix(p.rest, "~/"):
		p.anchor, p.rest = atHome, p.rest[1:]
	case strings.HasPrefix(p.rest, "/"):
		p.anchor = atFile
	case strings.HasPrefix(p.rest, "./") || p.rest == ".":
		p.rest = p.rest[1:]
	case strings.HasPrefix(p.rest, "../") || p.rest == "..":
		p.rest = "/" + p.rest
	case strings.Contains(strings.TrimRight(p.rest, "/"), "/"):
		p.rest = "/" + p.rest
	}
	if err := p.clean(); err != nil {
		return p, err
	}
	if p.rest != "" {
		if _, err := glob.Compile(p.rest, glob.Options{}); err != nil {
			return p, err
		}
	}
	return p, nil
}

// clean removes empty names, "." and ".." from an anchored pattern, and a suffix that matches
// all of a directory, since a rule for a directory covers its contents anyway.
func (p *pathPattern) clean() error {
	p.rest = strings.TrimRight(p.rest, "/")
	if !strings.HasPrefix(p.rest, "/") {
		return nil
	}
	for strings.HasSuffix(p.rest, "/**") {
		p.rest = strings.TrimRight(strings.TrimSuffix(p.rest, "**"), "/")
	}
	var names []string
	for name := range strings.SplitSeq(p.rest, "/") {
		switch {
		case name == "" || name == ".":
		case name != "..":
			names = append(names, name)
		case len(names) == 0:
			p.ups++
		case strings.ContainsAny(names[len(names)-1], `*?[{\`):
			return errors.New("the pattern has .. after a wildcard, which is ambiguous")
		default:
			names = names[:len(names)-1]
		}
	}
	p.rest = ""
	if len(names) > 0 {
		p.rest = "/" + strings.Join(names, "/")
	}
	return nil
}

// A pathRule is a path rule bound to directories. It matches a path if it matches the path or a
// parent directory.
type pathRule struct {
	*Rule
	all    bool // unreadable: applies to every path
	places []place
	fold   bool
}

// A place is a directory with the pattern that applies below it.
type place struct {
	base        string        // absolute, slash-separated, folded like the paths it is compared with
	self, below *glob.Pattern // patterns for the path itself and for a parent directory; nil matches everything
	literal     string        // the pattern taken literally, for names that contain wildcard characters
	fixed       bool          // literal is the whole pattern
	anywhere    bool          // matches at any depth
}

// placePath binds a path rule to directories. A deny or ask rule that cannot be bound applies
// to every path.
func placePath(r *Rule, a *Anchors) *pathRule {
	pr := &pathRule{Rule: r, fold: a.Fold}
	p, err := parsePathPattern(r.Content)
	if r.broken != nil || err != nil {
		pr.all = true
		return pr
	}
	bases := a.bases(p.anchor, r)
	if len(bases) == 0 {
		r.broken = errors.New("the home directory is unknown, so ~ can't be resolved")
		pr.all = true
		return pr
	}
	for _, base := range bases {
		for range p.ups {
			base = path.Dir(base)
		}
		pr.place(base, p.rest)
		// Denying a symlink denies its target. Allow rules apply only as written: a symlink
		// created later must not widen them.
		if r.Behavior != Allow && p.rest != "" {
			pr.placeReal(base, "/"+strings.TrimPrefix(p.rest, "/"), a)
		}
		if r.Behavior != Allow {
			pr.placeCopy(base, p.rest, a.copies)
		}
	}
	return pr
}

// placeReal adds a place with symlinks resolved: for the whole path of a rule without
// wildcards, otherwise for the directory before the first one.
func (r *pathRule) placeReal(base, rest string, a *Anchors) {
	dir, pattern := rest, ""
	if strings.ContainsAny(rest, `*?[{\`) {
		if real, ok := a.real(path.Join(base, rest)); ok { // a name containing wildcard characters
			r.place(path.Dir(real), "/"+Literal(path.Base(real)))
		}
		dir, pattern = glob.Split(rest)
	}
	real, ok := a.real(path.Join(base, dir))
	switch {
	case !ok || dir == "":
	case pattern != "":
		r.place(real, pattern)
	case real == "/":
		r.place(real, "")
	default:
		r.place(path.Dir(real), "/"+Literal(path.Base(real)))
	}
}

// Literal returns a pattern that matches only the path.
func Literal(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`*?[]{}\!`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (r *pathRule) place(base, rest string) {
	pl := place{base: foldPath(base, r.fold)}
	if rest != "" {
		below := rest + "/**"
		if rest[0] != '/' {
			below = "**/" + below
		}
		o := glob.Options{Fold: r.fold}
		var err1, err2 error
		pl.self, err1 = glob.Compile(rest, o)
		pl.below, err2 = glob.Compile(below, o)
		if err1 != nil || err2 != nil {
			r.all = true
			return
		}
		pl.literal = foldPath(strings.TrimPrefix(rest, "/"), r.fold)
		pl.anywhere = rest[0] != '/'
		pl.fixed = !pl.anywhere && !strings.ContainsAny(rest, `*?[{\`)
	}
	for _, other := range r.places {
		if other.base == pl.base && other.literal == pl.literal {
			return
		}
	}
	r.places = append(r.places, pl)
}

// matches reports whether the rule applies to a path, which is absolute, in NFC and folded.
func (r *pathRule) matches(name string) bool {
	if r.all {
		return r.Behavior != Allow
	}
	for i := range r.places {
		pl := &r.places[i]
		rel, ok := Below(pl.base, name)
		if !ok {
			continue
		}
		if pl.self == nil || pl.self.Match(rel) || pl.below.Match(rel) {
			return true
		}
		if r.Behavior != Allow && pl.spells(rel) {
			return true
		}
	}
	return false
}

// spells reports whether rel is in or below the pattern taken literally: a rule still applies
// to a name such as [id] if its author forgot to escape it.
func (pl *place) spells(rel string) bool {
	if pl.anywhere {
		return strings.Contains("/"+rel+"/", "/"+pl.literal+"/")
	}
	return rel == pl.literal || strings.HasPrefix(rel, pl.literal+"/")
}

// anyName represents any file in a directory: a rule that matches it matches everything there.
const anyName = "\ufffe"

// reaches reports whether the rule may apply to something below dir, and whether it certainly
// names something there.
func (r *pathRule) reaches(dir string) (may, surely bool) {
	if r.all {
		return true, false
	}
	if r.matches(path.Join(dir, anyName)) {
		return true, true
	}
	for i := range r.places {
		pl := &r.places[i]
		if pl.fixed {
			if _, ok := Below(dir, path.Join(pl.base, pl.literal)); ok {
				return true, true
			}
			continue
		}
		if _, ok := Below(dir, pl.base); ok {
			may = true
		} else if rel, ok := Below(pl.base, dir); ok && (pl.self == nil || pl.self.MayContain(rel)) {
			may = true
		}
	}
	return may, false
}

// Below returns name relative to dir, if it is dir or inside. Both are absolute, clean and
// slash-separated.
func Below(dir, name string) (rel string, ok bool) {
	if dir == "/" {
		return strings.TrimPrefix(name, "/"), strings.HasPrefix(name, "/")
	}
	if !strings.HasPrefix(name, dir) {
		return "", false
	}
	switch rest := name[len(dir):]; {
	case rest == "":
		return "", true
	case rest[0] == '/':
		return rest[1:], true
	}
	return "", false
}
