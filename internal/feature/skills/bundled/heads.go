package bundled

import "adze/internal/domain/skill"

// A head is a skill's front matter.
type head struct {
	name string
	skill.Head
	files bool // has files
}

// heads returns the front matter of all skills, ordered by name. To add a skill, write its
// prompt in directory skills and list it here.
//
// Only users can call these skills: their descriptions would cost tokens in every conversation,
// and a model that called one would grant itself the permissions the user grants by calling it.
// Read-only commands need no rule, so no rule allows running git in a repository that makes it
// run other programs.
func heads() []head {
	return []head{
		{name: "commit", Head: skill.Head{
			Description: "commit related changes, in the style of the repository",
			Hint:        "[WHAT]", Manual: true,
			Allowed: []string{"Bash(git add:*)", "Bash(git commit -m:*)"},
		}},
		{name: "commit-push-pr", Head: skill.Head{
			Description: "commit the changes, push the branch and open a pull request",
			Hint:        "[WHAT]", Manual: true,
			Allowed: []string{
				"Bash(git add:*)", "Bash(git commit -m:*)", "Bash(git switch -c:*)", "Bash(git push -u origin HEAD)",
				"Bash(gh pr view:*)", "Bash(gh pr create:*)",
			},
		}},
		{name: "debug", Head: skill.Head{
			Description: "find the cause of a problem, and fix it", Hint: "PROBLEM", Manual: true,
		}},
		{name: "init", Head: skill.Head{
			Description: "write AGENTS.md, or improve the existing instructions",
			Hint:        "[WHAT]", Manual: true,
		}},
		{name: "pr-comments", Head: skill.Head{
			Description: "show review comments and open items",
			Hint:        "[PR]", Manual: true,
			Allowed: []string{"Bash(gh pr view:*)", "Bash(gh pr list:*)"},
		}},
		{name: "review", Head: skill.Head{
			Description: "review uncommitted changes, a pull request or a range",
			Hint:        "[PR|RANGE|WHAT]", Manual: true,
			Allowed: []string{"Bash(gh pr view:*)", "Bash(gh pr diff:*)", "Bash(gh pr checks:*)"},
		}},
		{name: "security-review", Head: skill.Head{
			Description: "look for vulnerabilities in the changes of this branch",
			Hint:        "[RANGE|WHAT]", Manual: true,
		}, files: true},
		{name: "simplify", Head: skill.Head{
			Description: "simplify changed code without changing its behaviour",
			Hint:        "[WHAT]", Manual: true,
		}},
		{name: "verify", Head: skill.Head{
			Description: "run the changed code, and see whether it works", Hint: "[WHAT]", Manual: true,
		}},
	}
}
