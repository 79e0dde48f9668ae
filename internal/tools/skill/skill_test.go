package skill

import (
	"context"
	"strings"
	"testing"

	"adze/internal/domain/skill"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// config returns a tool with a skill deploy, a skill that only the user can invoke, and a skill
// that is running.
func config() Config {
	all := []*skill.Skill{
		{Name: "team:deploy", Head: skill.Head{Description: "Deploys", Allowed: []string{"Bash"}}},
		{Name: "manual", Head: skill.Head{Manual: true}}, {Name: "running"},
	}
	return Config{
		Find: func(name string) *skill.Skill {
			for _, s := range all {
				if s.Name == name {
					return s
				}
			}
			return nil
		},
		Names:   func() []string { return []string{"team:deploy", "running"} },
		Running: func(s *skill.Skill, args string) bool { return s.Name == "running" && args == "x" },
		Permissions: func(s *skill.Skill) Permissions {
			if len(s.Allowed) > 0 {
				return Permissions{Text: "- run any command"}
			}
			return Permissions{Free: true}
		},
		Run: func(context.Context, *skill.Skill, string, func(tool.Progress)) (tool.Result, error) {
			r := tool.Text("running")
			r.Structured = Output{Success: true, Name: "x", Status: "inline"}
			return r, nil
		},
	}
}

func TestContract(t *testing.T) {
	tooltest.Run(t, New(config()), tooltest.Cases{
		Input: Input{}, Dir: t.TempDir(),
		Good: map[string]string{"plain": `{"skill":"team:deploy"}`, "slash and arguments": `{"skill":" /running","args":"y"}`},
	})
}

// Proves SKILL-19.
func TestBind(t *testing.T) {
	tl := New(config())
	for input, want := range map[string]string{
		`{"skill":"/"}`:                    "skill is empty",
		`{"skill":"team:deplo"}`:           "did you mean team:deploy?",
		`{"skill":"help"}`:                 "only the user can run built-in commands",
		`{"skill":"manual"}`:               "only the user can call the skill manual, by typing /manual",
		`{"skill":"running","args":"x"}`:   "is running already",
		`{"skill":"running","args":"y"}`:   "",
		`{"skill":"/team:deploy"}`:         "",
		`{"skill":"team:deploy","args":1}`: "args",
	} {
		_, err := tl.Bind([]byte(input))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// TestRules checks that rules match a skill's name or a name prefix, and that the rules
// suggested to the user cover the call.
//
// Proves SKILL-22.
func TestRules(t *testing.T) {
	c := config()
	call := c.Call(c.Find("team:deploy"), "now")
	for content, want := range map[string]bool{
		"team:deploy": true, "/team:deploy": true, "team:*": true, "tea:*": true, "*": true, "team:deploy *": true, "team:deploy:*": true,
		"deploy": false, "team": false, "team:": false, "x:*": false, "team:dep": false, "te*": false,
	} {
		if got, err := tool.Matches(call, content); got != want || err != nil {
			t.Errorf("%s: %v, %v", content, got, err)
		}
	}
	rules := call.(tool.Ruled).Rules()
	if strings.Join(rules, " ") != "team:deploy team:*" {
		t.Errorf("suggested %q", rules)
	}
	for _, r := range rules {
		if got, err := tool.Matches(call, r); !got || err != nil {
			t.Errorf("the suggested rule %s does not cover the call", r)
		}
	}
	shown, err := call.(tool.Previewer).Preview(t.Context())
	if text := shown.(tool.Plain).Text; err != nil || !strings.Contains(text, "may, without asking:\n- run any command") {
		t.Errorf("%q, %v", text, err)
	}
}
