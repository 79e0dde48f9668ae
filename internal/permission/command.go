package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/platform/scope"
	"adze/internal/platform/shell"
)

// maxSuggested is how many rules are proposed for one command.
const maxSuggested = 5

// execute decides about a command: what forbids it first, on everything in it that could be run, then
// what has to be asked about, then whether every part of it is allowed.
func (p *Policy) execute(f *Facts, d *Decision) finding {
	c := f.Command
	found := p.forbidden(f)
	if found.behavior == Deny {
		return found
	}
	found = stricter(found, p.hazards(f))
	parts := p.parts(f, d)
	switch {
	case found.behavior == Ask:
	case parts.behavior == Allow:
		return parts
	case p.sandboxed(f) && !c.Edits:
		return allowed(BySandbox, "the sandbox confines it")
	default:
		found = parts
	}
	if !c.Edits {
		found.suggest = append(found.suggest, suggestCommand(c.Script)...)
	}
	return found
}

// forbidden looks for deny rules, in every mode and however the command is dressed up.
func (p *Policy) forbidden(f *Facts) finding {
	c := f.Command
	if r, text := p.deny.commands.suspected(c.Script); r != nil {
		return deniedBy(r, text)
	}
	var found finding
	for _, uses := range [][]Use{c.Uses, c.inner} {
		for i := range uses {
			if found = stricter(found, p.forbids(f, &uses[i])); found.behavior == Deny {
				return found
			}
		}
	}
	return stricter(found, p.mentions(c))
}

// forbids looks for deny rules against what one use touches. What is moved away, or handed to another
// program, is read as well.
func (p *Policy) forbids(f *Facts, u *Use) finding {
	targets := []Target{u.Target}
	if u.Write && u.Part != nil && len(u.Part.Words) > 0 && !u.Redirect {
		switch path.Base(u.Part.Words[0].Value) {
		case "mv", "find", "fd", "sed":
			read := u.Target
			read.Write = false
			targets = append(targets, read)
		}
	}
	var found finding
	for i := range targets {
		t := &targets[i]
		if r := p.ruleFor(&p.deny, f, t); r != nil {
			found = deniedBy(r, verb(t)+t.Set.Path)
			found.path = t.Set.Path
			return found
		}
		found = stricter(found, p.treeRule(t))
	}
	return found
}

func verb(t *Target) string {
	if t.Write {
		return "writing "
	}
	return "reading "
}

// mentions looks for denied paths among the words of programs about which nothing is known: who is
// given the name of a file may be taken to read it.
func (p *Policy) mentions(c *Command) finding {
	if len(p.deny.reads.rules) == 0 && len(p.deny.edits.rules) == 0 {
		return finding{}
	}
	known := map[*shell.Part]bool{}
	for _, u := range c.Uses {
		if !u.Redirect {
			known[u.Part] = true
		}
	}
	var found finding
	for _, part := range c.Script.Parts {
		if known[part] || len(part.Words) == 0 || harmlessWords(part.Words[0].Value) {
			continue
		}
		packs := packsTrees(part.Words[0].Value)
		for _, w := range part.Words[1:] {
			found = stricter(found, p.mention(w.Value, packs))
			if found.behavior == Deny {
				return found
			}
		}
	}
	return found
}

// packsTrees reports whether a program takes whole directories with it.
func packsTrees(program string) bool {
	switch path.Base(program) {
	case "tar", "zip", "7z", "scp", "rsync", "cpio", "pax", "cp":
		return true
	}
	return false
}

