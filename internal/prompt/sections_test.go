package prompt

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model/tokens"
	"adze/internal/platform/text/texts"
)

func names(a Assembly) []string {
	var all []string
	for _, p := range a.Pieces {
		all = append(all, p.Name)
	}
	return all
}

// piece returns the text of a section, which must exist.
func piece(t *testing.T, a Assembly, name string) string {
	t.Helper()
	for _, p := range a.Pieces {
		if p.Name == name {
			return p.Text
		}
	}
	t.Fatalf("no section %s", name)
	return ""
}

// static returns the text before the boundary.
func static(f *Facts) string {
	a := NewRegistry(nil).Assemble(f)
	return (&Block{Pieces: a.Pieces[:a.Boundary]}).Text()
}

// A concept is something a text must express, with its possible wordings: case-insensitive
// regular expressions.
type concept struct {
	name     string
	wordings []string
}

func (c concept) in(text string) bool {
	return slices.ContainsFunc(c.wordings, func(w string) bool {
		return regexp.MustCompile(`(?is)` + w).MatchString(text)
	})
}

// expresses reports the concepts that a text lacks.
func expresses(t *testing.T, what, text string, concepts []concept) {
	t.Helper()
	for _, c := range concepts {
		if !c.in(text) {
			t.Errorf("%s does not express %q", what, c.name)
		}
	}
}

