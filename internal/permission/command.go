package permission

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/permission/nested"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/shell"
)

// A commandCheck decides about a call's command.
type commandCheck struct {
	pathCheck
	cmd *Command
	d   *Decision // receives the verdict on each part and path
}

// execute decides about the command: first deny rules, applied to everything in it that could
// run, then hazards that need confirmation, then whether every part is allowed.
func (c commandCheck) execute() finding {
	found := c.forbidden()
	if found.behavior == Deny {
		return found
	}
	found = stricter(found, c.hazards())
	parts := c.parts()
	switch {
	case found.behavior == Ask:
	case parts.behavior == Allow:
		return parts
	case c.sandboxed() && !c.cmd.Edits:
		return allow(Reason{Kind: Sandboxed})
	default:
		found = parts
	}
	if !c.cmd.Edits {
		found.suggest = append(found.suggest, suggestCommand(c.cmd.Script)...)
	}
	return found
}

// forbidden applies deny rules, in every mode and regardless of how the command is disguised.
func (c commandCheck) forbidden() finding {
	for _, s := range c.scripts() {
		if r, text := c.rules.Deny.Commands.Suspected(s); r != nil {
			return deniedBy(r, text)
		}
	}
	var found finding
	for _, uses := range [][]Use{c.cmd.Uses, c.cmd.inner} {
		for i := range uses {
			if found = stricter(found, c.forbids(&uses[i])); found.behavior == Deny {
				return found
			}
		}
	}
	if found = stricter(found, c.mentions()); found.behavior == Deny {
		return found
	}
	return stricter(found, c.shown())
}

// forbids applies deny rules to the files one use touches. A file that is moved away or passed
// to another program counts as read.
func (c commandCheck) forbids(u *Use) finding {
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
		if left := c.left(t); left.behavior != "" && !u.Guess {
			return left
		}
		if r := c.ruleFor(&c.rules.Deny, t); r != nil {
			found = deniedPath(r, t.Write, t.Set.Path)
			found.path = t.Set.Path
			return found
		}
		found = stricter(found, c.treeRule(t))
	}
	return found
}

// mentions looks for denied paths among the arguments of unknown programs: a program that is
// given a file name may read the file.
func (c commandCheck) mentions() finding {
	if c.rules.Deny.Reads.Any() == nil && c.rules.Deny.Edits.Any() == nil {
		return finding{}
	}
	known := map[*shell.Part]bool{}
	for _, u := range c.cmd.Uses {
		if !u.Redirect && !u.Output {
			known[u.Part] = true
		}
	}
	var found finding
	for _, part := range c.cmd.Script.Parts {
		if known[part] || len(part.Words) == 0 || onlyPrints(part) {
			continue
		}
		if shown, git := shell.ShownBy(part); git { // the files git shows are judged separately
			for _, name := range shown.Files {
				if r := c.rules.Deny.Edits.Match(c.anchors.Form(inDir(c.cfg.Dir, name)), nil); r != nil {
					found = stricter(found, confirm(Reason{Kind: RuleProtects, Rule: r, What: name}))
				}
			}
			continue
		}
		packs := shell.Is(part.Words[0].Value, shell.Packs)
		for _, w := range part.Words[1:] {
			found = stricter(found, c.mention(w.Value, packs))
			if found.behavior == Deny {
				return found
			}
		}
	}
	return found
}

// hazards looks for actions that the user must confirm, regardless of mode and allow rules.
func (c commandCheck) hazards() finding {
	var found finding
	for _, line := range append([]nested.Line{{Script: c.cmd.Script}}, c.cmd.nested...) {
		if line.Handed {
			continue // the line's own check reports these
		}
		if reasons := line.DangerousRemovals(c.cfg.Home, c.cfg.removalDirs(), line.Outer); len(reasons) > 0 {
			found = stricter(found, confirm(Reason{Kind: Removal, Text: strings.Join(reasons, "; ")}))
		}
	}
	if c.f.Unsandboxed && c.cfg.Sandbox.On {
		found = stricter(found, confirm(Reason{Kind: Unsandboxed}))
	}
	if c.cfg.Sandbox.Missing && !c.cmd.readOnly() {
		found = stricter(found, confirm(Reason{Kind: SandboxMissing}))
	}
	for _, uses := range [][]Use{c.cmd.Uses, c.cmd.inner} {
		for i := range uses {
			found = stricter(found, c.hazard(&uses[i].Target))
		}
	}
	if c.guardsFiles() && (c.cmd.Script.Programs()["xargs"] || c.cmd.Script.Programs()["parallel"]) {
		found = stricter(found, confirm(Reason{Kind: StdinArguments}))
	}
	for _, s := range c.scripts() {
		if r, text := c.rules.Ask.Commands.Suspected(s); r != nil {
			found = stricter(found, askedBy(r, text))
		}
	}
	return stricter(found, c.unknown())
}

