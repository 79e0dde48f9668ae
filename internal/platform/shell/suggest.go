package shell

import "strings"

const maxSuggestions = 5

// subcommands returns the number of leading words that determine a program's action.
func subcommands(name string) int {
	switch name {
	case "git", "go", "cargo", "docker", "podman", "kubectl", "helm", "terraform", "brew", "apt", "apt-get", "dnf", "pip", "pip3",
		"gem", "bundle", "composer", "dotnet", "mvn", "gradle", "rustup", "uv", "poetry", "make", "just", "systemctl", "swift", "mix", "deno":
		return 1
	case "npm", "pnpm", "yarn", "bun", "gh":
		return 2
	}
	return 0
}

// neverPrefix are sub-commands that run their arguments.
var neverPrefix = setOf(`npm_exec npm_x npm_init npm_create npm_explore pnpm_exec pnpm_dlx pnpm_create pnpm_node yarn_dlx yarn_exec yarn_create
	yarn_node bun_x bun_create docker_run docker_exec docker_compose docker_create docker_container podman_run podman_exec podman_compose podman_create
	podman_container kubectl_exec kubectl_run kubectl_debug kubectl_plugin go_run go_tool go_generate cargo_run uv_run uv_tool poetry_run poetry_shell
	bundle_exec bundle_console dotnet_run dotnet_fsi dotnet_exec dotnet_script deno_run deno_eval deno_repl swift_run swift_repl mix_run
	brew_ruby brew_irb brew_sh terraform_console systemctl_edit git_config git_bisect git_submodule git_filter-branch git_difftool git_mergetool
	gh_api gh_alias gh_extension gh_codespace rustup_run helm_plugin mvn_exec:java mvn_exec:exec gradle_run`)

// Suggest returns at most five rule contents that would allow the line: a rule for each part
// that needs one, or a rule that quotes the whole line if a part cannot be covered or may
// execute its input. None of them is a bare program, a wrapper or an interpreter. If the line
// runs code that it does not spell out, Suggest returns nil.
func (s *Script) Suggest() []string {
	if s.Opaque || strings.TrimSpace(s.Source) == "" || s.unspelled() {
		return nil
	}
	whole := []string{Quote(s.Source)}
	if !s.Simple {
		return whole
	}
	var rules []string
	seen := make(map[string]bool)
	for _, p := range s.Parts {
		if p.WordsReadOnly() == nil || isMove(p) {
			continue
		}
		if p.runsInput() {
			return whole
		}
		rule := p.suggest()
		pat, err := ParsePattern(rule)
		if err != nil || !p.Allowed(pat) {
			return whole
		}
		if !seen[rule] {
			seen[rule] = true
			rules = append(rules, rule)
		}
	}
	return rules[:min(len(rules), maxSuggestions)]
}

// isMove reports whether p only changes the directory, which is judged as a path.
func isMove(p *Part) bool { return p.program() == "cd" }

// suggest returns the rule for one part: its sub-command followed by a star, or its exact text.
func (p *Part) suggest() string {
	forms := p.forms()
	inner := forms[len(forms)-1]
	name := inner.words[0].Value
	n := subcommands(name)
	prefix := []string{name}
	for _, w := range inner.words[1:] {
		if len(prefix) > n || !plainName(w) {
			break
		}
		prefix = append(prefix, w.Value)
		if neverPrefix(strings.Join(prefix, "_")) {
			return Quote(inner.text)
		}
		if len(prefix) == 2 && n == 2 && w.Value != "run" && name != "gh" {
			break
		}
	}
	if len(prefix) < 2 || n == 2 && len(prefix) == 2 && prefix[1] == "run" {
		return Quote(inner.text)
	}
	for _, r := range p.Reaches() {
		if dir := p.script.vars.Dir; pathLike(r.Path) && (dir == "" || r.Path != dir && !strings.HasPrefix(r.Path, dir+"/")) {
			return Quote(inner.text) // a rule with a star does not cover the words outside
		}
	}
	return strings.Join(prefix, " ") + ":*"
}

// plainName reports whether w can be a sub-command.
func plainName(w Word) bool {
	if w.Value == "" || w.Glob || w.Value[0] == '-' {
		return false
	}
	return strings.Trim(w.Value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:") == ""
}
