package rule

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"adze/internal/platform/search/glob"
)

// An anchor says which directory a pattern of paths belongs to.
type anchor uint8

const (
	atWork anchor = iota // x and ./x: the working directory
	atRoot               // //x
	atHome               // ~/x
	atFile               // /x: the directory of the settings file
)

// A pathPattern is the content of a rule for paths, read but not yet placed.
type pathPattern struct {
	anchor anchor
	ups    int    // how many directories above the anchor
	rest   string // begins with a slash unless it matches at any depth; empty means everything
}

// parsePathPattern reads the content of a rule for paths.
func parsePathPattern(content string) (pathPattern, error) {
	p := pathPattern{rest: norm.NFC.String(filepath.ToSlash(content))}
	switch {
	case strings.HasPrefix(content, "!"):
		return p, errors.New("a pattern that begins with ! is not possible: rules only add up; write \\! for a name that begins so")
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

// clean takes empty names, "." and ".." out of an anchored pattern, and the ending that speaks of all that
// is in a directory: a rule for a directory does that anyway.
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
			return errors.New("the pattern has .. after a wildcard, so it is not clear what it means")
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

// A pathRule is a rule for paths in its place. It matches a path if it matches it or a directory above.
type pathRule struct {
	*Rule
	all    bool // it could not be read: it speaks of every path
	places []place
	fold   bool
}

// A place is a directory with the pattern that counts below it.
type place struct {
	base        string        // absolute, slashes, folded like the paths it is compared with
	self, below *glob.Pattern // of the path itself and of a directory above; nil means everything
	literal     string        // the pattern without reading its wildcards, for the names that have such characters
	fixed       bool          // literal is all that it says
	anywhere    bool          // it matches at any depth
}

// placePath puts a rule for paths in its place. A deny or ask rule that has none speaks of every path.
func placePath(r *Rule, a *Anchors) *pathRule {
	pr := &pathRule{Rule: r, fold: a.Fold}
	p, err := parsePathPattern(r.Content)
	if r.broken != nil || err != nil {
		pr.all = true
		return pr
	}
	bases := a.bases(p.anchor, r)
	if len(bases) == 0 {
		r.broken = errors.New("the home directory is unknown, so ~ means nothing")
		pr.all = true
		return pr
	}
	for _, base := range bases {
		for range p.ups {
			base = path.Dir(base)
		}
		pr.place(base, p.rest)
		// Who forbids a link forbids what it leads to. What is allowed is what is written: a link that
		// appears later must not widen it.
		if r.Behavior != Allow && p.rest != "" {
			pr.placeReal(base, "/"+strings.TrimPrefix(p.rest, "/"), a)
		}
		if r.Behavior != Allow {
			pr.placeCopy(base, p.rest, a.copies)
		}
	}
	return pr
}

// placeReal puts a rule where what it names is without links: the whole path of a rule without wildcards,
// else the directory before the first of them.
func (r *pathRule) placeReal(base, rest string, a *Anchors) {
	dir, pattern := rest, ""
	if strings.ContainsAny(rest, `*?[{\`) {
		if real, ok := a.real(path.Join(base, rest)); ok { // a name with such characters
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

// Literal returns a path as a pattern that matches nothing else.
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

// matches reports whether the rule speaks of a path, which is absolute, in NFC and folded.
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

// spells reports whether rel is, or lies in, what the pattern says letter by letter: a name such as
// [id] is not lost to a rule that forgot to escape it.
func (pl *place) spells(rel string) bool {
	if pl.anywhere {
		return strings.Contains("/"+rel+"/", "/"+pl.literal+"/")
	}
	return rel == pl.literal || strings.HasPrefix(rel, pl.literal+"/")
}

// anyName stands for whatever may be in a directory: a rule that matches it matches everything there.
const anyName = "\ufffe"

// reaches reports whether the rule may speak of something below the directory dir, and whether it
// surely names something there.
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

// Below returns name relative to dir, if it is dir or inside. Both are absolute, clean, with slashes.
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
