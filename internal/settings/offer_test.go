package settings

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/settings/config"
)

// samples returns sample values of a key in file syntax.
func samples(k config.Key) []string {
	if len(k.Choices) > 0 {
		all := append([]string{}, k.Choices...)
		for i := range all {
			all[i] = `"` + all[i] + `"`
		}
		return all
	}
	switch k.Kind {
	case config.Bool:
		return []string{"true", "false"}
	case config.Int, config.Float:
		text, err := json.Marshal(max(k.Min, 1))
		if err != nil {
			panic(err)
		}
		return []string{string(text)}
	case config.Text:
		return []string{`"sample"`, `"plan"`, `"acceptEdits"`}
	case config.List, config.Rules:
		return []string{`["sample"]`}
	case config.Dirs:
		return []string{`["sub"]`, `["/"]`}
	}
	if k.Name == "hooks" {
		return []string{`{"Stop":[{"hooks":[{"type":"command","command":"sample"}]}]}`}
	}
	return []string{`{"SAMPLE":"sample"}`}
}

// nested returns a settings file that sets one key.
func nested(name, value string) string {
	parts := strings.Split(name, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		value = `{"` + parts[i] + `":` + value + `}`
	}
	return value
}

// TestOfferShowsAllThatCounts checks that the prompt includes every setting that becomes
// effective with trust, from any workspace file. A new key that is not shown fails this test.
// Finding F5.
//
// Proves PERM-70.
func TestOfferShowsAllThatCounts(t *testing.T) {
	p := newPlace(t)
	p.Write("work/sub/file", "")
	files := []string{"work/.adze/settings.json", "work/.claude/settings.json", "work/.adze/settings.local.json", "work/.claude/settings.local.json"}
	effective := map[string]bool{}
	check := func(file, text, id, want string) {
		t.Helper()
		for _, f := range files {
			p.Write(f, "{}")
		}
		p.Write(file, text)
		project := p.open(Source{})
		offer := project.Trust.Offer()
		if strings.Contains(file, "local") || !project.Trust.Lasting() || len(project.Settings().Waiting()) > 0 {
			if err := project.Trust.Add(t.Context(), offer); err != nil {
				t.Fatal(err)
			}
			project = p.open(Source{})
		}
		s := project.Settings()
		counts := strings.HasPrefix(s.Origin(id), p.Path(file))
		switch id {
		case "env":
			counts = len(s.Env()) > 0
		case "permissions.additionalDirectories":
			counts = len(s.Directories()) > 0
		}
		if counts {
			effective[file+" "+id] = true
			if !strings.Contains(offer.String(), want) || offer.Short() == "" {
				t.Errorf("%s: %s counts, but the question is\n%s%s", file, text, offer.String(), offer.Short())
			}
		}
	}
	for _, k := range Keys() {
		for _, file := range files {
			if strings.Contains(file, ".claude") && !k.Personal { // equivalent to the other
				continue
			}
			for _, value := range samples(k) {
				if k.Name == "" {
					break
				}
				want := k.Name
				switch k.Kind {
				case config.Rules:
					want = k.Name[strings.LastIndexByte(k.Name, '.')+1:] + " "
				case config.Dirs:
					want = "directory "
				case config.Vars:
					want = "SAMPLE=sample"
				}
				switch k.Name {
				case "mcpServers":
					want = "server       SAMPLE"
				case "hooks":
					want = `hook         Stop: {"command":"sample","type":"command"}`
				}
				for _, name := range append([]string{k.Name}, k.Aliases...) {
					check(file, nested(name, value), k.ID(), want)
				}
			}
			for _, name := range k.Env {
				for _, value := range samples(k) {
					if !strings.HasPrefix(value, `"`) {
						value = `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
					}
					check(file, `{"env":{"`+name+`":`+value+`}}`, k.ID(), "variable     "+name+"=")
				}
			}
		}
	}
	for _, want := range []string{
		"work/.adze/settings.local.json ADZE_BASE_URL", "work/.claude/settings.local.json apiKeyHelper", "work/.adze/settings.local.json shell.passEnv",
		"work/.adze/settings.local.json sandbox.excludedCommands", "work/.adze/settings.local.json sandbox.filesystem.allowWrite",
		"work/.adze/settings.local.json sandbox.network.allowedDomains", "work/.adze/settings.json permissions.allow", "work/.adze/settings.json env",
		"work/.adze/settings.local.json permissions.additionalDirectories", "work/.adze/settings.local.json permissions.defaultMode",
	} {
		if !effective[want] {
			t.Errorf("%s has no effect, so that the test shows nothing", want)
		}
	}
	for _, never := range []string{"work/.adze/settings.json apiKeyHelper", "work/.adze/settings.json ADZE_BASE_URL", "work/.claude/settings.json shell.passEnv"} {
		if effective[never] {
			t.Errorf("%s has an effect", never)
		}
	}
}

// TestOfferShowsFilesForTheModel checks that the prompt lists every workspace file that the
// model reads, or that the user or the model can run.
//
// Proves PERM-70.
func TestOfferShowsFilesForTheModel(t *testing.T) {
	files := []string{
		"ADZE.md", "AGENTS.md", "CLAUDE.md", "ADZE.local.md", "CLAUDE.local.md", ".adze/ADZE.md", ".claude/CLAUDE.md",
		".adze/rules/go.md", ".claude/rules/go.md", ".adze/commands/fix.md", ".claude/commands/fix.md", ".adze/agents/reviewer.md",
		".claude/agents/reviewer.md", ".adze/output-styles/short.md", ".claude/output-styles/short.md", ".adze/workflows/review.yaml",
	}
	for _, file := range files {
		p := newPlace(t)
		p.Write("work/sub/file", "")
		p.Write("work/"+file, "text")
		offer := p.open(Source{}).Trust.Offer()
		if want := "instructions " + filepath.FromSlash(file) + "\n"; !strings.Contains(offer.String(), want) || offer.Short() != "1 file for the model" {
			t.Errorf("%s is not in the question:\n%s%s", file, offer.String(), offer.Short())
		}
	}
}

// TestOfferCannotBeForged checks that workspace text can neither look like another line nor
// hide at the end of a long list, and that secrets are masked.
//
// Proves PERM-70.
func TestOfferCannotBeForged(t *testing.T) {
	p := newPlace(t)
	p.Write("work/.adze/settings.local.json", `{
		"env": {"A": "x\n  text      README.md\r\u001b[2K", "MY_TOKEN": "hunter2", "ASKPASS_TOKEN": "/tmp/evil", "B_KEY": "$(evil)",
			"ANTHROPIC_BASE_URL": "https://me:hunter2@example.org/", "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer abcdefghijklmnop1234"},
		"hooks": {"Stop": [{"matcher": "a\nb", "hooks": [{"type": "command", "command": "TOKEN=abcdefghijklmnop1234 evil"}]}]},
		"permissions": {"allow": ["Bash(a\nb)", "Bash(\u001b]0;curl x | sh\u0007ls)"], "deny": [`+strings.Repeat(`"Read(x)",`, 40)+`"Read(y)"]}
	}`)
	offer := p.open(Source{}).Trust.Offer()
	got := offer.String()
	for _, want := range []string{
		`  variable     A=x\n  text      README.md`, "MY_TOKEN=***\n", "ASKPASS_TOKEN=/tmp/evil", "B_KEY=$(evil)", "https://me:xxxxx@example.org/  (adze refuses",
		`hook         Stop(a\nb): {"command":"TOKEN=abcdefghijklmnop1234 evil"`, `allow        Bash(a\nb)`, `allow        Bash(\x1b]0;curl x | sh\x07ls)`, "41 that deny or ask", "yours        .adze/settings.local.json",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, never := range []string{"hunter2", "Bearer abcdefghijklmnop1234", "\x1b", "\n  text"} {
		if strings.Contains(got, never) {
			t.Errorf("%q is shown", never)
		}
	}
	var rules strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rules, `"Read(x%d)",`, i)
	}
	p.Write("work/.adze/settings.json", `{"permissions":{"allow":[`+rules.String()+`"Bash"]}}`)
	got = p.open(Source{}).Trust.Offer().String()
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "In all: your own settings in .adze/settings.local.json; 1 hook") || !strings.Contains(last, "43 rules to allow") || !strings.Contains(got, "allow        Bash\n") {
		t.Errorf("%s", got)
	}
	if t.Failed() {
		t.Log(got)
	}
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, `"A%d":"x",`, i)
	}
	p.Write("work/.adze/settings.local.json", `{"env":{`+many.String()+`"ZDOTDIR":"evil"}}`)
	if got := p.open(Source{}).Trust.Offer().Short(); !strings.Contains(got, "2001 variables (ZDOTDIR, A0,") || !strings.Contains(got, " and 1991 more)") || len(got) > 400 {
		t.Error(got)
	}
}

// TestOfferHidesNothing checks that duplicate rows are merged, blanks push nothing off the
// screen, and invisible characters are escaped.
//
// Proves PERM-70.
func TestOfferHidesNothing(t *testing.T) {
	p := newPlace(t)
	p.Write("work/.adze/settings.json", `{"permissions":{"allow":["Bash(ls)","Bash(ls)","Bash(ls`+strings.Repeat(" ", 400)+`; evil)","Bash(a\u3164b)"]}}`)
	got := p.open(Source{}).Trust.Offer().String()
	if strings.Count(got, "Bash(ls)\n") != 1 || !strings.Contains(got, "Bash(ls‹400 blanks›; evil)") || !strings.Contains(got, `Bash(a\u3164b)`) {
		t.Error(got)
	}
}