// TestStaticSections checks that the prompt expresses a list of concepts, in any wording.
//
// Proves CTX-02.
func TestStaticSections(t *testing.T) {
	checklist := []struct {
		section  string
		concepts []concept
	}{
		{"identity", []concept{{"the program", []string{`\badze\b`}}, {"what it is", []string{`coding (agent|assistant)`, `agent.* for (code|coding)`}}}},
		{"intro", []concept{
			{"software engineering", []string{`software (engineering|development)`, `programming tasks`}},
			{"defensive work", []string{`defen[cs]ive`, `defenders`}},
			{"learning", []string{`learning`, `education`}},
			{"CTF", []string{`\bCTFs?\b`}},
			{"authorised testing", []string{`authori[sz]ed`, `authori[sz]ation`}},
			{"denial of service", []string{`\bDoS\b`, `denial.of.service`}},
			{"mass targeting", []string{`mass[- ](targeting|exploitation|attacks?)`}},
			{"supply chain", []string{`supply[- ]chain`}},
			{"evasion", []string{`evad\w+ detection`, `detection evasion`}},
			{"dual use", []string{`dual[- ]use`}},
			{"what is of dual use", []string{`\bC2\b.*credential`, `exploits?.*\bC2\b`}},
			{"URLs are not invented", []string{`URLs?.*(invent|guess|make up)`, `(invent|guess|make up).*URLs?`}},
		}},
		{"system", []concept{
			{"what is shown", []string{`Markdown`}},
			{"permission", []string{`need permission`, `permission mode`, `must be approved`}},
			{"no repetition of a denied call", []string{`not (send|repeat|retry).*(again )?(unchanged|identical)`}},
			{"no way around a denial", []string{`get around`, `work(ing)? around`}},
			{"what was not done is said", []string{`say what you could not do`, `(tell|report).*(what|which).*not (do|done)`}},
			{"reminders", []string{`system-reminder`}},
			{"results are data", []string{`data, (not|never) (instructions|orders|commands)`}},
			{"prompt injection", []string{`prompt injection.*tell the user`, `prompt injection.*report`}},
			{"hooks speak for the user", []string{`hooks?.*(as|from) (coming from )?the user`}},
			{"a hook blocks", []string{`hook blocks.*check the hook`, `blocked by a hook`}},
			{"summaries", []string{`(summari[sz]ed|compacted) automatically`, `automatically (summari[sz]ed|compacted)`}},
			{"no hurry", []string{`(not|never) (hurry|rush|stop early)`}},
		}},
		{"tasks", []concept{
			{"a question is answered, not acted on", []string{`question.*(without changing|change nothing|no changes)`}},
			{"a change is made, not described", []string{`(not|instead of).*describ`}},
			{"the size is the user's decision", []string{`size.*user's (decision|call)`, `user (decides|judges).*(size|big)`}},
			{"persistence", []string{`keep going until`, `until .* (completely|fully) (handled|done|resolved)`}},
			{"conventions", []string{`match it`, `follow.*conventions`, `style of the (code|file)`}},
			{"libraries", []string{`library.*(check|verify|make sure)`, `(check|verify).*(library|dependency)`}},
			{"read before changing", []string{`read code before`, `read .* before (you )?(chang|edit|modif)`}},
			{"editing before creating", []string{`prefer editing`, `edit existing files`}},
			{"no documents unasked", []string{`documentation.*only when asked`, `no documentation.* unless asked`}},
			{"the simplest approach", []string{`simplest`}},
			{"causes", []string{`find the cause`, `root cause`, `diagnose`}},
			{"no circles", []string{`circles`, `not (retry|repeat) the same`}},
			{"questions when stuck", []string{`ask.*(only )?(when|if).*stuck`}},
			{"vulnerabilities", []string{`injection.*XSS`, `XSS.*injection`}},
			{"nothing that was not asked for", []string{`no more`, `not asked for`, `unrequested`}},
			{"validation at the boundaries", []string{`validate.*(boundar|users)`}},
			{"nothing unused is left", []string{`unused`, `dead code`}},
			{"unrelated code stays", []string{`unrelated code`}},
			{"comments", []string{`comment.*(cannot|can't|does not) show`, `comment.*(why|reason)`}},
			{"existing comments", []string{`(existing|other people's|others') comments`}},
			{"checks before done", []string{`(before|until).*(done|finished).*(check|test|verify|run)`}},
			{"honest checks", []string{`never (weaken|skip|bypass).*(test|check)`}},
			{"honest reports", []string{`(failed|fails).*say so`, `report.*(faithfully|honestly|as they are)`}},
			{"mistakes of the request", []string{`(request|user).*(mistake|misconception)`}},
			{"bugs nearby", []string{`bugs? nearby`, `bugs? (you )?(see|notice)`}},
			{"no estimates", []string{`no (time )?estimates`, `not estimate`}},
			{"help and feedback", []string{`/help.*adze help`, `adze help.*/help`}},
		}},
		{"care", []concept{
			{"reversibility", []string{`can be undone`, `reversib`}},
			{"who is affected", []string{`whom? it affects`, `who else`, `blast radius`}},
			{"no question for local steps", []string{`need no (question|confirmation)`, `freely`}},
			{"confirmation", []string{`wait for a yes`, `ask first`, `confirm`}},
			{"standing permission", []string{`instructions already allow`, `standing (instructions|permission)`}},
			{"one case", []string{`one case`, `only (that|this) (once|time)`}},
			{"no one to ask", []string{`no one can answer`, `cannot (ask|be asked)`}},
			{"destructive", []string{`destructive.*rm -rf`}},
			{"killing processes", []string{`kill\w* processes`}},
			{"hard to reverse", []string{`hard to reverse.*git reset --hard`, `reset --hard`}},
			{"force-pushing", []string{`force[- ]push`}},
			{"CI", []string{`\bCI\b`}},
			{"visible to others", []string{`visible to others`}},
			{"third parties", []string{`third part(y|ies)`, `paste sites`}},
			{"no force", []string{`--no-verify.*lock`, `lock.*--no-verify`}},
			{"unfinished work", []string{`unfinished work`, `work in progress`}},
			{"no reverting of foreign changes", []string{`(never|not) (revert|overwrite|discard).*(without asking|unasked)`}},
		}},
		{"tools", []concept{
			{"Read", []string{`Read, not cat`, `instead of cat.*Read`}}, {"Edit", []string{`Edit, not sed`}}, {"Write", []string{`Write, not echo`}},
			{"Glob", []string{`Glob, not find`}}, {"Grep", []string{`Grep, not grep`}}, {"Bash", []string{`Bash for`}},
			{"independent calls together", []string{`independent calls together`, `parallel`}},
			{"dependent calls in sequence", []string{`wait for a result only`, `in sequence`, `one after (the other|another)`}},
		}},
		{"tone", []concept{
			{"emoji", []string{`no emoji`, `emoji only`}}, {"brevity", []string{`brief`, `concise`, `short`}},
			{"places", []string{"`path:line`"}}, {"issues", []string{"`owner/repo#n`"}},
			{"no colon", []string{`(period|full stop), not a colon`, `no colon`}},
		}},
		{"output", []concept{
			{"the result first", []string{`lead with the result`, `result first`}},
			{"no repetition", []string{`not repeat the request`}},
			{"decisions", []string{`must decide`, `choices`, `decisions`}}, {"progress", []string{`milestones`, `progress`}},
			{"changes of plan", []string{`changes the plan`}},
		}},
	}
	a := NewRegistry(nil).Assemble(&Facts{Env: env, Model: opus, Tools: usual})
	var order []string
	for _, c := range checklist {
		order = append(order, c.section)
		expresses(t, c.section, piece(t, a, c.section), c.concepts)
	}
	if diff := cmp.Diff(order, names(a)[:a.Boundary]); diff != "" {
		t.Error(diff)
	}
	style := NewRegistry(nil).Assemble(&Facts{Style: &Style{Name: "Teaching", Text: "Explain."}})
	expresses(t, "intro", piece(t, style, "intro"), []concept{{"the output style", []string{`output style`}}})
}