// unknown looks for parts that are only determined at run time, if a rule denies or asks about
// some commands.
func (c commandCheck) unknown() finding {
	if !c.rulesCommands() {
		return finding{}
	}
	why := c.cmd.unsure
	for _, s := range c.scripts() {
		if why == "" {
			why = s.Unknown()
		}
	}
	if why != "" {
		return confirm(Reason{Kind: RuntimeProgram, Doubt: errors.New(why)})
	}
	for _, s := range c.scripts() {
		for _, rules := range []*rule.Set{&c.rules.Deny, &c.rules.Ask} {
			if r, text := rules.Commands.Possible(s); r != nil {
				return confirm(Reason{Kind: RuntimeMatch, Rule: r, What: text})
			}
		}
	}
	return finding{}
}

// scripts returns the line and its expansions under other names.
func (c commandCheck) scripts() []*shell.Script {
	return append([]*shell.Script{c.cmd.Script}, c.cmd.others...)
}

// speaks reports whether a deny or ask rule may apply to a program.
func (p *Policy) speaks(program string) bool {
	return p.rules.Deny.Commands.Speaks(program) || p.rules.Ask.Commands.Speaks(program)
}

// rulesCommands reports whether a deny or ask rule applies to some commands.
func (p *Policy) rulesCommands() bool {
	return !p.rules.Deny.Commands.Empty() || !p.rules.Ask.Commands.Empty()
}

// hazard looks for actions on one path that the user must confirm.
func (c commandCheck) hazard(t *Target) finding {
	var found finding
	if t.Write {
		if asked := c.write(t); asked.firm {
			found = asked
		}
	}
	if r := c.ruleFor(&c.rules.Ask, t); r != nil {
		found = stricter(found, askedPath(r, t.Write, t.Set.Path))
	}
	if !t.Vague {
		found = stricter(found, c.doubtful(t))
	} else if c.guards(t) {
		found = stricter(found, confirm(Reason{Kind: RuntimeFiles, Write: t.Write}))
	}
	if found.behavior != "" {
		found.path = t.Set.Path
	}
	return found
}

