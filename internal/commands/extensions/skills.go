package extensions

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/model/tokens"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
)

func skillsCommand() commands.Command {
	return commands.Command{Name: "skills", Args: "[NAME|WORD]", Doc: "list the skills with their source and problems, show one, or search",
		Run: func(ctx context.Context, r *commands.Registry, name string) (commands.Answer, error) {
			if r.Extensions.Skills == nil {
				return commands.Say("No skills in this session."), nil
			}
			set := r.Extensions.Skills(ctx)
			if name != "" {
				return skillPage(ctx, set, strings.TrimPrefix(name, "/"))
			}
			return skillsPage(r, set), nil
		},
		Complete: func(r *commands.Registry, _ string) (names []string) {
			if r.Extensions.Skills != nil {
				for _, s := range r.Extensions.Skills(context.Background()).Skills {
					names = append(names, s.Name)
				}
			}
			return names
		}}
}

// maxSkills is the maximum number of skills listed per origin. After maxListed skills or
// agents, further plugins' entries are only counted.
const (
	maxSkills = 40
	maxListed = 150
)

// skillsPage lists the skills by origin, with their size in the model's skill list, and the
// unused ones.
func skillsPage(r *commands.Registry, set *library.Set) commands.Page {
	var p commands.Page
	var origins []skill.Origin
	by := map[skill.Origin][]*skill.Skill{}
	for _, s := range set.Skills {
		o := s.Origin
		o.Command = false
		if by[o] == nil {
			origins = append(origins, o)
		}
		by[o] = append(by[o], s)
	}
	slices.SortStableFunc(origins, func(a, b skill.Origin) int { return int(a.Kind) - int(b.Kind) })
	if slices.ContainsFunc(set.Skills, func(s *skill.Skill) bool { return s.Manual }) {
		p.Add(commands.Text("Only you can call skills without a number of tokens."))
	}
	shown, left := 0, 0
	for _, o := range origins {
		list := by[o]
		if shown >= maxListed {
			left += len(list)
			continue
		}
		p.Add(commands.Text(fmt.Sprintf("%s from %s:", amount.Of(len(list), "skill", "skills"), o)))
		shown += addSkills(&p, list)
	}
	if left > 0 {
		p.Add(commands.Text("And " + amount.Of(left, "skill", "skills") + " more from others; /skills WORD searches names and descriptions."))
	}
	if len(origins) == 0 {
		p.Add(commands.Text("No skills. A skill is a directory with a SKILL.md, in .adze/skills of the project or in " + r.Files.Short(filepath.Join(r.Dirs.Config, "skills")) + "."))
	}
	if names := replaced(set); len(names) > 0 {
		p.Add(commands.Text("Used in place of those from adze: " + strings.Join(names, ", ")))
	}
	for _, problem := range SkillProblems(set) {
		p.Add(commands.Notice(problem))
	}
	return p
}

// replaced returns the bundled skills that are overridden by another of the same name. That is
// the intended way to replace them.
func replaced(set *library.Set) (names []string) {
	for _, s := range set.Shadowed {
		if s.By != nil && s.Skill.Origin.Kind == skill.Bundled {
			names = append(names, "/"+s.Skill.Name)
		}
	}
	return names
}

// addSkills adds a table of skills, and returns how many are in it.
func addSkills(p *commands.Page, list []*skill.Skill) int {
	table := commands.Table{Columns: []commands.Column{{}, {Right: true}, {Cut: true}}, Indented: true}
	for _, s := range list[:min(maxSkills, len(list))] {
		table.Rows = append(table.Rows, []string{"/" + s.Name, listed(s), s.Description})
	}
	p.Add(table)
	if more := len(list) - len(table.Rows); more > 0 {
		p.Add(commands.Text("  And " + amount.Of(more, "skill", "skills") + " more; /skills NAME shows one."))
	}
	return len(table.Rows)
}

// skillsWith returns the skills with a word in their names or descriptions.
func skillsWith(set *library.Set, word string) (found []*skill.Skill) {
	word = strings.ToLower(word)
	for _, s := range set.Skills {
		if strings.Contains(strings.ToLower(s.Name+"\n"+s.Description), word) {
			found = append(found, s)
		}
	}
	return found
}

// listed returns how many tokens a skill takes in the model's skill list, or "" if it is not
// listed.
func listed(s *skill.Skill) string {
	if s.Manual {
		return ""
	}
	return amount.Of(tokens.New("").Text("- "+s.Name+": "+skill.Words(s)+"\n"), "token", "tokens")
}

// SkillProblems returns the problems of skills: files that are not used as intended, and skills
// shadowed by another one.
func SkillProblems(set *library.Set) []string {
	const most = 50
	var all []string
	for _, p := range set.Problems {
		all = append(all, p.Error())
	}
	for _, s := range set.Shadowed {
		if s.By != nil && s.Skill.Origin.Kind == skill.Bundled {
			continue
		}
		by := "the command that is built in"
		if s.By != nil {
			by = "that of " + s.By.Origin.String()
		}
		all = append(all, fmt.Sprintf("%s: /%s is %s, so this one is not used", s.Skill.File, s.Skill.Name, by))
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return all
}

// skillPage shows the named skill, or the skills that match a word.
func skillPage(ctx context.Context, set *library.Set, name string) (commands.Answer, error) {
	i := slices.IndexFunc(set.Skills, func(s *skill.Skill) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		if found := skillsWith(set, name); len(found) > 0 {
			var p commands.Page
			p.Add(commands.Text(fmt.Sprintf("%s with %q:", amount.Of(len(found), "skill", "skills"), name)))
			addSkills(&p, found)
			return p, nil
		}
		var names []string
		for _, s := range set.Skills {
			names = append(names, s.Name)
		}
		if near := rank.Closest(name, names, 1); len(near) > 0 {
			return nil, fmt.Errorf("unknown skill %s; did you mean %s?", name, near[0])
		}
		return nil, fmt.Errorf("unknown skill %s; /skills lists them", name)
	}
	s := set.Skills[i]
	fields := commands.Fields{{Name: "Name", Value: strings.TrimSpace("/" + s.Name + " " + s.Hint)}, {Name: "About", Value: s.Description}}
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, commands.Field{Name: name, Value: value})
		}
	}
	add("When", s.When)
	add("From", s.Origin.String())
	add("File", s.File)
	add("Version", s.Version)
	add("Allows", strings.Join(s.Allowed, ", "))
	add("Model", s.Model)
	add("Effort", s.Effort)
	add("For files", strings.Join(s.Paths, ", "))
	switch {
	case s.Manual:
		add("Called by", "you only")
	case s.Hidden:
		add("Called by", "the model only")
	}
	add("List", listed(s))
	text, err := s.Text(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the skill %s: %w", s.Name, err)
	}
	add("Prompt", "about "+amount.Of(tokens.New("").Text(text), "token", "tokens"))
	return commands.Page{Blocks: []commands.Block{fields}}, nil
}
