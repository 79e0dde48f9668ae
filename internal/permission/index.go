package permission

import (
	"path"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/platform/shell"
)

// A ruleSet holds the rules of one behaviour, found by what they speak of: a decision looks at few of
// them, however many there are.
type ruleSet struct {
	whole    map[string][]*Rule // of every call of a tool, by its name
	nameless *Rule              // one whose tool cannot be read
	commands commandIndex
	reads    pathIndex // Read(...): of every tool that reads
	edits    pathIndex // Edit(...): of every tool that writes
	own      map[string]*pathIndex
	domains  domainIndex
	others   map[string][]*Rule // content that the tool itself compares
}

// add files a rule.
func (s *ruleSet) add(r *Rule, c *Config) {
	switch {
	case r.broken != nil && r.Behavior == Allow:
	case r.Tool == "":
		s.nameless = r
	case r.Content == "" || r.broken != nil && !r.kind().Paths() && r.kind() != compat.Host:
		add(&s.whole, r.Tool, r)
	case r.kind() == compat.Shell:
		s.commands.add(r)
	case r.kind() == compat.Host:
		s.domains.add(r)
	case r.kind().Paths():
		s.addPath(r, c)
	default:
		add(&s.others, r.Tool, r)
	}
}

func (s *ruleSet) addPath(r *Rule, c *Config) {
	if r.broken != nil && r.Content == "" { // its parentheses are broken: it speaks of the whole tool
		add(&s.whole, r.Tool, r)
		return
	}
	pr := placePath(r, c)
	switch {
	case r.Tool == compat.Read:
		s.reads.add(pr)
	case r.Tool == compat.Edit || r.kind() == compat.Writes && r.Behavior != Allow:
		// Forbidding one way to write a file forbids the others: allowing one does not allow them.
		s.edits.add(pr)
	default:
		if s.own == nil {
			s.own = map[string]*pathIndex{}
		}
		if s.own[r.Tool] == nil {
			s.own[r.Tool] = new(pathIndex)
		}
		s.own[r.Tool].add(pr)
	}
}

func add[V any](m *map[string][]V, key string, v V) {
	if *m == nil {
		*m = map[string][]V{}
	}
	(*m)[key] = append((*m)[key], v)
}

// wholeTool returns a rule that speaks of every call of the tool with these names.
func (s *ruleSet) wholeTool(names []string) *Rule {
	for _, name := range names {
		for known := range servers(name) {
			if rules := s.whole[known]; len(rules) > 0 {
				return rules[0]
			}
		}
	}
	return nil
}

// A commandIndex finds rules for commands by their program, and those that quote a whole line by it.
type commandIndex struct {
	byProgram map[string][]*Rule
	rest      []*Rule // any program
	byLine    map[string]*Rule
}

func (x *commandIndex) add(r *Rule) {
	if r.command.Exact() {
		if x.byLine == nil {
			x.byLine = map[string]*Rule{}
		}
		x.byLine[strings.ReplaceAll(strings.TrimSpace(r.Content), `\*`, "*")] = r
	}
	if program := r.command.Program(); program != "" {
		add(&x.byProgram, program, r)
		return
	}
	x.rest = append(x.rest, r)
}

func (x *commandIndex) empty() bool { return len(x.byProgram) == 0 && len(x.rest) == 0 }

// quoting returns the rule that quotes the whole line.
func (x *commandIndex) quoting(s *shell.Script) *Rule {
	if r := x.byLine[strings.TrimSpace(s.Source)]; r != nil && r.command.Quotes(s) {
		return r
	}
	return nil
}

// suspected returns a rule that matches anything in s that looks like a command.
func (x *commandIndex) suspected(s *shell.Script) (*Rule, string) {
	if x.empty() {
		return nil, ""
	}
	for program := range s.Programs() {
		for _, r := range x.byProgram[program] {
			if text, ok := s.Suspected(r.command); ok {
				return r, text
			}
		}
	}
	for _, r := range x.rest {
		if text, ok := s.Suspected(r.command); ok {
			return r, text
		}
	}
	return nil, ""
}

// covering returns a rule that covers a part of a line, one that quotes it if there is one.
func (x *commandIndex) covering(part *shell.Part, counts func(*Rule) bool) *Rule {
	var found *Rule
	look := func(rules []*Rule) {
		for _, r := range rules {
			if (found == nil || !found.command.Exact() && r.command.Exact()) && counts(r) && part.Allowed(r.command) {
				found = r
			}
		}
	}
	for _, program := range part.Programs() {
		look(x.byProgram[program])
	}
	look(x.rest)
	return found
}

// A pathIndex finds rules for paths. A path that a rule matches holds a name that the rule fixes, or
// at least a name with its extension: the rule is found by that.
type pathIndex struct {
	rules  []*pathRule
	byName map[string][]*pathRule
	rest   []*pathRule
	// byDir has the rules by the directory below which they count; above has, for each directory above
	// one, a rule that counts below it.
	byDir map[string][]*pathRule
	above map[string][]*pathRule
}

func (x *pathIndex) add(r *pathRule) { x.rules = append(x.rules, r) }

// build makes the index. The name that fewest rules fix is the best to find a rule by.
func (x *pathIndex) build() {
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

// maxAbove bounds how many rules a directory remembers of those below it: one is enough to ask.
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

// key returns by what the rule is found; empty means that it has to be tried always.
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

// match returns a rule that speaks of the path.
func (x *pathIndex) match(name string, counts func(*Rule) bool) *Rule {
	if len(x.rules) == 0 {
		return nil
	}
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

// below returns a rule that may speak of something inside the directory, and whether it surely does.
func (x *pathIndex) below(dir string) (r *Rule, surely bool) {
	if len(x.rules) == 0 {
		return nil, false
	}
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
