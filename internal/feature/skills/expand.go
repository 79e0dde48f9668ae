package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/hook"
	"adze/internal/msg"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// An expansion is a skill's expanded prompt.
type expansion struct {
	skill *skill.Skill
	run   *grant
	text  string
	words string // text without command output
}

// expand fills in a skill's prompt and runs its commands. If granted, the skill's permissions
// are active from then on; after an error none are.
func (s *Skills) expand(ctx context.Context, k *skill.Skill, args string, granted bool) (_ *expansion, err error) {
	body, err := k.Text(ctx)
	if err != nil {
		return nil, fmt.Errorf("the skill %s cannot be read: %w", k.Name, err)
	}
	pieces, err := k.Expand(body, args, s.cfg.vars(k))
	if err != nil {
		return nil, fmt.Errorf("the skill %s is not run: %w", k.Name, err)
	}
	r := &grant{skill: k, args: args}
	if granted {
		if r.rules, r.hooks, err = s.cfg.granted(ctx, k); err != nil {
			return nil, err
		}
	}
	r.rules = append(r.rules, reading(k)...)
	s.grants.begin(r)
	defer func() {
		if err != nil {
			s.grants.end(r)
		}
	}()
	x := &expansion{skill: k, run: r}
	if err := s.cfg.compose(ctx, x, pieces); err != nil {
		return nil, err
	}
	if len(x.text) > maxPrompt {
		return nil, fmt.Errorf("the skill %s is not run: it is longer than %d bytes", k.Name, maxPrompt)
	}
	if strings.TrimSpace(x.text) == "" {
		return nil, fmt.Errorf("the skill %s is empty", k.Name)
	}
	if k.Dir != "" && k.Origin.Own() && !k.Origin.Command {
		x.text = catalogue.Text(s.cfg.Language(), "base", k.Dir) + "\n\n" + x.text
	}
	s.history.add(k, x.text)
	if s.cfg.Used != nil {
		s.cfg.Used(k.Name)
	}
	return x, nil
}

// reading returns the rules that let the model read a skill's files. They are part of the
// skill, so no prompt is needed. A directory whose name contains pattern characters gets no
// rule.
func reading(k *skill.Skill) (rules []rule.Rule) {
	if k.Dir == "" || k.Origin.Command || !k.Origin.Own() {
		return nil
	}
	dirs := []string{k.Dir}
	if real, err := filepath.EvalSymlinks(k.Dir); err == nil && real != k.Dir {
		dirs = append(dirs, real)
	}
	for _, dir := range dirs {
		dir = filepath.ToSlash(dir)
		if strings.ContainsAny(dir, `*?[]{}()!\\`) || !strings.HasPrefix(dir, "/") {
			continue
		}
		if r, err := rule.Parse("Read(/" + dir + "/**)"); err == nil {
			rules = append(rules, r)
		}
	}
	return rules
}

// granted returns a skill's rules and hooks. The user has approved them, which is recorded for
// the hooks.
func (c *Config) granted(ctx context.Context, k *skill.Skill) (rules []rule.Rule, hooks []hook.Source, err error) {
	if !k.Origin.Own() {
		return nil, nil, nil
	}
	if rules, err = c.rules(k); err != nil || len(k.Hooks) == 0 {
		return rules, nil, err
	}
	for _, it := range c.unapproved(k) {
		if c.Approve == nil {
			return nil, nil, errors.New("the hooks of the skill cannot be approved here")
		}
		if err := c.Approve(ctx, it); err != nil {
			return nil, nil, fmt.Errorf("the hooks of the skill %s cannot be approved: %w", k.Name, err)
		}
	}
	project := k.Origin.Kind == skill.Project
	src := hook.Source{
		Name: "skill " + k.Name, Scope: scope.Command, File: k.File, JSON: json.RawMessage(k.Hooks),
		Workspace: project, Trusted: !project || c.Trusted(),
	}
	if v := c.vars(k); v.PluginRoot != "" {
		src.Plugin = &hook.Plugin{Root: v.PluginRoot, Data: v.PluginData}
	}
	return rules, []hook.Source{src}, nil
}

// compose joins the pieces of a prompt, replacing commands by their output.
func (c *Config) compose(ctx context.Context, x *expansion, pieces []skill.Piece) error {
	var text, words strings.Builder
	for i, p := range pieces {
		if !p.Command {
			text.WriteString(p.Text)
			if x.skill.Origin.Own() {
				words.WriteString(p.Text)
			}
			continue
		}
		out, err := c.execute(ctx, x.skill, i, p.Text)
		if err != nil {
			return fmt.Errorf("the skill %s is not run, because of its command `%s`: %w", x.skill.Name, p.Text, err)
		}
		text.WriteString(out)
		words.WriteString("\n")
		if text.Len() > maxPrompt {
			break
		}
	}
	x.text, x.words = msg.Neutralise(text.String()), words.String()
	return nil
}

// commandLimit is the timeout of a skill's command, in milliseconds.
const commandLimit = 120_000

// execute runs a skill's command as a call of the shell tool, through the same gates and
// executor.
func (c *Config) execute(ctx context.Context, k *skill.Skill, i int, command string) (string, error) {
	if k.Origin.Kind != skill.Bundled && k.Origin.Kind != skill.Managed && c.NoShell != nil && c.NoShell() {
		return "", errors.New("the settings do not let skills run commands (disableSkillShellExecution)")
	}
	name := "Bash"
	if k.Shell == "powershell" {
		name = "PowerShell"
	}
	input, err := json.Marshal(map[string]any{"command": command, "description": "for the skill " + k.Name, "timeout": commandLimit})
	if err != nil {
		return "", err
	}
	pool := c.Session().Pool()
	if _, _, ok := pool.Lookup(name); !ok {
		return "", fmt.Errorf("the tool %s is not available", name)
	}
	ex := c.Session().Executor()
	p := ex.Bind(pool, msg.NewToolUse(fmt.Sprintf("skill_%s_%d", msg.NewID(), i), name, string(input)))
	if !ex.Admit(ctx, p) {
		return "", refused(p.Refused().Refusal, msg.PlainText(p.Refused().Result.Parts))
	}
	o := ex.Run(ctx, p, func(tool.Progress) {})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	printed := msg.PlainText(o.Result.Parts)
	if o.Result.IsError {
		return "", errors.New(tool.OneLine(printed, 500))
	}
	return strings.TrimRight(printed, "\n"), nil
}

// refused returns the reason why a command may not run, preferring the text for the user.
func refused(forUser, forModel string) error {
	if forUser != "" {
		return errors.New(forUser)
	}
	return errors.New(tool.OneLine(forModel, 500))
}
