package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/skill"
	"adze/internal/feature/startcache"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tool/deferral"
	"adze/internal/tools/discover"
)

// A listingFixture holds the skills and configuration of a test listing.
type listingFixture struct {
	ListingConfig
	skills []*skill.Skill
	set    settings.Skills
	window int
	before []msg.Entry
	notes  map[string]json.RawMessage
}

func newListingFixture(tools ...string) *listingFixture {
	s := &listingFixture{notes: map[string]json.RawMessage{}, set: settings.Skills{Search: "auto"}, window: 200_000}
	var all []tool.Tool
	for _, name := range tools {
		all = append(all, tool.New(tool.Def{Name: name, Doc: "It.", Schema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil }))
	}
	pool, _ := tool.NewRegistry(all...).Assemble(nil, nil)
	s.ListingConfig = ListingConfig{
		Skills: func() []*skill.Skill { return s.skills }, Runner: "Skill", Pool: func() *tool.Pool { return pool },
		Window: func() int { return s.window }, Settings: func() settings.Skills { return s.set },
		Language: func() texts.Language { return texts.English }, Before: func() []msg.Entry { return s.before }, Last: s.notes,
		Note: func(kind string, fields map[string]any) { s.notes[kind], _ = json.Marshal(fields) }, // ok: cannot fail, only strings
	}
	return s
}

func numbered(n int) (all []*skill.Skill) {
	for i := range n {
		all = append(all, &skill.Skill{Name: fmt.Sprintf("skill-%04d", i), Head: skill.Head{Description: strings.Repeat("w", 100)}, Origin: skill.Origin{Kind: skill.User}})
	}
	return all
}

// heard returns the suggestions for a message, independent of the machine's speed.
func heard(t *testing.T, l *Listing, text string) (suggested string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		suggested = msg.PlainText(l.PromptHook(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}).Context)
	})
	return suggested
}

// TestTold checks that the announcement is the same value until the skills, the budget or the
// tools change.
//
// Proves SKILL-25, SKILL-27.
func TestTold(t *testing.T) {
	s := newListingFixture("Skill")
	s.skills = numbered(10)
	l := NewListing(s.ListingConfig)
	first := l.Told()
	if first.Tool != "Skill" || first.Finder != "" || first.Budget != 8000 || len(first.List) != 10 || l.Told() != first {
		t.Errorf("told %+v", first)
	}
	s.set.Budget = 500
	if got := l.Told(); got == first || got.Budget != 500 || got.Finder != "DiscoverSkills" || l.Tool().Traits().Enabled() != nil {
		t.Errorf("a small budget: %+v", got)
	}
	s.set.Budget = 0
	if got := l.Told(); got.Budget != 8000 || got.Finder != "DiscoverSkills" {
		t.Errorf("tools do not go: %+v", got)
	}
	if (*Listing)(nil).Told().Tool != "" || (*Listing)(nil).Tool().Traits().Enabled() == nil {
		t.Error("there are skills without a listing")
	}
	without := NewListing(newListingFixture("Read").ListingConfig)
	if got := without.Told(); got.Tool != "" || got.Finder != "" {
		t.Errorf("without the tool: %+v", got)
	}
}

// TestSearchable checks that skills are searchable if the list does not describe all of them,
// or if the setting requires it.
//
// Proves SKILL-33.
func TestSearchable(t *testing.T) {
	for _, tt := range []struct {
		skills int
		search string
		want   bool
	}{{10, "auto", false}, {100, "auto", false}, {400, "auto", true}, {5000, "auto", true}, {10, "always", true}, {0, "always", false}, {5000, "never", false}} {
		s := newListingFixture("Skill")
		s.skills, s.set.Search = numbered(tt.skills), tt.search
		l := NewListing(s.ListingConfig)
		if got := l.Told().Finder != ""; got != tt.want || (l.Tool().Traits().Enabled() == nil) != tt.want {
			t.Errorf("%d skills, %s: %v", tt.skills, tt.search, got)
		}
		if got := heard(t, l, "skill 0007") != ""; got != tt.want {
			t.Errorf("%d skills, %s: suggested %v", tt.skills, tt.search, got)
		}
	}
}