// mention judges a word that may be a path, or an option with one. Packs says that what is below a
// directory goes with it.
func (p *Policy) mention(word string, packs bool) finding {
	for _, name := range []string{word, afterAny(word, "="), afterAny(word, "@"), afterAny(word, ":")} {
		if name == "" || len(name) > maxPath {
			continue
		}
		full := name
		if rest, ok := strings.CutPrefix(name, "~/"); ok && p.cfg.Home != "" {
			full = filepath.Join(p.cfg.Home, rest)
		}
		if !filepath.IsAbs(full) {
			full = filepath.Join(p.cfg.Dir, full)
		}
		full = p.fold(filepath.Clean(full))
		if r := p.deny.reads.match(full, nil); r != nil {
			return deniedBy(r, "reading "+name)
		}
		if r := p.deny.edits.match(full, nil); r != nil {
			return askedBy(r, "a command that is given "+name)
		}
		if packs {
			if r, _ := p.deny.reads.below(full); r != nil {
				return askedBy(r, "what is in "+name)
			}
		}
	}
	return finding{}
}

// maxPath is longer than any path a system opens.
const maxPath = 4096

// afterAny returns what follows the first sep, or nothing.
func afterAny(word, sep string) string {
	_, rest, _ := strings.Cut(word, sep)
	return rest
}

// harmlessWords reports whether a program does nothing with its words but print them.
func harmlessWords(program string) bool {
	switch program {
	case "echo", "printf", "true", "false", ":":
		return true
	}
	return false
}

// hazards looks for what a person has to see, whatever the mode and the allow rules say.
func (p *Policy) hazards(f *Facts) finding {
	c := f.Command
	var found finding
	for _, s := range append([]*shell.Script{c.Script}, c.nested...) {
		if reasons := s.DangerousRemovals(p.cfg.Home, p.removalDirs()); len(reasons) > 0 {
			found = stricter(found, unsafe("%s", strings.Join(reasons, "; ")))
		}
	}
	if f.Unsandboxed && p.cfg.Sandbox.On {
		outside := unsafe("the command asks to be run outside the sandbox")
		outside.reason.Type = BySandbox
		found = stricter(found, outside)
	}
	if p.cfg.Sandbox.Missing && !c.readOnly() {
		missing := unsafe("the sandbox that the settings ask for is not available here")
		missing.reason.Type = BySandbox
		found = stricter(found, missing)
	}
	for _, uses := range [][]Use{c.Uses, c.inner} {
		for i := range uses {
			found = stricter(found, p.hazard(f, &uses[i].Target))
		}
	}
	if p.guardsFiles() && (c.Script.Programs()["xargs"] || c.Script.Programs()["parallel"]) {
		found = stricter(found, unsafe("what it hands to another program cannot be told beforehand, so no rule can protect anything from it"))
	}
	if r, text := p.ask.commands.suspected(c.Script); r != nil {
		found = stricter(found, askedBy(r, text))
	}
	if c.Script.Dynamic && !(p.deny.commands.empty() && p.ask.commands.empty()) {
		found = stricter(found, unsafe("which program it runs is known only when it runs, so no rule can be known not to apply"))
	}
	return found
}

// hazard looks for what a person has to see about one path.
func (p *Policy) hazard(f *Facts, t *Target) finding {
	var found finding
	if t.Write {
		if asked := p.write(f, t); asked.firm {
			found = asked
		}
	}
	if r := p.ruleFor(&p.ask, f, t); r != nil {
		found = stricter(found, askedBy(r, verb(t)+t.Set.Path))
	}
	if !t.Vague {
		found = stricter(found, p.doubtful(t))
	} else if p.guards(t) {
		found = stricter(found, unsafe("what it %s cannot be told beforehand, so no rule can protect anything from it", verbs(t)))
	}
	if found.behavior != "" {
		found.path = t.Set.Path
	}
	return found
}

