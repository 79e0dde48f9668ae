package extensions

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"adze/internal/commands"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
)

// TestSkillsPage checks that skills are listed by origin with problems and unused ones, and
// that a single skill is shown with its size.
//
// Proves CMD-04.
func TestSkillsPage(t *testing.T) {
	text := func(context.Context) (string, error) { return "Do it.", nil }
	own := &skill.Skill{Name: "deploy", Head: skill.Head{Description: "deploys it", Hint: "[WHERE]", Allowed: []string{"Bash(make:*)"}}, Origin: skill.Origin{Kind: skill.Project}, File: "/p/deploy/SKILL.md", Text: text}
	set := &library.Set{
		Skills: []*skill.Skill{
			own, {Name: "by-hand", Head: skill.Head{Manual: true}, Origin: skill.Origin{Kind: skill.User}, Text: text},
		},
		Shadowed: []library.Shadowed{
			{Skill: &skill.Skill{Name: "deploy", File: "/q/SKILL.md"}, By: own},
			{Skill: &skill.Skill{Name: "review", Origin: skill.Origin{Kind: skill.Bundled}}, By: own}, {Skill: &skill.Skill{Name: "help", File: "/h/SKILL.md"}},
		},
		Problems: []skill.Problem{{File: "/b/SKILL.md", Field: "effort", Text: "is not a level"}},
	}
	r := commands.New(commands.Config{Env: commands.Env{Sections: Sections()}, Extensions: commands.Extensions{Skills: func(context.Context) *library.Set { return set }}})
	run := func(arg string) string {
		a, err := r.Run(t.Context(), "skills", arg)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(a)
	}
	page := run("")
	for _, want := range []string{
		"1 skill from your files:", "1 skill from the project:", "[/by-hand  ]", "Only you can call skills without a number of tokens.", "deploys it", "/b/SKILL.md: effort: is not a level",
		"/q/SKILL.md: /deploy is that of the project, so this one is not used", "Used in place of those from adze: /review",
		"/h/SKILL.md: /help is the command that is built in, so this one is not used",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in %s", want, page)
		}
	}
	if problems := fmt.Sprint(SkillProblems(set)); strings.Contains(problems, "review") {
		t.Errorf("a skill that was replaced is a problem: %s", problems)
	}
	for arg, want := range map[string]string{
		"/Deploy": "{Allows Bash(make:*)}", "DEPLOYS": `1 skill with "DEPLOYS":`, "by-hand": "{Called by you only}", "deplyo": "did you mean deploy", "qqqq": "/skills lists them",
	} {
		if got := run(arg); !strings.Contains(got, want) {
			t.Errorf("/skills %s: %s", arg, got)
		}
	}
	set = &library.Set{}
	if got := run(""); !strings.Contains(got, "No skills") {
		t.Error(got)
	}
}

// TestListedTokens checks that a skill's size is counted as listed for the model, with long
// descriptions cut.
func TestListedTokens(t *testing.T) {
	long := &skill.Skill{Name: "long", Head: skill.Head{Description: strings.Repeat("many words ", 300)}}
	cut := &skill.Skill{Name: "long", Head: skill.Head{Description: strings.Repeat("many words ", 30)}}
	if listed(long) != listed(cut) {
		t.Errorf("%s, and cut %s", listed(long), listed(cut))
	}
}

// TestManySkills checks that a page lists only some of very many skills, the user's first, and
// explains how to find others.
//
// Proves CMD-04.
func TestManySkills(t *testing.T) {
	set := &library.Set{Skills: []*skill.Skill{{Name: "own", Origin: skill.Origin{Kind: skill.User}}}}
	for i := range 300 {
		name := fmt.Sprintf("p%03d", i)
		for k := range 3 {
			set.Skills = append(set.Skills, &skill.Skill{Name: fmt.Sprintf("%s:s%d", name, k), Origin: skill.Origin{Kind: skill.Plugin, By: name}})
		}
	}
	page := skillsPage(new(commands.Registry), set)
	text := fmt.Sprint(page)
	for _, want := range []string{"1 skill from your files:", "/own", "/p000:s2", "And 750 skills more from others; /skills WORD searches"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	found, err := skillPage(t.Context(), set, "p299")
	if text := fmt.Sprint(found); err != nil || !strings.Contains(text, "3 skills with") || !strings.Contains(text, "/p299:s2") {
		t.Errorf("%s, %v", text, err)
	}
}