// TestMisleadingSentences checks that sentences that misled models (model-side 2.2: I1, I2, S1,
// T1 to T5, U1, U2, X1) are gone.
func TestMisleadingSentences(t *testing.T) {
	text := static(&Facts{Tools: usual}) + catalogText(texts.English, "context.instructions")
	for _, gone := range []string{
		`contest players`, `slip past`, `poison what others`, `take addresses`, `find another way`, `do not only answer`,
		`the user's call`, `write no vulnerabilities`, `defensive code`, `what is unused goes`, `more doubtful`,
		`before shell equivalents`, `tick each off`, `may or may not be relevant`,
	} {
		if regexp.MustCompile(`(?i)` + gone).MatchString(text) {
			t.Errorf("it still says %q", gone)
		}
	}
}

// TestToolsThatAreMissing checks that with an unusual tool set the guidance lists the tools
// that exist, and no others (model-side 2.3).
//
// Proves CTX-04.
func TestToolsThatAreMissing(t *testing.T) {
	tests := []struct {
		name  string
		tools Toolset
		want  string // expected in the guidance
	}{
		{"usual", usual, ""},
		{"few", Toolset{Shell: "Bash", Dedicated: []string{"Read", "Edit"}}, "Read, not cat, head, tail or sed; Edit, not sed or awk (but `sed -i` for one change in many files). Use Bash"},
		{"another shell", Toolset{Shell: "PowerShell", Dedicated: usual.Dedicated}, "Use PowerShell"},
		{"no shell", Toolset{Dedicated: usual.Dedicated}, ""},
		{"only a shell", Toolset{Shell: "Bash"}, ""},
	}
	for _, tt := range tests {
		a := NewRegistry(nil).Assemble(&Facts{Env: env, Tools: tt.tools})
		inStatic := strings.Contains(piece(t, a, "tools"), "dedicated tools")
		if inStatic != tt.tools.Usual {
			t.Errorf("%s: in the static part: %v", tt.name, inStatic)
		}
		if tt.want == "" {
			if slices.Contains(names(a), "guidance") {
				t.Errorf("%s: %s", tt.name, piece(t, a, "guidance"))
			}
			continue
		}
		says(t, piece(t, a, "guidance"), tt.want)
	}
}

// Proves CTX-03.
func TestDynamicSections(t *testing.T) {
	parts := map[string]func(from, to *Facts){
		"guidance": func(from, to *Facts) { to.Guide = from.Guide },
		"memory":   func(from, to *Facts) { to.Memory = from.Memory },
		"model":    func(from, to *Facts) { to.ModelNote = from.ModelNote },
		"language": func(from, to *Facts) { to.Answer = from.Answer },
		"style":    func(from, to *Facts) { to.Style = from.Style },
		"servers":  func(from, to *Facts) { to.Servers = from.Servers },
		"budget":   func(from, to *Facts) { to.Budget = from.Budget },
		"brief":    func(from, to *Facts) { to.Brief = from.Brief },
	}
	order := []string{"guidance", "memory", "model", "environment", "language", "style", "servers", "clearing", "notedown", "budget", "brief"}
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		all := NewRegistry(nil).Assemble(full(l))
		if diff := cmp.Diff(order, names(all)[all.Boundary:]); diff != "" {
			t.Error(diff)
		}
		for name, set := range parts {
			with, without, nothing := &Facts{Language: l, Env: env, Tools: usual}, full(l), &Facts{Language: l}
			set(full(l), with)
			set(nothing, without)
			want := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return n != name && n != "environment" })
			a := NewRegistry(nil).Assemble(with)
			if diff := cmp.Diff(want, names(a)[a.Boundary:]); diff != "" {
				t.Errorf("only %s: %s", name, diff)
			}
			if got, want := piece(t, a, name), piece(t, all, name); got != want {
				t.Errorf("%s: %s", name, cmp.Diff(want, got))
			}
			want = slices.DeleteFunc(slices.Clone(order), func(n string) bool { return n == name })
			a = NewRegistry(nil).Assemble(without)
			if diff := cmp.Diff(want, names(a)[a.Boundary:]); diff != "" {
				t.Errorf("all but %s: %s", name, diff)
			}
		}
	}
	a := NewRegistry(nil).Assemble(full(texts.English))
	// Clearing comes with its hint, but not if it is far away (model-side, E2).
	for _, kept := range []int{0, 5} {
		f := full(texts.English)
		f.Kept = kept
		got := names(NewRegistry(nil).Assemble(f))
		if slices.Contains(got, "clearing") != (kept > 0) || slices.Contains(got, "notedown") != (kept > 0) {
			t.Errorf("%d kept: %v", kept, got)
		}
	}
	for name, keywords := range map[string][]string{
		"guidance": {"larger work into tasks with TaskCreate", "AskUserQuestion", "`! <command>`", "verification agent"},
		"servers":  {"MCP servers", "## db\n> Ask in SQL.", "## web\n> Be polite."},
		"language": {"français", "identifiers"},
		"clearing": {"latest 5"},
	} {
		for _, k := range keywords {
			if !strings.Contains(piece(t, a, name), k) {
				t.Errorf("%s does not say %q", name, k)
			}
		}
	}
}

