package rule

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Proves PERM-06.
func TestParse(t *testing.T) {
	tests := []struct {
		text          string
		tool, content string
		round         string // canonical form; empty means text
		err           string // substring of the error
	}{
		{text: "Bash", tool: "Bash"},
		{text: " Bash ", tool: "Bash", round: "Bash"},
		{text: "Bash()", tool: "Bash", round: "Bash"},
		{text: "Bash(*)", tool: "Bash", round: "Bash"},
		{text: "Bash(git status)", tool: "Bash", content: "git status"},
		{text: "Bash (git status)", tool: "Bash", content: "git status", round: "Bash(git status)"},
		{text: "Bash(git commit:*)", tool: "Bash", content: "git commit:*"},
		{text: `Bash(echo \(x\))`, tool: "Bash", content: "echo (x)"},
		{text: `Bash(echo (x))`, tool: "Bash", content: "echo (x)", round: `Bash(echo \(x\))`},
		{text: `Bash(a\\b)`, tool: "Bash", content: `a\b`},
		{text: `Bash(a\*)`, tool: "Bash", content: `a\*`, round: `Bash(a\\*)`},
		{text: "Read(~/.ssh/**)", tool: "Read", content: "~/.ssh/**"},
		{text: "Read(//etc/passwd)", tool: "Read", content: "//etc/passwd"},
		{text: "mcp__db", tool: "mcp__db"},
		{text: "mcp__db__*", tool: "mcp__db", round: "mcp__db"},
		{text: "mcp__db__query", tool: "mcp__db__query"},
		{text: "mcp__a__b__*", tool: "mcp__a__b__*"},
		{text: "Agent(explore)", tool: "Agent", content: "explore"},
		{text: "Skill(review:*)", tool: "Skill", content: "review:*"},
		{text: "WebFetch(domain:example.org)", tool: "WebFetch", content: "domain:example.org"},
		{text: "WebFetch(domain:*.example.org)", tool: "WebFetch", content: "domain:*.example.org"},
		{text: "WebFetch(domain:2001:db8::1)", tool: "WebFetch", content: "domain:2001:db8::1"},
		{text: "WebFetch(domain:[2001:db8::1:80])", tool: "WebFetch", content: "domain:[2001:db8::1:80]"},
		{text: "WebFetch(https://example.org/a)", tool: "WebFetch", content: "https://example.org/a"},

		{text: "", err: "does not name a tool"},
		{text: "(x)", err: "does not name a tool"},
		{text: "a b", err: "is not 1 to 64"},
		{text: "Bash(rm", tool: "Bash", err: "not balanced"},
		{text: "Bash(rm))", tool: "Bash", err: "follows the closing"},
		{text: "Bash(rm) x", tool: "Bash", err: "follows the closing"},
		{text: "Bash(:*)", tool: "Bash", content: ":*", err: "nothing before"},
		{text: "Read([a)", tool: "Read", content: "[a", err: "pattern"},
		{text: "Read(!x)", tool: "Read", content: "!x", err: "can't start with !"},
		{text: "Read(a/*/../b)", tool: "Read", content: "a/*/../b", err: ".. after a wildcard"},
		{text: "WebFetch(example.org)", tool: "WebFetch", content: "example.org", err: "write domain:"},
		{text: "WebFetch(domain:)", tool: "WebFetch", content: "domain:", err: "is not a host"},
		{text: "WebFetch(domain:[::1]3000)", tool: "WebFetch", content: "domain:[::1]3000", err: "is not a host"},
		{text: "WebFetch(domain:*.::1)", tool: "WebFetch", content: "domain:*.::1", err: "is not a host"},
		{text: "WebFetch(domain:a:b:c)", tool: "WebFetch", content: "domain:a:b:c", err: "is not a host"},
		{text: "WebFetch(domain:::1:3000)", tool: "WebFetch", content: "domain:::1:3000", err: "write domain:[::1]:3000 or domain:[::1:3000]"},
		{text: "WebFetch(domain:[::1]:x)", tool: "WebFetch", content: "domain:[::1]:x", err: "write domain:::1, or domain:[::1]:8080"},
		{text: "mcp__db__query(x)", tool: "mcp__db__query", content: "x", err: "take no content"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			r, err := Parse(tt.text)
			if r.Tool != tt.tool || r.Content != tt.content {
				t.Errorf("tool %q content %q, want %q and %q", r.Tool, r.Content, tt.tool, tt.content)
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tt.round
			if want == "" {
				want = tt.text
			}
			if r.String() != want {
				t.Errorf("written as %q, want %q", r.String(), want)
			}
		})
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.StringMatching(`[a-z \\()*:"'$./-]{1,20}`).Draw(t, "content")
		content = strings.TrimSpace(content)
		text := Rule{Tool: "Skill", Content: content}.String()
		r, err := Parse(text)
		if content == "" || content == "*" {
			if r.Content != "" {
				t.Fatalf("%q: content %q", text, r.Content)
			}
			return
		}
		if err != nil || r.Content != content {
			t.Fatalf("%q: content %q, %v, want %q", text, r.Content, err, content)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"Bash", "Bash(a:*)", "Read(//a/**)", "mcp__a__*", `X(\()`, "WebFetch(domain:a.b)", "Edit(~/[a-z]/{b,c})"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			if r.broken == nil {
				t.Fatal("a rule with an error does not know it")
			}
			return
		}
		again, err := Parse(r.String())
		if err != nil || again.Tool != r.Tool || again.Content != r.Content {
			t.Fatalf("%q is written as %q and read as %q %q, %v", text, r.String(), again.Tool, again.Content, err)
		}
	})
}

func TestSplit(t *testing.T) {
	got := Split(` Bash(git *, x), Read,Edit(a b)  mcp__x  Bash(echo \)), `)
	want := []string{"Bash(git *, x)", "Read", "Edit(a b)", "mcp__x", `Bash(echo \))`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
