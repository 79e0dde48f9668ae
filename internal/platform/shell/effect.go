package shell

import (
	"errors"
	"strings"
)

// Possible effects of programs that are not known to be read-only, for the permission prompt.
var (
	reachesNetwork = setOf(`curl wget wget2 ssh scp sftp rsync ftp nc ncat telnet ping dig nslookup host gh glab hub aws gcloud az kubectl helm heroku vercel netlify
		fly docker podman terraform tofu http https httpie aria2c yt-dlp nmap traceroute whois`)
	runsProject = setOf(`make gmake cmake ninja meson just task rake pytest tox nox jest vitest mocha eslint prettier tsc webpack vite rollup gradle gradlew
		mvn mvnw bazel dotnet swift mix rspec rubocop phpunit ctest npx bunx uvx black ruff mypy pylint flake8 golangci-lint`)
	changesFiles = setOf(`rm rmdir unlink mv cp ln install mkdir touch chmod chown chgrp tee truncate dd shred patch split sed tar zip unzip gzip gunzip bzip2 xz zstd
		mktemp mkfifo rename`)
	installs   = setOf(`pip pip3 gem bundle composer brew apt apt-get dnf yum pacman apk snap rustup uv poetry pipenv pdm conda`)
	runsAnyway = setOf(`python python3 python2 pypy node nodejs deno bun ruby perl php lua Rscript julia bash sh zsh dash fish ksh eval source . awk gawk xargs parallel env
		sudo doas psql mysql sqlite3 irb ipython osascript`)
)

// effect describes the possible effect of a command that is not known to be read-only. It
// returns why if nothing more specific is known.
func effect(words []Word, why error) error {
	name := baseName(words[0].Value)
	shown, second := name, ""
	if len(words) > 1 && plainName(words[1]) {
		second = words[1].Value
	}
	if second != "" && subcommands(name) > 0 {
		shown += " " + second
	}
	shown = "`" + shown + "`"
	switch {
	case strings.Contains(words[0].Value, "/") && commands()[name] == nil:
		return why
	case name == "git":
		switch second {
		case "push", "pull", "fetch", "clone", "ls-remote":
			return errors.New(shown + " reaches the network")
		case "add", "commit", "checkout", "switch", "restore", "reset", "merge", "rebase", "stash", "rm", "mv", "clean", "cherry-pick", "revert", "apply", "am", "init", "tag", "branch":
			return errors.New(shown + " may change the repository")
		case "":
			return why
		}
		return errors.New("adze can't verify that " + shown + " is read-only")
	case name == "npm" || name == "pnpm" || name == "yarn":
		switch second {
		case "test", "t", "run", "start", "exec", "x", "dlx", "build":
			return errors.New(shown + " runs code of the project")
		}
		return errors.New(shown + " may run scripts, change files or reach the network")
	case name == "go" || name == "cargo":
		switch second {
		case "test", "run", "build", "generate", "vet", "tool", "check", "clippy", "bench", "doc", "fix":
			return errors.New(shown + " runs code of the project")
		case "get", "mod", "install", "list", "add", "update", "fetch", "publish", "search", "tree", "metadata":
			return errors.New(shown + " may reach the network or change files")
		}
		return why
	case installs(name):
		return errors.New(shown + " may install packages or reach the network")
	case runsProject(name):
		return errors.New(shown + " runs code of the project")
	case reachesNetwork(name):
		return errors.New(shown + " reaches the network")
	case runsAnyway(name):
		return errors.New(shown + " can run arbitrary code")
	case changesFiles(name) && find(name) == nil:
		return errors.New(shown + " changes files")
	}
	if e, _ := lookup(words); e == nil && find(name) == nil && manualOf(name) == nil {
		return errors.New(shown + " is not a program adze knows")
	}
	return why
}
