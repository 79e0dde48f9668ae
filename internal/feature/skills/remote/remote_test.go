package remote

import (
	"net/http"
	"strings"
	"testing"

	"adze/internal/domain/skill"
	"adze/internal/platform/net/web"
	"adze/internal/platform/net/web/webtest"
)

// TestSource checks that skills come from the first base that has them, once per session, and
// that redirects to another host, oversized files and files that are not text are refused.
// Front matter is ignored.
//
// Proves SKILL-34.
func TestSource(t *testing.T) {
	asked := map[string]int{}
	s := webtest.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.Host+r.URL.Path]++
		switch r.Host + r.URL.Path {
		case "skills.example.org/team/deploy/SKILL.md":
			w.Write([]byte("---\ndescription: Deploys.\nallowed-tools: Bash\nmodel: big\n---\nSee ${CLAUDE_SKILL_DIR}/more.md, $ARGUMENTS and !`id`.\n"))
		case "storage.googleapis.com/bucket/a/lint/SKILL.md":
			w.Write([]byte("Lint."))
		case "other.s3.amazonaws.com/mend/SKILL.md":
			w.Write([]byte("Mend."))
		case "skills.example.org/team/moved/SKILL.md":
			http.Redirect(w, r, "https://evil.example.net/SKILL.md", http.StatusFound)
		case "skills.example.org/team/near/SKILL.md":
			http.Redirect(w, r, "/team/deploy/SKILL.md", http.StatusFound)
		case "skills.example.org/team/large/SKILL.md":
			w.Write([]byte(strings.Repeat("x", maxFile+1)))
		case "skills.example.org/team/full/SKILL.md":
			w.Write([]byte(strings.Repeat("x", maxFile)))
		case "skills.example.org/team/binary/SKILL.md":
			w.Write([]byte("\xff\xfe\x00"))
		case "skills.example.org/team/broken/SKILL.md":
			w.Write([]byte("---\nallowed-tools: {a: 1}\n---\nx"))
		case "skills.example.org/team/down/SKILL.md":
			http.Error(w, "no", http.StatusInternalServerError)
		default:
			http.NotFound(w, r)
		}
	}))
	from, wrong := New([]string{"https://skills.example.org/team/", "gs://bucket/a", "s3://other"}, web.New(s.Client()))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for _, tt := range []struct{ slug, want, err string }{
		{slug: "deploy", want: "See https://skills.example.org/team/deploy/more.md, $ARGUMENTS and !`id`."},
		{slug: "deploy", want: "See https://skills.example.org/team/deploy/more.md, $ARGUMENTS and !`id`."},
		{slug: "lint", want: "Lint."},
		{slug: "mend", want: "Mend."},
		{slug: "near", want: "See https://skills.example.org/team/near/more.md, $ARGUMENTS and !`id`."},
		{slug: "full", want: strings.Repeat("x", maxFile)},
		{slug: "moved", err: "redirects elsewhere, to https://evil.example.net/SKILL.md"},
		{slug: "large", err: "has more than 256 KB"},
		{slug: "binary", err: "is not text"},
		{slug: "broken", err: "allowed-tools"},
		{slug: "down", err: "status 500"},
		{slug: "none", err: "none of the addresses in remoteSkills has a file none/SKILL.md"},
	} {
		k := from.Find(Prefix + tt.slug)
		if k == nil {
			t.Fatalf("%s is not found", tt.slug)
		}
		got, err := k.Text(t.Context())
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %.200q, %v", tt.slug, got, err)
		}
		if k.Origin.Own() || len(k.Allowed) > 0 || k.Model != "" || !skill.Safe(k.Head) {
			t.Errorf("%s: the head counts: %+v", tt.slug, k.Head)
		}
	}
	if n := asked["skills.example.org/team/deploy/SKILL.md"]; n != 2 { // once directly, and once through near
		t.Errorf("deploy was fetched %d times", n)
	}
	for address := range asked {
		if strings.HasPrefix(address, "evil") {
			t.Error("request sent to the other host")
		}
	}
}

// TestFind checks that names that can't be part of a URL or lack the prefix are not found, nor
// is anything without bases.
//
// Proves SKILL-34.
func TestFind(t *testing.T) {
	from, _ := New([]string{"https://skills.example.org"}, web.New(web.Config{}))
	for _, name := range []string{
		"deploy", "_canonical_", "_canonical_..", "_canonical_a/b", "_canonical_a%2fb", "_canonical_a?b", "_canonical_A", "_CANONICAL_a",
		"_canonical_a:b", "_canonical_a.b", "_canonical_ä", "_canonical_a b", "_canonical_" + strings.Repeat("x", maxSlug+1),
	} {
		if from.Find(name) != nil {
			t.Errorf("%q is found", name)
		}
	}
	if none, wrong := New(nil, web.New(web.Config{})); none != nil || none.Find("_canonical_a") != nil || len(wrong) > 0 {
		t.Error("something is found without bases")
	}
}

// TestBases checks that invalid bases are omitted, with a reason.
//
// Proves SKILL-34.
func TestBases(t *testing.T) {
	for _, text := range []string{
		"", "http://skills.example.org", "file:///etc", "ftp://x.example.org", "https://", "https:skills.example.org", "//skills.example.org",
		"https://user:key@skills.example.org", "https://skills.example.org/?q", "https://skills.example.org/#f", "https://skills.example.org/../x",
		"https://127.0.0.1", "https://169.254.169.254/latest", "https://localhost", "gs://bad.bucket", "s3://x@evil.example.net", "s3://A", "gs://", "%",
	} {
		if from, wrong := New([]string{text}, web.New(web.Config{})); from != nil || len(wrong) != 1 {
			t.Errorf("%q is taken", text)
		}
	}
}
