package shell

import (
	"slices"
	"strings"
)

// quietPrograms never execute their arguments, regardless of options.
var quietPrograms = setOf(`
	grep egrep fgrep rg ag ack locate which whereis
	cat head tail wc stat file jq sort uniq cut tr nl od xxd hexdump base64 strings diff cmp comm paste column fold
	rev tac sed gsed basename dirname realpath readlink md5sum sha1sum sha256sum sha512sum cksum seq expr test [ date
	whoami id uname hostname pwd type nproc free df ps uptime ls tree du echo printf true false : printenv
	cp mv rm rmdir mkdir touch ln chmod chown chgrp tee truncate dd shred kill pkill killall sleep cd pushd popd
	export declare typeset local readonly unset read set shopt alias unalias umask exit return break continue shift
	wait jobs curl mkfs mktemp gofmt man`)

// quietExcept returns the sub-commands and options with which a program executes its operands.
func quietExcept(name string) (subcommands, options string) {
	switch name {
	case "git":
		return "bisect submodule rebase filter-branch difftool mergetool for-each-repo instaweb", "-c --exec --upload-pack --receive-pack --config-env"
	case "docker", "podman":
		return "run exec compose create container", ""
	case "npm", "pnpm", "yarn":
		return "exec x dlx explore", "-c"
	case "go":
		return "generate tool", "-exec -toolexec -vettool"
	case "gh":
		return "alias extension codespace", ""
	}
	return "", ""
}

// runsNothing reports whether the words after the program cannot be a command that it runs.
func runsNothing(words []string) bool {
	name := baseName(words[0])
	if dir := strings.TrimSuffix(words[0], name); dir != "" && dir != "/bin/" && dir != "/usr/bin/" {
		return false // another program of that name
	}
	switch {
	case name == "find":
		return !slices.ContainsFunc(words, isFindAction)
	case name == "command":
		return len(words) > 1 && (words[1] == "-v" || words[1] == "-V")
	case name == "awk" || name == "gawk" || name == "mawk":
		return !slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "|@") || strings.Contains(w, "system") })
	case quietPrograms(name):
		return true
	}
	subcommands, options := quietExcept(name)
	if subcommands == "" {
		return false
	}
	for i, word := range words[1:] {
		// Global options may have values, so after them any word may be the sub-command.
		if (i == 0 || strings.HasPrefix(words[1], "-")) && slices.Contains(strings.Fields(subcommands), word) {
			return false
		}
		for _, option := range strings.Fields(options) {
			given, _, _ := strings.Cut(word, "=")
			if given == option || len(given) > 3 && strings.HasPrefix(option, given) { // options may be abbreviated
				return false
			}
		}
	}
	return true
}
