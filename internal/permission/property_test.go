package permission

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/shell"
)

var (
	someRules = []string{
		"Bash", "Bash(ls:*)", "Bash(make)", "Bash(make:*)", "Bash(git *)", "Bash(rm:*)", "Bash(* x)", "Bash(cat:*)", "Bash(echo:*)", "Bash(rm",
		"Read", "Read(main.go)", "Read(src/**)", "Read(.env)", "Read(//**)", "Read(~/**)", "Read([)",
		"Edit", "Edit(main.go)", "Edit(src/**)", "Edit(//**)", "Edit(*.go)", "Write(main.go)", "Write", "(",
		"WebFetch", "WebFetch(domain:example.org)", "WebFetch(domain:*.example.org)", "mcp__db", "Mystery",
	}
	someCommands = []string{
		"ls", "ls -l src", "make", "make x", "git status", "git push", "rm x", "cat main.go", "cat .env", "cat /etc/hosts", "echo x > src/new",
		"sudo rm x", "mkdir d", "cp main.go src/", "true", "FOO=1 make", "bash -c 'rm x'", "for i in a; do make; done", "$(make)", "echo '",
		"rm -rf /", "touch .git/config", "cat $X", "grep -r x .",
	}
)

// A sample is a tool call.
type sample struct {
	tool string
	in   call
}

func drawSample(t *rapid.T) sample {
	path := rapid.SampledFrom([]string{"main.go", "src/a.go", ".env", ".git/config", "/etc/hosts", "../outside", "new.go"})
	switch rapid.IntRange(0, 5).Draw(t, "tool") {
	case 0:
		return sample{"Read", reads(path.Draw(t, "path"))}
	case 1:
		return sample{"Edit", writesTo(path.Draw(t, "path"))}
	case 2:
		return sample{"Write", writesTo(path.Draw(t, "path"))}
	case 3:
		return sample{"WebFetch", connects(rapid.SampledFrom([]string{"https://example.org", "https://a.example.org", "https://other.net"}).Draw(t, "url"))}
	case 4:
		return sample{"Mystery", call{Reads: rapid.Bool().Draw(t, "read-only")}}
	}
	parts := rapid.SliceOfN(rapid.SampledFrom(someCommands), 1, 3).Draw(t, "commands")
	return sample{"Bash", runs(strings.Join(parts, " && "))}
}

func drawRules(t *rapid.T, label string, behaviours ...Behavior) []string {
	var rules []string
	for _, text := range rapid.SliceOfN(rapid.SampledFrom(someRules), 0, 5).Draw(t, label) {
		rules = append(rules, string(rapid.SampledFrom(behaviours).Draw(t, "behaviour"))+" "+text)
	}
	return rules
}

func drawMode(t *rapid.T) Mode {
	return rapid.SampledFrom(Modes()).Draw(t, "mode")
}

// looseness orders outcomes from strict to permissive.
func looseness(b Behavior) int { return slices.Index([]Behavior{Deny, Ask, Allow}, b) }

func TestAllowRulesNeverWeakenDenies(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		mode, s := drawMode(r), drawSample(r)
		rules := drawRules(r, "rules", Allow, Ask, Deny)
		before := decide(t, w.config(mode, rules...), s.tool, s.in)
		after := decide(t, w.config(mode, append(rules, drawRules(r, "more", Allow)...)...), s.tool, s.in)
		if before.Behavior == Deny && before.Reason.Type() == ByRule && after.Behavior != Deny {
			r.Fatalf("an allow rule turned %s into %s", before.Reason.String(), after.Behavior)
		}
		if before.Firm && after.Behavior == Allow {
			r.Fatalf("an allow rule lifted %s", before.Reason.String())
		}
	})
}

func TestStricterRulesNeverLoosen(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		mode, s := drawMode(r), drawSample(r)
		rules := drawRules(r, "rules", Allow, Ask, Deny)
		before := decide(t, w.config(mode, rules...), s.tool, s.in)
		for _, b := range []Behavior{Deny, Ask} {
			after := decide(t, w.config(mode, append(slices.Clone(rules), drawRules(r, "more", b)...)...), s.tool, s.in)
			if looseness(after.Behavior) > looseness(before.Behavior) {
				r.Fatalf("a rule that wants %s turned %s into %s (%s)", b, before.Behavior, after.Behavior, after.Reason.String())
			}
		}
	})
}

