package rule

import (
	"strings"

	"adze/internal/permission/compat"
)

// Broad reports whether the rule, if it allows, permits arbitrary execution: a whole tool that
// runs commands or agents, an interpreter, or a package runner.
func (r *Rule) Broad() bool {
	kind := r.kind()
	switch {
	case r.Content == "":
		return kind.Runs()
	case kind == compat.Agent:
		return true
	case kind == compat.Foreign:
		name, _, _ := strings.Cut(strings.ToLower(r.Content), " ")
		name = strings.TrimRight(name, ":*")
		return strings.Contains(r.Content, "*") && (name == "" || runsAnything(name))
	case kind != compat.Shell || r.command.Exact():
		return false
	}
	program := r.command.Program()
	return program == "" || runsAnything(program)
}

// runsAnything reports whether a program runs arbitrary code it is given: an interpreter, a
// shell, a wrapper, or a package or script runner.
func runsAnything(program string) bool {
	program = strings.TrimRight(program, "0123456789.")
	switch program {
	case "sh", "bash", "zsh", "dash", "fish", "ksh", "python", "node", "deno", "bun", "ruby", "perl", "php", "lua", "osascript", "pwsh", "powershell",
		"npx", "bunx", "uvx", "pipx", "npm", "pnpm", "yarn", "uv", "poetry", "pip", "gem", "cargo", "go", "make",
		"sudo", "doas", "env", "xargs", "ssh", "eval", "exec", "find", "awk", "gawk", "watch", "parallel", "nohup", "nice", "timeout", "time", "docker", "kubectl", "adze",
		"iex", "invoke-expression", "icm", "invoke-command", "start", "saps", "start-process", "cmd", "wsl":
		return true
	}
	return false
}
