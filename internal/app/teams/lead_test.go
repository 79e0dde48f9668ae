package teams

import "testing"

func TestMentionsTeam(t *testing.T) {
	for prompt, want := range map[string]bool{
		"":                     false,
		"fix the test":         false,
		"a stream of steam":    false, // has a stem, and no word
		"make a Team of three": true,
		"TEAMWORK":             true,
		"ask the team-mates":   true,
		"teammate":             true,
		"two swarms":           true,
		"SWARM":                true,
		"un equipo":            true,
		"une ÉQUIPE":           true,
		"equipe":               true,
		"una squadra":          true,
		"eine Mannschaft":      true,
		"call TeamCreate":      true,
		"создай Команду агентов": true,
		"组建团队": true, "組成團隊": true, "队友": true, "隊友": true,
		"チームを作って": true, "팀을 만들어": true,
	} {
		if got := mentionsTeam(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
		if got := teamWords().MatchString(prompt); got != want {
			t.Errorf("%q: the expression says %v", prompt, got)
		}
	}
}