func TestPartsAreAllowedAllOrNone(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		mode := drawMode(r)
		rules := slices.DeleteFunc(drawRules(r, "rules", Allow, Ask, Deny), func(s string) bool { return strings.Contains(s, " x)") })
		// Two halves of a quote, each unparsable, can form a valid whole.
		readable := rapid.SampledFrom(someCommands).Filter(func(s string) bool { return !shell.Parse(s, shell.Vars{}).Opaque })
		parts := rapid.SliceOfN(readable, 1, 4).Draw(r, "commands")
		sep := rapid.SampledFrom([]string{" && ", " || ", "; ", " | "}).Draw(r, "operator")
		whole := decide(t, w.config(mode, rules...), "Bash", runs(strings.Join(parts, sep)))
		want, simple := true, shell.Parse(strings.Join(parts, sep), shell.Vars{}).Simple
		for _, part := range parts {
			want = want && decide(t, w.config(mode, rules...), "Bash", runs(part)).Behavior == Allow
		}
		if whole.Behavior == Allow && !want || want && simple && whole.Behavior != Allow {
			r.Fatalf("%q is %s, its parts are all allowed: %v (%s)", strings.Join(parts, sep), whole.Behavior, want, whole.Reason.String())
		}
	})
}

func TestOrderOfRulesDoesNotMatter(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		mode, s := drawMode(r), drawSample(r)
		rules := drawRules(r, "rules", Allow, Ask, Deny)
		shuffled := rapid.Permutation(rules).Draw(r, "order")
		one, other := decide(t, w.config(mode, rules...), s.tool, s.in), decide(t, w.config(mode, shuffled...), s.tool, s.in)
		if one.Behavior != other.Behavior || one.Firm != other.Firm {
			r.Fatalf("%q gives %s, %q gives %s", rules, one.Behavior, shuffled, other.Behavior)
		}
	})
}

func TestModesAreOrdered(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		s, rules := drawSample(r), drawRules(r, "rules", Allow, Ask, Deny)
		in := map[Mode]Decision{}
		for _, m := range Modes() {
			in[m] = decide(t, w.config(m, rules...), s.tool, s.in)
		}
		for _, pair := range [][2]Mode{{Plan, Default}, {DontAsk, Default}, {Default, AcceptEdits}, {AcceptEdits, Bypass}} {
			tight, loose := in[pair[0]], in[pair[1]]
			if looseness(tight.Behavior) > looseness(loose.Behavior) {
				r.Fatalf("%s in %s, but %s in %s", tight.Behavior, pair[0], loose.Behavior, pair[1])
			}
		}
		if (in[DontAsk].Behavior == Allow) != (in[Default].Behavior == Allow) {
			r.Fatalf("dontAsk allows %v, default %v", in[DontAsk].Behavior, in[Default].Behavior)
		}
		if in[Default].Behavior == Deny {
			for m, d := range in {
				if d.Behavior != Deny {
					r.Fatalf("denied in default, %s in %s", d.Behavior, m)
				}
			}
		}
	})
}

func FuzzDecide(f *testing.F) {
	for _, c := range someCommands {
		f.Add(c, "Bash(rm:*)", "Bash(ls *)")
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, command, denied, allowed string) {
		c := w.config(Default)
		c.Rules = append(parseRules(scope.User, "deny "+RuleValue{"Bash", denied}.String()), parseRules(scope.User, "allow "+RuleValue{"Bash", allowed}.String())...)
		with := decide(t, c, "Bash", runs(command))
		c.Rules = c.Rules[1:]
		without := decide(t, c, "Bash", runs(command))
		if looseness(with.Behavior) > looseness(without.Behavior) {
			t.Fatalf("the deny rule loosens: %s, without it %s", with.Behavior, without.Behavior)
		}
		c.Rules = nil
		if none := decide(t, c, "Bash", runs(command)); none.Behavior == Allow && !none.ReadOnly {
			t.Fatalf("%q is allowed without a rule, but not known to only read", command)
		}
	})
}
