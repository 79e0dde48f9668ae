package rule

import (
	"path"
	"strings"
)

// A PathIndex finds path rules. Any path that a rule matches contains a name fixed by the rule,
// or at least a name with its extension, which is used as the lookup key.
type PathIndex struct {
	rules  []*pathRule
	byName map[string][]*pathRule
	rest   []*pathRule
	// byDir holds rules by the directory below which they apply; above holds, for each parent
	// of such a directory, a rule that applies below it.
	byDir map[string][]*pathRule
	above map[string][]*pathRule
	// copies holds the copies in which the rules apply as well; nil for allow rules.
	copies *Copies
}

func (x *PathIndex) add(r *pathRule) { x.rules = append(x.rules, r) }

// Any returns an arbitrary rule, or nil if the index is empty.
func (x *PathIndex) Any() *Rule {
	if len(x.rules) == 0 {
		return nil
	}
	return x.rules[0].Rule
}

// build builds the index. The best key for a rule is the name that the fewest rules fix.
func (x *PathIndex) build(c *Copies) {
	x.copies = c
	count := map[string]int{}
	for _, r := range x.rules {
		for i := range r.places {
			for _, name := range r.places[i].names() {
				count[name]++
			}
		}
	}
	for _, r := range x.rules {
		if r.all {
			x.rest = append(x.rest, r)
			continue
		}
		for i := range r.places {
			pl := &r.places[i]
			if key := pl.key(count); key != "" {
				add(&x.byName, key, r)
			} else {
				x.rest = append(x.rest, r)
			}
			dir := pl.base
			if pl.fixed {
				dir = path.Join(dir, pl.literal)
			}
			add(&x.byDir, dir, r)
			for up := dir; up != "/" && up != "."; {
				up = path.Dir(up)
				if len(x.above[up]) < maxAbove || pl.fixed && len(x.above[up]) < 2*maxAbove {
					add(&x.above, up, r)
				}
			}
		}
	}
}

// maxAbove limits the rules recorded in a directory for its descendants: one is enough to ask.
const maxAbove = 4

// names returns the names that the pattern fixes.
func (pl *place) names() []string {
	var names []string
	for name := range strings.SplitSeq(pl.literal, "/") {
		if name != "" && !strings.ContainsAny(name, `*?[{\`) {
			names = append(names, name)
		}
	}
	return names
}

// key returns the lookup key of the rule; empty means that it must always be tried.
func (pl *place) key(count map[string]int) string {
	best := ""
	for _, name := range pl.names() {
		if best == "" || count[name] < count[best] {
			best = name
		}
	}
	if best != "" {
		return best
	}
	last := pl.literal[strings.LastIndexByte(pl.literal, '/')+1:]
	if dot := strings.LastIndexByte(last, '.'); dot > 0 && !strings.ContainsAny(last[dot:], `*?[{]}\`) {
		return "*" + last[dot:]
	}
	return strings.Trim(path.Base(pl.base), "/")
}

// Match returns a rule that applies to the path, which has the form of [Anchors.Form]. It
// considers only rules for which counts returns true; counts may be nil.
func (x *PathIndex) Match(name string, counts func(*Rule) bool) *Rule {
	if len(x.rules) == 0 {
		return nil
	}
	if r := x.match(name, counts); r != nil {
		return r
	}
	if main, ok := x.copies.main(name); ok {
		return x.match(main, counts)
	}
	return nil
}

func (x *PathIndex) match(name string, counts func(*Rule) bool) *Rule {
	hit := func(rules []*pathRule) *Rule {
		for _, r := range rules {
			if (counts == nil || counts(r.Rule)) && r.matches(name) {
				return r.Rule
			}
		}
		return nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if r := hit(x.byName[part]); r != nil {
			return r
		}
		if dot := strings.LastIndexByte(part, '.'); dot >= 0 {
			if r := hit(x.byName["*"+part[dot:]]); r != nil {
				return r
			}
		}
	}
	return hit(x.rest)
}

// Below returns a rule that may apply to something inside the directory, and whether it
// certainly does.
func (x *PathIndex) Below(dir string) (r *Rule, surely bool) {
	if len(x.rules) == 0 {
		return nil, false
	}
	for _, dir := range x.copies.dirs(dir) {
		if found, sure := x.reaching(dir); found != nil && (r == nil || sure) {
			if r, surely = found, sure; sure {
				break
			}
		}
	}
	return r, surely
}

func (x *PathIndex) reaching(dir string) (r *Rule, surely bool) {
	look := func(rules []*pathRule) bool {
		for _, pr := range rules {
			if may, sure := pr.reaches(dir); may && (r == nil || sure) {
				r, surely = pr.Rule, sure
			}
		}
		return surely
	}
	if look(x.rest) || look(x.above[dir]) {
		return r, surely
	}
	for up := dir; ; up = path.Dir(up) {
		if look(x.byDir[up]) || up == "/" || up == "." {
			return r, surely
		}
	}
}

// Within returns a rule that may apply to something at or below dir.
func (x *PathIndex) Within(dir string) *Rule {
	if r := x.Match(dir, nil); r != nil {
		return r
	}
	r, _ := x.Below(dir)
	return r
}

// maxPathspecs limits the number of pathspecs passed to git: many of them are slower than none.
const maxPathspecs = 100

// Pathspecs returns git pathspecs that select, below the directory top, at least the files the
// rules apply to. It returns false if the rules may apply to anything, so that no pathspec
// would help.
func (x *PathIndex) Pathspecs(top string) (specs []string, ok bool) {
	for _, top := range x.copies.dirs(top) {
		for _, r := range x.rules {
			if r.all {
				return nil, false
			}
			for i := range r.places {
				own, ok := r.places[i].pathspecs(top, r.fold)
				if !ok || len(specs) > maxPathspecs {
					return nil, false
				}
				specs = append(specs, own...)
			}
		}
	}
	return specs, true
}

// pathspecs returns the pathspecs of one place. None, with true, means that it matches nothing
// below top.
func (pl *place) pathspecs(top string, fold bool) ([]string, bool) {
	magic := ""
	if fold {
		magic = ",icase"
	}
	prefix, below := Below(top, pl.base)
	anywhere := pl.anywhere || strings.HasPrefix(pl.literal, "**/")
	switch {
	case pl.fixed || pl.self == nil:
		rel, ok := Below(top, path.Join(pl.base, pl.literal))
		if _, inside := Below(path.Join(pl.base, pl.literal), top); inside || ok && !ascii(rel) {
			return nil, false
		}
		if !ok {
			return nil, true
		}
		return []string{":(top,literal" + magic + ")" + rel}, true
	case !below:
		if _, inside := Below(pl.base, top); !inside || !anywhere {
			return nil, !inside
		}
	}
	if !pl.simple() || !ascii(prefix) || strings.ContainsAny(prefix, `*?[\`) {
		return nil, false
	}
	pattern := pl.literal
	if pl.anywhere {
		pattern = "**/" + pattern
	}
	pattern = path.Join(prefix, pattern)
	return []string{":(top,glob" + magic + ")" + pattern, ":(top,glob" + magic + ")" + pattern + "/**"}, true
}

// simple reports whether git interprets the pattern as rules do.
func (pl *place) simple() bool {
	return ascii(pl.literal) && !strings.ContainsAny(pl.literal, `[]{}\!`)
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 || r < ' ' })
}

// Rules returns the rules, highest precedence first.
func (x *PathIndex) Rules() []Rule {
	var rules []Rule
	for _, r := range x.rules {
		rules = append(rules, *r.Rule)
	}
	return rules
}
