package environ

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Notes reports secrets withheld from commands that may have needed them, once per variable.
// The zero value is ready to use. It is safe for concurrent use.
type Notes struct {
	mu    sync.Mutex
	names []string
	told  map[string]bool
}

// Set sets the names of the withheld variables.
func (n *Notes) Set(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = names
}

// About returns a note about a finished command, or "". There is a note if the command mentions
// a withheld variable, or if it failed and runs a program known to read one.
func (n *Notes) About(line string, programs []string, failed bool) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []string
	for _, name := range n.names {
		if !n.told[name] && (mentions(line, name) || failed && slices.ContainsFunc(programs, func(p string) bool { return looksFor(p, name) })) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	if n.told == nil {
		n.told = make(map[string]bool)
	}
	for _, name := range found {
		n.told[name] = true
	}
	return "adze withholds " + strings.Join(found, ", ") + " from commands, because it looks like a secret; the user can pass it on by naming it in the setting shell.passEnv."
}

// mentions reports whether a command line mentions a variable: as a word if the name is
// unmistakable, otherwise only where a shell would expand it.
func mentions(line, name string) bool {
	if !strings.Contains(name, "_") && !strings.Contains(line, "$"+name) && !strings.Contains(line, "${"+name) {
		return false
	}
	for rest := line; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !nameByte(rest[i-1])) && (end == len(rest) || !nameByte(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func nameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// looksFor reports whether a program is known to read a variable.
func looksFor(program, variable string) bool {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, row := range secretReaders {
		if slices.Contains(strings.Fields(row.programs), base) &&
			slices.ContainsFunc(strings.Fields(row.variables), func(p string) bool { return names(p, variable) }) {
			return true
		}
	}
	return false
}

// secretReaders lists programs and the secrets they read from the environment.
var secretReaders = [...]struct{ programs, variables string }{
	{"gh", "GH_* GITHUB_*"},
	{"glab", "GITLAB_*"},
	{"git", "GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN"},
	{"aws sam cdk", "AWS_*"},
	{"terraform tofu terragrunt pulumi", "TF_* AWS_* ARM_* AZURE_* GOOGLE_* PULUMI_*"},
	{"gcloud gsutil bq", "GOOGLE_* CLOUDSDK_*"},
	{"az", "AZURE_* ARM_*"},
	{"npm npx pnpm yarn bun", "NPM_* NODE_AUTH_TOKEN YARN_*"},
	{"pip pip3 uv poetry twine", "PIP_* UV_* POETRY_* TWINE_*"},
	{"cargo", "CARGO_*"},
	{"gem bundle", "GEM_* BUNDLE_* RUBYGEMS_*"},
	{"docker podman", "DOCKER_*"},
	{"psql pg_dump pg_restore createdb dropdb", "PG*"},
	{"mysql mysqldump", "MYSQL_*"},
	{"redis-cli", "REDISCLI_AUTH"},
	{"vercel", "VERCEL_*"},
	{"netlify", "NETLIFY_*"},
	{"fly flyctl", "FLY_*"},
	{"wrangler", "CLOUDFLARE_* CF_*"},
	{"heroku", "HEROKU_*"},
	{"doctl", "DIGITALOCEAN_*"},
	{"hf huggingface-cli", "HF_* HUGGING*"},
	{"sentry-cli", "SENTRY_*"},
	{"vault", "VAULT_*"},
	{"sops", "SOPS_*"},
}
