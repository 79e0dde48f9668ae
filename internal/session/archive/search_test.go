package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/msg"
	"adze/internal/platform/search/regex"
	"adze/internal/platform/text/jsonscan"
	"adze/internal/session/store"
)

func search1(t *testing.T, home string, q Query) []Hit {
	t.Helper()
	var hits []Hit
	for hit, err := range Search(context.Background(), home, q) {
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, hit)
	}
	return hits
}

func TestSearch(t *testing.T) {
	m := &maker{t: t, home: t.TempDir()}
	m.session("/work/app", "newer", []store.Note{store.Title("Named")}, "Look at the FLUX\ncapacitor, \"please\" C:\\dir\\x", "Done: naïve Äpfel 😀 a<b&c", "flux capacitor again")
	m.session("/work/other", "older", nil, "nothing here", "the flux  capacitor is /usr/bin/flux")
	damaged := m.session("/work/other", "damaged", nil, "before", "flux after zeros")
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	data = append([]byte(strings.Repeat("\x00", 3000)+"\n"), data...)
	// JSON as another program would write it.
	foreign := `{"type":"user","uuid":"f1","message":{"content":"na\u00efve \u00c4pfel \ud83d\ude00 a\u003cb\u0026c \/usr\/bin\/flux"}}` + "\n" +
		`{"type":"user","uuid":"f2","toolUseResult":{"x":"only structured"},"message":{"content":"y"}}` + "\n" + `{"type":"user","uuid":"f3","isSidechain":true,"message":{"content":"side chain text"}}` + "\n"
	if err := errors.Join(os.WriteFile(damaged, data, 0o600), os.WriteFile(filepath.Join(filepath.Dir(damaged), "foreign.jsonl"), []byte(foreign), 0o600)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		q    Query
		want string // session ids
	}{
		{Query{Text: "flux capacitor"}, "newer older"},
		{Query{Text: "FLUX"}, "newer older damaged foreign"},
		{Query{Text: "FLUX", MatchCase: true}, "newer"},
		{Query{Text: "flux capacitor", Dir: "/work/other"}, "older"},
		{Query{Text: "flux capacitor", Limit: 5}, "newer newer older"},
		{Query{Text: `"please" c:\dir\x`}, "newer"},
		{Query{Text: "NAÏVE äpfel 😀 a<b&c"}, "newer foreign"},
		{Query{Text: "/usr/bin/flux"}, "older foreign"},
		{Query{Text: "flux.capacitor"}, ""},
		{Query{Text: "only structured"}, ""},
		{Query{Text: "side chain text"}, ""},
		{Query{Text: "older-m0"}, ""},
	}
	for _, tt := range tests {
		ids := map[string]int{}
		var order []string
		for _, hit := range search1(t, m.home, tt.q) {
			ids[hit.Session.ID]++
			order = append(order, hit.Session.ID)
			if got := hit.Snippet[hit.Start:hit.End]; !strings.EqualFold(strings.Join(strings.Fields(got), " "), tt.q.Text) {
				t.Errorf("%q: the match in %q is %q", tt.q.Text, hit.Snippet, got)
			}
			if strings.ContainsAny(hit.Snippet, "\n\t") || hit.Message == "" {
				t.Errorf("%+v", hit)
			}
		}
		want := map[string]int{}
		for _, id := range strings.Fields(tt.want) {
			want[id]++
		}
		if len(ids) != len(want) {
			t.Errorf("%q: %v, want %s", tt.q.Text, order, tt.want)
		}
		for id, n := range want {
			if ids[id] != n {
				t.Errorf("%q: %v, want %s", tt.q.Text, order, tt.want)
			}
		}
	}
	hit := search1(t, m.home, Query{Text: "capacitor again"})[0]
	if hit.Session.Name() != "Named" || hit.Message != "newer-m2" || hit.Role != msg.User || hit.Snippet != "flux capacitor again" {
		t.Errorf("%+v", hit)
	}
	for _, err := range Search(context.Background(), m.home, Query{Text: " "}) {
		if err == nil {
			t.Error("nothing is looked for")
		}
	}
	for range Search(context.Background(), m.home, Query{Text: "flux"}) {
		break // stopping early must not hang
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for hit, err := range Search(cancelled, m.home, Query{Text: "flux"}) {
		if err == nil {
			t.Errorf("after the end: %+v", hit)
		}
	}
}

func TestSearchTools(t *testing.T) {
	home := t.TempDir()
	l, err := store.Open(store.Options{Home: home, Dir: "/d", Session: "s", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range tool("t1", "Bash", "{\"command\":\n \"grep -n \\\"needle\\\" file\"}", "12: a haystack\n13: of results") {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{`grep -n "needle"`: "t1u", "haystack 13: of": "t1r"} {
		hits := search1(t, home, Query{Text: text})
		if len(hits) != 1 || hits[0].Message != want {
			t.Errorf("%q: %+v", text, hits)
		}
	}
}

// TestPrefilterMissesNothing checks that every match in a text is also found in any JSON
// encoding of it.
func TestPrefilterMissesNothing(t *testing.T) {
	letters := rapid.SampledFrom([]rune("aZ09 \t\n\"\\/.<>&-_éÄßσ😀ſ\u2028(["))
	rapid.Check(t, func(t *rapid.T) {
		query := strings.TrimSpace(rapid.StringOfN(letters, 1, 8, -1).Draw(t, "query"))
		if query == "" {
			return
		}
		text := rapid.StringOf(letters).Draw(t, "before") + query + rapid.StringOf(letters).Draw(t, "after")
		if rapid.Bool().Draw(t, "upper") {
			text = strings.ToUpper(text)
		}
		raw := encode(t, text)
		cursor := jsonscan.Lazy([]byte(raw))
		decoded := cursor.String()
		if decoded != text {
			t.Fatalf("%s is %q, not %q", raw, decoded, text)
		}
		s, err := newSearch(Query{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		inText := matches(s.text, text)
		if inText && !matches(s.raw, raw) {
			t.Fatalf("%q is in %q, and not found in %s", query, text, raw)
		}
		if !inText && !strings.ContainsAny(text, "ſSßΣσς") {
			t.Fatalf("%q is not found in %q", query, text)
		}
	})
}

func matches(q *regex.Query, text string) bool {
	_, _, ok := q.NewMatcher().Find(context.Background(), []byte(text), 0)
	return ok
}

// encode writes text as JSON, picking an encoding for each character.
func encode(t *rapid.T, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		way := rapid.IntRange(0, 2).Draw(t, "way")
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '/' && way > 0:
			b.WriteString(`\/`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case way > 0 && (r > 0x7f || strings.ContainsRune("<>&", r)):
			hex := escapes(r)
			for _, class := range []string{"[aA]", "[bB]", "[cC]", "[dD]", "[eE]", "[fF]"} {
				hex = strings.ReplaceAll(hex, class, string(class[way]))
			}
			b.WriteString(strings.ReplaceAll(hex, `\\+`, `\`))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