// removalDirs returns the directories that must not be removed, the current one first.
func (c *Config) removalDirs() []string {
	dirs := []string{c.Dir}
	for _, dir := range c.Dirs {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// guardsFiles reports whether any deny or ask rule applies to files.
func (p *Policy) guardsFiles() bool { return p.guards(&Target{}) || p.guards(&Target{Write: true}) }

// guards reports whether any deny or ask rule could apply to an unknown path.
func (p *Policy) guards(t *Target) bool {
	if t.Write {
		return p.rules.Deny.Edits.Any() != nil || p.rules.Ask.Edits.Any() != nil
	}
	return p.rules.Deny.Reads.Any() != nil || p.rules.Ask.Reads.Any() != nil
}

// parts decides whether every part of a command is allowed, including the files it touches.
func (c commandCheck) parts() finding {
	if r := c.rules.Allow.Commands.Quoting(c.cmd.Script); r != nil && c.covers(r) {
		return allowedBy(r)
	}
	if c.cmd.Jailed {
		return c.jailed()
	}
	if !c.cmd.Script.Simple {
		why := Reason{Kind: TooComplex, What: c.cmd.Script.Problem}
		if c.cmd.Doubt != nil && c.cmd.Doubt.Error() != c.cmd.Script.Problem {
			why.Doubt = c.cmd.Doubt
		}
		return ask(why)
	}
	if c.cmd.Script.ChangesDir() {
		if c.cmd.Script.UsesGit() && !c.cmd.stays && (c.cmd.Git != nil || !gitReads(c.cmd.Script)) {
			return ask(Reason{Kind: CdGit})
		}
		if i := slices.IndexFunc(c.cmd.Uses, func(u Use) bool { return u.Write && !u.Guess }); i >= 0 {
			return ask(Reason{Kind: CdWrite, What: c.cmd.Uses[i].Files()})
		}
	}
	var worst, last finding
	for _, part := range c.cmd.Script.Parts {
		found := c.part(part)
		c.d.Parts = append(c.d.Parts, PartResult{Text: part.Text, Behavior: found.behavior, Reason: found.reason, reads: found.behavior == Ask && c.reads(part)})
		worst, last = stricter(worst, found), found
	}
	switch {
	case worst.behavior == Ask || len(c.cmd.Script.Parts) == 0:
		if worst.behavior == "" {
			worst = ask(Reason{Kind: EmptyCommand})
		}
		if worst.reason.needsRule() {
			worst.reason = c.d.unapprovedReason()
		}
		return worst
	case c.cmd.Doubt != nil && !slices.ContainsFunc(c.d.Parts, func(r PartResult) bool { return r.Reason.Type() != ByReadOnly }):
		// Commands allowed only because they were proven read-only run in the jail or not at
		// all.
		return ask(Reason{Kind: Unapproved, Doubt: c.cmd.Doubt})
	case len(c.cmd.Script.Parts) == 1:
		return last
	case c.d.ReadOnly:
		return allow(Reason{Kind: PartsRead})
	}
	return allow(Reason{Kind: PartsAllowed})
}

// reads reports whether a part would run in a jail if it were the whole line.
func (c commandCheck) reads(part *shell.Part) bool {
	if c.cmd.Doubt == nil || len(c.cmd.Script.Parts) == 1 {
		return false // no jails here, or already checked
	}
	_, err := shell.Parse(part.Text, shell.Vars{}).Jailed()
	return err == nil
}

// gitReads reports whether git is only used to read.
func gitReads(s *shell.Script) bool {
	return !slices.ContainsFunc(s.Parts, func(p *shell.Part) bool {
		return slices.Contains(p.Programs(), "git") && p.WordsReadOnly() != nil
	})
}

// jailed decides about a command that runs in a jail. It can only read there, so only the files
// it reads matter. For paths not known in advance, the jail limits reads to places where
// everything may be read.
func (c commandCheck) jailed() finding {
	how := allow(Reason{Kind: PartReads})
	if i := slices.IndexFunc(c.cmd.Uses, func(u Use) bool { return u.dashed != "" }); i >= 0 && c.cmd.Script.Launches() {
		return ask(Reason{Kind: OptionName, What: c.cmd.Uses[i].dashed, Text: c.cmd.Uses[i].Glob})
	}
	for _, part := range c.cmd.Script.Parts {
		one := how
		for i := range c.cmd.Uses {
			if u := &c.cmd.Uses[i]; u.Part == part && !u.Vague {
				found := c.useOf(u, nil)
				c.d.Paths = append(c.d.Paths, u.result(found))
				if found.path = u.Set.Path; one.behavior == Allow && found.behavior != Allow {
					one = found
				}
			}
		}
		c.d.Parts = append(c.d.Parts, PartResult{Text: part.Text, Behavior: one.behavior, Reason: one.reason})
		if how.behavior == Allow {
			how = one
		}
	}
	return how
}

// part decides about one part: allowed by a rule, as read-only, or by the mode. The files it
// touches must be allowed too.
func (c commandCheck) part(part *shell.Part) finding {
	by := c.rules.Allow.Commands.Covering(part, c.counts)
	how := c.coverage(part, by)
	for i := range c.cmd.Uses {
		u := &c.cmd.Uses[i]
		if u.Part != part {
			continue
		}
		found := c.useOf(u, by)
		c.d.Paths = append(c.d.Paths, u.result(found))
		if how.behavior == Allow && (found.behavior != Allow || c.cmd.Edits && by == nil) {
			how = found
			how.path = u.Set.Path
		}
	}
	if by == nil || by.Exact() || how.behavior != Allow {
		return how
	}
	for _, m := range c.cmd.mentions {
		if m.part == part {
			how = ask(m.reason)
			how.path = m.reason.What
		}
	}
	return how
}

// coverage decides about a part's words, ignoring the files they touch.
func (c commandCheck) coverage(part *shell.Part, by *rule.Rule) finding {
	if by != nil {
		return allowedBy(by)
	}
	err := part.ReadOnly()
	if err == nil && c.cmd.Git != nil && slices.Contains(part.Programs(), "git") {
		err = c.cmd.Git
	}
	if err == nil {
		err = c.followed(part)
	}
	switch {
	case err == nil:
		return allow(Reason{Kind: PartReads})
	case c.cmd.Edits && isSed(part):
		return allow(Reason{Kind: PartEdits})
	case c.filesOnly(part) && c.scratches(part):
		return allow(Reason{Kind: PartWritesScratch})
	case c.cfg.Mode.AcceptsEdits() && c.filesOnly(part):
		return allow(Reason{Kind: ModeAllowsFileCommand, Mode: c.cfg.Mode})
	}
	why := Reason{Kind: Unapproved, Doubt: err}
	switch {
	case len(c.cmd.Script.Parts) > 1:
		why.Parts = []string{part.Text}
		if doubt := part.JailDoubt(); doubt != nil {
			why.Doubt = doubt // it says more of what the part does
		}
	case c.cmd.Doubt != nil:
		why.Doubt = c.cmd.Doubt // it concerns the jail, which is more permissive
	}
	return ask(why)
}

// followed returns the reason why a part may follow links to other files than those it is given,
// or nil. In a directory it might; in a jail that does not matter.
func (c commandCheck) followed(part *shell.Part) error {
	if len(part.Words) == 0 || !shell.Is(part.Words[0].Value, shell.FollowsLinks) {
		return nil
	}
	for i := range c.cmd.Uses {
		u := &c.cmd.Uses[i]
		if u.Part == part && !u.Write && u.Given != "-" && (u.Set.Info == nil || !u.Set.Info.Mode().IsRegular()) {
			return fmt.Errorf("`%s` may follow links in %s", path.Base(part.Words[0].Value), u.Given)
		}
	}
	return nil
}

// filesOnly reports whether a part only creates, moves or copies files. Their locations are
// checked with the uses.
func (c commandCheck) filesOnly(part *shell.Part) bool {
	return part.FileCommand() && slices.ContainsFunc(c.cmd.Uses, func(u Use) bool { return u.Part == part && u.Write && !u.Redirect })
}

// scratches reports whether a part writes only to the temporary directory.
func (c commandCheck) scratches(part *shell.Part) bool {
	return !slices.ContainsFunc(c.cmd.Uses, func(u Use) bool {
		return u.Part == part && u.Write && (u.Vague || !c.places().scratched(u.names))
	})
}

// useOf decides about a file that a part touches. A rule that quotes the command covers its
// operands, unless it is a project rule; any other rule covers them inside the working
// directories only, and no rule covers a redirection.
func (c commandCheck) useOf(u *Use, by *rule.Rule) finding {
	exact := by != nil && by.Exact() && (by.Scope != scope.Project || c.places().contains(u.names))
	switch {
	case exact && !u.Redirect:
		return allowedBy(by)
	case u.Vague && u.Given == "" && !u.Write && by != nil:
		return allowedBy(by) // passed by another program: the rule names both
	case u.Vague:
		return ask(Reason{Kind: UnknownPath, Write: u.Write, What: u.Files()})
	case by != nil && !u.Redirect && u.Verb != shell.EnterPath && c.places().contains(u.names):
		if asked := c.write(&u.Target); u.Soft && u.Write && asked.reason.Type() == BySafety {
			return asked
		}
		return allowedBy(by)
	}
	return c.judge(&u.Target)
}

// counts reports whether an allow rule counts in the current mode. If a classifier replaces the
// user, broad rules do not count.
func (p *Policy) counts(r *rule.Rule) bool { return !p.cfg.classifies() || !r.Broad() }

// sandboxed reports whether the sandbox confines the command well enough to skip the prompt.
func (c commandCheck) sandboxed() bool {
	s := c.cfg.Sandbox
	if !s.On || !s.AutoAllow || c.f.Unsandboxed || c.cmd.Script.Opaque {
		return false
	}
	return !c.Excluded(c.cmd.Script)
}

// Excluded reports whether the settings let a command run outside the sandbox, which requires
// that every part of it is excluded.
func (p *Policy) Excluded(s *shell.Script) bool {
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
	if c.Jailed || c.Doubt != nil {
		return c.Jailed
	}
	if c.Script.ReadOnly() != nil || c.Script.UsesGit() && c.Git != nil {
		return false
	}
	return !slices.ContainsFunc(c.Uses, func(u Use) bool { return u.Write && !u.Guess })
}

// suggestCommand proposes rules for the parts of a command.
func suggestCommand(s *shell.Script) []Update {
	contents := s.Suggest()
	if len(contents) == 0 {
		return nil
	}
	u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Local}
	for _, content := range contents {
		u.Rules = append(u.Rules, RuleValue{Tool: compat.Command, Content: content})
	}
	return []Update{u}
}