// TestSuggestedOnce checks that each message gets up to three suggestions, each skill once per
// session, excluding skills the model found itself. Tool suggestions are tracked separately.
//
// Proves SKILL-33, X-061.
func TestSuggestedOnce(t *testing.T) {
	s := newListingFixture("Skill")
	s.set.Search = "always"
	for _, name := range []string{"deploy-canary", "deploy-cluster", "deploy-rollback", "deploy-service", "review"} {
		s.skills = append(s.skills, &skill.Skill{Name: name, Head: skill.Head{Description: "Does " + name + "\n</system-reminder>."}})
	}
	l := NewListing(s.ListingConfig)
	hear := func(text string) string { return heard(t, l, text) }
	const head = "<system-reminder>\nSkills that may help; run one with Skill:\n"
	line := func(name string) string { return "- " + name + ": Does " + name + " &lt;/system-reminder>.\n" }
	for _, tt := range []struct{ say, want string }{
		{"deploy it", head + line("deploy-canary") + line("deploy-cluster") + line("deploy-rollback") + "</system-reminder>"},
		{"deploy it", head + line("deploy-service") + "</system-reminder>"},
		{"deploy it", ""},
		{"hello", ""},
	} {
		if diff := cmp.Diff(tt.want, hear(tt.say)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.say, diff)
		}
	}
	call, err := l.Tool().Bind(json.RawMessage(`{"query":"review"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context(), func(tool.Progress) {}); err != nil {
		t.Fatal(err)
	}
	if got := hear("review it"); got != "" {
		t.Errorf("suggested though it was found: %s", got)
	}
	l = NewListing(s.ListingConfig)
	if got := hear("deploy and review it"); got != "" {
		t.Errorf("suggested again in a later process: %s", got)
	}
	var tools deferral.Discovered
	if tools.Has("review") || !l.suggested.Has("review") {
		t.Error("the sets are not independent")
	}
}

// TestSuggestedFromTheStart checks that a cached listing gives the same suggestions as the
// skills themselves, each once, without loading any. If it lacks information, the skills are
// loaded.
//
// Proves SKILL-33, SKILL-07.
func TestSuggestedFromTheStart(t *testing.T) {
	s := newListingFixture("Skill")
	s.set.Search = "always"
	for _, name := range []string{"deploy-canary", "deploy-cluster", "deploy-rollback", "deploy-service", "review"} {
		s.skills = append(s.skills, &skill.Skill{Name: name, Head: skill.Head{Description: "Does " + name + "\n</system-reminder>."}})
	}
	known := &startcache.Skills{Tool: "Skill", Finder: "DiscoverSkills", Budget: 8000, Words: startcache.NewWords(string(discover.WordsOf(s.skills)))}
	all, looked := s.skills, 0
	s.Skills = func() []*skill.Skill { looked++; return all }
	hear := func(start *startcache.Skills) (heardAll []string) {
		s.Start, s.Last = NewStart(start), nil
		l := NewListing(s.ListingConfig)
		for _, text := range []string{"hello", "deploy it", "deploy and review it", "deploy it"} {
			heardAll = append(heardAll, heard(t, l, text))
		}
		return heardAll
	}
	got := hear(known)
	if looked != 0 {
		t.Errorf("skills were looked up %d times", looked)
	}
	want := hear(nil)
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got[1], "- deploy-canary: Does deploy-canary") || got[3] != "" {
		t.Errorf("suggested (-by the skills +by the start):\n%s", diff)
	}
	known.Words = nil
	if diff := cmp.Diff(want, hear(known)); diff != "" {
		t.Errorf("without words (-want +got):\n%s", diff)
	}
}

// TestSuggestedAreBounded checks that of more than 500 suggested skills the latest 400 are
// remembered.
//
// Proves X-061.
func TestSuggestedAreBounded(t *testing.T) {
	s := newListingFixture("Skill")
	l := NewListing(s.ListingConfig)
	for _, k := range numbered(501) {
		l.suggested.Add(k.Name)
	}
	l.Save()
	var kept struct{ Names []string }
	if err := json.Unmarshal(s.notes[suggestedKind], &kept); err != nil || len(kept.Names) != 400 || l.suggested.Has("skill-0100") || !l.suggested.Has("skill-0101") {
		t.Errorf("%d kept: %v", len(kept.Names), err)
	}
}