// removalDirs returns the directories that must not be removed, the current one first.
func (p *Policy) removalDirs() []string {
	dirs := []string{p.cfg.Dir}
	for _, dir := range p.cfg.Dirs {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// guardsFiles reports whether any deny or ask rule speaks of files.
func (p *Policy) guardsFiles() bool { return p.guards(&Target{}) || p.guards(&Target{Write: true}) }

// guards reports whether any deny or ask rule could speak of a path that is not known.
func (p *Policy) guards(t *Target) bool {
	if t.Write {
		return len(p.deny.edits.rules)+len(p.ask.edits.rules) > 0
	}
	return len(p.deny.reads.rules)+len(p.ask.reads.rules) > 0
}

func verbs(t *Target) string {
	if t.Write {
		return "writes"
	}
	return "reads"
}

// parts decides whether every part of a command is allowed, and what it touches with it.
func (p *Policy) parts(f *Facts, d *Decision) finding {
	c := f.Command
	if r := p.allow.commands.quoting(c.Script); r != nil && p.counts(r) {
		return allowedBy(r)
	}
	if !c.Script.Simple {
		return asks(ByOther, "the command is not understood well enough to be allowed by a rule: %s", c.Script.Problem)
	}
	if c.Script.ChangesDir() {
		if c.Script.UsesGit() {
			return asks(BySafety, "it changes the directory and runs git, which may run code that the directory prepared")
		}
		if i := slices.IndexFunc(c.Uses, func(u Use) bool { return u.Write }); i >= 0 {
			return asks(BySafety, "it changes the directory and writes %s", c.Uses[i].Given)
		}
	}
	var worst finding
	for _, part := range c.Script.Parts {
		found := p.part(f, part, d)
		d.Parts = append(d.Parts, PartResult{Text: part.Text, Behavior: found.behavior, Reason: found.reason})
		worst = stricter(worst, found)
	}
	switch {
	case worst.behavior == Ask || len(c.Script.Parts) == 0:
		if worst.behavior == "" {
			worst = asks(ByOther, "the command is empty")
		}
		return worst
	case len(c.Script.Parts) == 1:
		return p.part(f, c.Script.Parts[0], &Decision{})
	case d.ReadOnly:
		return allowed(ByReadOnly, "every part of it only reads")
	}
	return allowed(ByParts, "every part of it is allowed")
}

// part decides about one part: by a rule, because it only reads, or because the mode allows it. What it
// touches has to be allowed with it.
func (p *Policy) part(f *Facts, part *shell.Part, d *Decision) finding {
	rule := p.allow.commands.covering(part, p.counts)
	how := p.coverage(f.Command, part, rule)
	for i := range f.Command.Uses {
		u := &f.Command.Uses[i]
		if u.Part != part {
			continue
		}
		found := p.useOf(f, u, rule)
		d.Paths = append(d.Paths, u.result(found))
		if how.behavior == Allow && (found.behavior != Allow || f.Command.Edits && rule == nil) {
			how = found
			how.path = u.Set.Path
		}
	}
	return how
}

// coverage decides about the words of a part, without what they touch.
func (p *Policy) coverage(c *Command, part *shell.Part, rule *Rule) finding {
	if rule != nil {
		return allowedBy(rule)
	}
	err := part.ReadOnly()
	if err == nil && c.Git != nil && slices.Contains(part.Programs(), "git") {
		err = c.Git
	}
	switch {
	case err == nil:
		return allowed(ByReadOnly, "it only reads")
	case c.Edits:
		return allowed(ByOther, "it is an edit of the files that it names")
	case p.acceptsEdits() && p.filesOnly(c, part):
		return finding{behavior: Allow, reason: Reason{Type: ByMode, Mode: p.cfg.Mode, Text: "the mode allows simple file commands in the working directories"}}
	}
	return asks(ByOther, "no rule allows %s, and it is not known to only read: %v", part.Text, err)
}

// filesOnly reports whether a part makes, moves or copies files and nothing else. Where they are is
// judged with the uses.
func (p *Policy) filesOnly(c *Command, part *shell.Part) bool {
	if len(part.Assigns) > 0 || len(part.Words) < 2 {
		return false
	}
	switch part.Words[0].Value {
	case "mkdir", "touch", "mv", "cp":
		return slices.ContainsFunc(c.Uses, func(u Use) bool { return u.Part == part && u.Write && !u.Redirect })
	}
	return false
}

// useOf decides about a file that a part touches. A rule that quotes the command covers its operands;
// any other rule covers them inside the working directories, and no rule covers a redirection.
func (p *Policy) useOf(f *Facts, u *Use, rule *Rule) finding {
	exact := rule != nil && rule.command.Exact()
	switch {
	case exact && !u.Redirect:
		return allowedBy(rule)
	case u.Vague:
		return asks(ByOther, "what it touches cannot be told beforehand: %s", u.Given)
	case rule != nil && !u.Redirect && u.Verb != shell.EnterPath && p.contains(u.names):
		return allowedBy(rule)
	}
	return p.judge(f, &u.Target)
}

// counts reports whether an allow rule counts in the mode: where a classifier stands in for the person,
// a rule must not hand it what can do anything.
func (p *Policy) counts(r *Rule) bool { return !p.classifies() || !broad(r) }

// sandboxed reports whether the sandbox confines the command well enough not to ask.
func (p *Policy) sandboxed(f *Facts) bool {
	s := p.cfg.Sandbox
	if !s.On || !s.AutoAllow || f.Unsandboxed || f.Command.Script.Opaque {
		return false
	}
	return !p.excludedFromSandbox(f.Command.Script)
}

// excludedFromSandbox reports whether every part is excluded.
func (p *Policy) excludedFromSandbox(s *shell.Script) bool {
	if len(p.excluded) == 0 || !s.Simple || len(s.Parts) == 0 {
		return false
	}
	for _, part := range s.Parts {
		if !slices.ContainsFunc(p.excluded, part.Allowed) {
			return false
		}
	}
	return true
}

// readOnly reports whether the command is known to change nothing.
func (c *Command) readOnly() bool {
	if c.Script.ReadOnly() != nil || c.Script.UsesGit() && c.Git != nil {
		return false
	}
	return !slices.ContainsFunc(c.Uses, func(u Use) bool { return u.Write })
}

// suggestCommand proposes rules for the parts of a command.
func suggestCommand(s *shell.Script) []Update {
	contents := s.Suggest()
	if len(contents) == 0 {
		return nil
	}
	u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Local}
	for _, content := range contents[:min(len(contents), maxSuggested)] {
		u.Rules = append(u.Rules, RuleValue{Tool: compat.Command, Content: content})
	}
	return []Update{u}
}

// broad reports whether an allow rule lets a command do anything: a whole tool that runs commands or
// agents, an interpreter, or a program that runs packages.
func broad(r *Rule) bool {
	kind := r.kind()
	switch {
	case r.Content == "":
		return kind.Runs()
	case kind == compat.Agent:
		return true
	case kind == compat.Foreign:
		name, _, _ := strings.Cut(strings.ToLower(r.Content), " ")
		name = strings.TrimRight(name, ":*")
		return strings.Contains(r.Content, "*") && (name == "" || runsAnything(name))
	case kind != compat.Shell || r.command.Exact():
		return false
	}
	program := r.command.Program()
	return program == "" || runsAnything(program)
}

// runsAnything reports whether a program runs whatever it is given: an interpreter, a shell, a wrapper,
// or a runner of packages and scripts.
func runsAnything(program string) bool {
	program = strings.TrimRight(program, "0123456789.")
	switch program {
	case "sh", "bash", "zsh", "dash", "fish", "ksh", "python", "node", "deno", "bun", "ruby", "perl", "php", "lua", "osascript", "pwsh", "powershell",
		"npx", "bunx", "uvx", "pipx", "npm", "pnpm", "yarn", "uv", "poetry", "pip", "gem", "cargo", "go", "make",
		"sudo", "doas", "env", "xargs", "ssh", "eval", "exec", "find", "awk", "gawk", "watch", "parallel", "nohup", "nice", "timeout", "time", "docker", "kubectl", "adze",
		"iex", "invoke-expression", "icm", "invoke-command", "start", "saps", "start-process", "cmd", "wsl":
		return true
	}
	return false
}