// Proves CTX-04.
func TestStaticPartIsTheSameForEveryone(t *testing.T) {
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		want := static(&Facts{Language: l})
		for bits := range 1 << 5 {
			f := &Facts{Language: l}
			all := full(l)
			for i, set := range []func(){
				func() { f.Guide = all.Guide },
				func() { f.Env, f.Model = all.Env, all.Model },
				func() { f.Memory, f.ModelNote, f.Answer = all.Memory, all.ModelNote, all.Answer },
				func() { f.Servers = all.Servers },
				func() { f.Kept, f.Budget, f.Brief = 3, 9, "Brief" },
			} {
				if bits>>i&1 == 1 {
					set()
				}
			}
			if got := static(f); got != want {
				t.Fatalf("%s, features %b: %s", l, bits, cmp.Diff(want, got))
			}
		}
	}
}

// Proves CTX-61.
func TestTwoWaysOfTalking(t *testing.T) {
	for _, l := range []texts.Language{texts.English, texts.Chinese} {
		terse := NewRegistry(nil).Assemble(&Facts{Language: l, Env: env, Model: opus})
		explained := NewRegistry(nil).Assemble(&Facts{Language: l, Env: env, Model: opus, Explained: true})
		var differ []string
		for i, p := range terse.Pieces {
			if p != explained.Pieces[i] {
				differ = append(differ, p.Name)
			}
		}
		if diff := cmp.Diff([]string{"tone", "output"}, differ); diff != "" {
			t.Error(diff)
		}
		if short := catalogText(l, "tone.short"); strings.Contains(piece(t, explained, "tone"), short) || !strings.Contains(piece(t, terse, "tone"), short) {
			t.Error("the wish for short answers is in the wrong variant")
		}
	}
	text := piece(t, NewRegistry(nil).Assemble(&Facts{Explained: true}), "output")
	for _, k := range []string{"not been watching", "Before the first tool call", "decisive", "change direction", "silent", "full sentences", "abbreviations", "what the reader knows", "plain prose", "tables only", "length to the question", "not about code"} {
		if !strings.Contains(text, k) {
			t.Errorf("it does not say %q", k)
		}
	}
}

// Proves CTX-06.
func TestRegistry(t *testing.T) {
	kept, fresh := 0, 0
	r := newRegistry(
		[]Section{Cached("kept", func(*Facts) (string, error) { kept++; return "k", nil })},
		[]Section{
			Uncached("fresh", "it counts", func(*Facts) (string, error) { fresh++; return "f", nil }),
			Cached("broken", func(*Facts) (string, error) { return "half", errors.New("no luck") }),
			Cached("silent", func(*Facts) (string, error) { return "", nil }),
		}, nil)
	f := &Facts{Language: texts.English}
	for range 3 {
		if diff := cmp.Diff([]string{"kept", "fresh"}, names(r.Assemble(f))); diff != "" {
			t.Error(diff)
		}
	}
	if kept != 1 || fresh != 3 {
		t.Errorf("computed %d and %d times", kept, fresh)
	}
	r.Reset()
	r.Assemble(f)
	r.Assemble(&Facts{Language: texts.Chinese})
	if kept != 3 {
		t.Errorf("computed %d times after a reset and in another language", kept)
	}
	defer func() {
		if recover() == nil {
			t.Error("a section may break the cache without a reason")
		}
	}()
	Uncached("hasty", "", nil)
}

// Proves CTX-10.
func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}

func TestPromptIsSmall(t *testing.T) {
	for _, explained := range []bool{false, true} {
		english := static(&Facts{Language: texts.English, Explained: explained, Tools: usual})
		chinese := static(&Facts{Language: texts.Chinese, Explained: explained, Tools: usual})
		if n := len(english); n > 6500 {
			t.Errorf("%d bytes", n)
		}
		if n, limit := tokens.New("claude").Text(chinese), 6500/4; n > limit {
			t.Errorf("about %d tokens in texts.Chinese, at most %d", n, limit)
		}
	}
}
