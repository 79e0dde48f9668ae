package shell

import (
	"path"
	"slices"
	"strings"
)

// Destructive returns a warning for the permission prompt, or "". It is informational: rules
// and modes do not depend on it.
func (s *Script) Destructive() string { return s.warning(maxNested, map[string]bool{}) }

// maxNested is how many levels of code in arguments, as in bash -c '…', are inspected for warnings.
const maxNested = 3

// warning returns the first warning. It inspects each code argument once and records it in parsed.
func (s *Script) warning(depth int, parsed map[string]bool) string {
	if depth == 0 {
		return ""
	}
	if w := s.runsDownload(); w != "" {
		return w
	}
	for _, p := range s.Parts {
		for _, f := range p.forms() {
			i := inspection{depth: depth, parsed: parsed, names: map[string]bool{}}
			if w := i.command(f.words); w != "" {
				return w
			}
		}
	}
	upper := strings.ToUpper(s.Source)
	for _, sql := range [...]string{"DROP TABLE", "DROP DATABASE", "DROP SCHEMA", "TRUNCATE TABLE", "DELETE FROM"} {
		if strings.Contains(upper, sql) {
			return "This may delete data in a database (" + sql + ")."
		}
	}
	return ""
}

// runsDownload warns if the line downloads something and runs it.
func (s *Script) runsDownload() string {
	fetched, fetches := "", false
	for _, p := range s.Parts {
		for _, words := range runs(p) {
			switch name := baseName(words[0].Value); {
			case name == "curl" || name == "wget" || name == "fetch" || name == "aria2c":
				fetches = true
				for _, w := range words[1:] {
					fetched += " " + path.Base(w.Value) + " "
				}
			}
		}
	}
	if !fetches {
		return ""
	}
	for _, p := range s.Parts {
		for _, words := range runs(p) {
			if runsInput(words, fetched) {
				return "This runs a downloaded script."
			}
		}
	}
	return ""
}

// runs returns a command and the commands it wraps, such as sudo's.
func runs(p *Part) [][]Word {
	all := p.commands()
	for i := 0; i < len(all); i++ {
		if privileged(baseName(all[i][0].Value)) {
			for n := 1; n < len(all[i]); n++ {
				if v := all[i][n].Value; interpreter(baseName(v)) || v == "tee" {
					all = append(all, all[i][n:])
					break
				}
			}
		}
	}
	return all
}

// runsInput reports whether a command interprets its input, another command's output, or a
// downloaded file.
func runsInput(words []Word, fetched string) bool {
	name := baseName(words[0].Value)
	if name == "eval" || name == "source" || name == "." {
		return slices.ContainsFunc(words[1:], func(w Word) bool { return w.substs || w.pipe || isFetched(w, fetched) })
	}
	if !interpreter(name) {
		return isFetched(words[0], fetched)
	}
	for i, w := range words[1:] {
		switch v := w.Value; {
		case w.substs || w.pipe:
			return true
		case v == "-" || v == "-s" || v == "/dev/stdin":
			return true
		case codeOption(name, v):
			return i+2 < len(words) && words[i+2].substs
		case v == "-m":
			return false
		case strings.HasPrefix(v, "-"):
		default:
			return isFetched(w, fetched)
		}
	}
	return true
}

func isFetched(w Word, fetched string) bool {
	return w.Value != "" && strings.Contains(fetched, " "+path.Base(w.Value)+" ")
}

// interpreter reports whether a program runs code that it is given.
func interpreter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "node", "deno", "bun", "perl", "ruby", "php", "pwsh", "powershell":
		return true
	}
	return false
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		return true
	}
	return false
}

// codeOption reports whether an option of an interpreter is followed by code.
func codeOption(name, v string) bool {
	if isShell(name) {
		return len(v) > 1 && v[0] == '-' && v[1] != '-' && strings.HasSuffix(v, "c")
	}
	switch v {
	case "-c", "-e", "-r", "-p", "--eval", "--print", "-pe":
		return true
	}
	return false
}

func privileged(name string) bool {
	switch name {
	case "sudo", "doas", "su", "pkexec", "run0", "sudoedit":
		return true
	}
	return false
}

// deletions are calls that delete files, in interpreted languages.
var deletions = [...]string{
	"rmtree", "os.remove", "os.unlink", "os.rmdir", ".unlink(", "rmSync", "rmdirSync", "unlinkSync", "fs.rm", "rimraf", "rm_rf", "rm_r(",
	"File.delete", "FileUtils.rm", "unlink ", "unlink(", "remove_tree",
}

// An inspection looks for a warning in one command and the commands that it wraps. Any word may begin a wrapped command,
// so each name is inspected only where it first occurs: that sees the most arguments.
type inspection struct {
	depth  int
	parsed map[string]bool
	names  map[string]bool
}

// command returns a warning for a command, or "".
func (in *inspection) command(words []Word) string {
	name := baseName(words[0].Value)
	if in.names[name] {
		return ""
	}
	in.names[name] = true
	c := callee{name, words[1:]}
	if w := in.code(c); w != "" {
		return w
	}
	switch name {
	case "sudo", "doas", "su", "pkexec", "run0", "xargs", "command", "env", "nohup", "nice", "timeout", "time", "find", "ssh", "watch", "parallel":
		for i := 1; i < len(words); i++ {
			if strings.HasPrefix(words[i].Value, "-") && name != "find" || words[i].Value == "" {
				continue
			}
			if name == "find" && !strings.HasPrefix(words[i-1].Value, "-exec") && !strings.HasPrefix(words[i-1].Value, "-ok") {
				continue
			}
			if w := in.command(words[i:]); w != "" {
				return w
			}
		}
	}
	for _, check := range [...]func() string{c.files, c.git, c.published, c.remote, c.system} {
		if w := check(); w != "" {
			return w
		}
	}
	return ""
}

// A callee is a program and its arguments, for warnings.
type callee struct {
	name string
	args []Word
}

// has reports whether any argument is a given word, or a given option with a value.
func (c callee) has(options ...string) bool {
	for _, w := range c.args {
		for _, o := range options {
			if w.Value == o || strings.HasPrefix(w.Value, o+"=") {
				return true
			}
		}
	}
	return false
}

// short reports whether a cluster of short options, such as -Rf, has any of the letters.
func (c callee) short(letters string) bool {
	return slices.ContainsFunc(c.args, func(w Word) bool {
		return len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-' && strings.ContainsAny(w.Value[1:], letters)
	})
}

// verb returns the nth argument that is not an option, counted from 0, or "".
func (c callee) verb(n int) string {
	for _, w := range c.args {
		if strings.HasPrefix(w.Value, "-") {
			continue
		}
		if n == 0 {
			return w.Value
		}
		n--
	}
	return ""
}

// code warns of code in the arguments.
func (in *inspection) code(c callee) string {
	if !interpreter(c.name) && c.name != "eval" {
		return ""
	}
	for i, w := range c.args {
		given := c.name == "eval" || i > 0 && codeOption(c.name, c.args[i-1].Value)
		switch {
		case !given || in.parsed[w.Value]:
		case c.name == "eval" || isShell(c.name):
			in.parsed[w.Value] = in.depth > 1
			if warning := Parse(w.Value, Vars{}).warning(in.depth-1, in.parsed); warning != "" {
				return warning
			}
		case slices.ContainsFunc(deletions[:], func(call string) bool { return strings.Contains(w.Value, call) }):
			return "This deletes files."
		}
	}
	return ""
}

// files warns of lost files.
func (c callee) files() string {
	switch {
	case c.name == "rm", c.name == "rmdir", c.name == "shred", c.name == "unlink", c.name == "srm":
		return "This deletes files."
	case c.name == "find" && c.has("-delete"), c.name == "rsync" && slices.ContainsFunc(c.args, func(w Word) bool { return strings.HasPrefix(w.Value, "--delete") }):
		return "This deletes files."
	case c.name == "dd", c.name == "wipefs", c.name == "fdisk", c.name == "parted", strings.HasPrefix(c.name, "mkfs"):
		return "This overwrites a disk or a file."
	case c.name == "truncate":
		return "This cuts files short."
	case c.name == "chmod" || c.name == "chown" || c.name == "chgrp" || c.name == "setfacl":
		recursive := c.short("R") || c.has("--recursive")
		if recursive && slices.ContainsFunc(c.args, root) {
			return "This changes the permissions of a whole directory tree."
		}
	}
	return ""
}

// root reports whether a word names /, a system directory, or a home directory or its parents.
func root(w Word) bool {
	v := strings.TrimSuffix(strings.TrimSuffix(w.Value, "*"), "/")
	switch {
	case w.Value == "/" || w.Value == "/*" || v == "~" || v == ".." || v == "$HOME" || strings.HasPrefix(v, "../.."):
		return true
	case slices.Contains(w.unset, "HOME"), slices.Contains(w.names, "HOME"):
		return true
	case !path.IsAbs(v):
		return false
	}
	rest := strings.TrimPrefix(path.Clean(v), "/")
	top, below, _ := strings.Cut(rest, "/")
	switch top {
	case "home", "Users", "root", "usr", "var", "mnt", "srv", "opt":
		return !strings.Contains(below, "/")
	case "etc", "bin", "sbin", "lib", "lib64", "boot", "dev", "proc", "sys", "System", "Library":
		return true
	}
	return below == ""
}

// git warns of lost work and rewritten history.
func (c callee) git() string {
	if c.name != "git" {
		return ""
	}
	switch {
	case c.has("reset") && c.has("--hard"), c.has("clean"), c.has("checkout", "restore") && c.has("--", "."):
		return "This discards changes that are not committed."
	case c.has("push") && (c.short("fd") || c.has("--force", "--force-with-lease", "--mirror", "--delete", "--prune") || slices.ContainsFunc(c.args, forced)):
		return "This rewrites history that others may have."
	case c.has("branch") && c.has("-D"), c.has("stash") && c.has("drop", "clear"), c.has("tag") && c.short("d"), c.has("worktree") && c.has("remove"), c.has("update-ref") && c.short("d"):
		return "This deletes work that was set aside."
	case c.has("filter-branch", "filter-repo"), c.has("reflog") && c.has("expire", "delete"), c.has("gc") && c.has("--prune"):
		return "This rewrites or deletes history."
	}
	return ""
}

// forced reports whether a refspec overwrites or deletes: +main, :main.
func forced(w Word) bool {
	return len(w.Value) > 1 && (w.Value[0] == '+' || w.Value[0] == ':')
}

// published warns of releases, which cannot be recalled.
func (c callee) published() string {
	v := c.verb(0)
	publishes := false
	switch c.name {
	case "npm", "pnpm", "yarn", "bun", "lerna", "jsr", "vsce", "ovsx":
		publishes = v != "run" && v != "exec" && c.has("publish", "unpublish") || v == "deprecate" || v == "dist-tag"
	case "cargo":
		publishes = v == "publish" || v == "yank" || v == "owner"
	case "gem":
		publishes = v == "push" || v == "yank"
	case "twine":
		publishes = v == "upload"
	case "poetry", "uv", "flit", "hatch", "pdm":
		publishes = v == "publish"
	case "docker", "podman", "nerdctl", "buildah", "crane", "oras":
		publishes = v == "push" || (v == "image" || v == "manifest") && c.verb(1) == "push" || c.has("--push")
	case "helm":
		publishes = v == "push"
	case "mvn", "mvnw":
		publishes = c.has("deploy")
	case "gradle", "gradlew":
		publishes = slices.ContainsFunc(c.args, func(w Word) bool {
			return strings.HasPrefix(path.Base(strings.ReplaceAll(w.Value, ":", "/")), "publish")
		})
	case "dotnet", "nuget":
		publishes = v == "push" || v == "nuget" && c.verb(1) == "push"
	case "gh", "glab":
		publishes = v == "release" && c.verb(1) == "create" || v == "gist" && c.verb(1) == "create"
	case "goreleaser", "semantic-release", "changeset":
		publishes = c.name == "semantic-release" || v == "release" || v == "publish"
	}
	if publishes {
		return "This publishes to others and cannot be recalled."
	}
	return ""
}

// deleting are the verbs with which programs delete what they manage.
var deleting = [...]string{
	"delete", "del", "destroy", "rm", "rmi", "remove", "rb", "purge", "prune", "drain", "uninstall", "teardown", "terminate", "undeploy", "deletefile", "cleanup",
}

// remote warns of deletions of remote resources.
func (c callee) remote() string {
	switch {
	case Is(c.name, Deletes):
		for n := range c.args {
			v := strings.ToLower(c.verb(n))
			if i := strings.LastIndexByte(v, ':'); i >= 0 { // apps:destroy
				v = v[i+1:]
			}
			head, _, _ := strings.Cut(v, "-") // delete-bucket
			if slices.Contains(deleting[:], v) || slices.Contains(deleting[:], head) {
				return "This deletes what " + c.name + " manages."
			}
			if n >= 3 || v == "run" || v == "exec" { // the rest are names or another command
				break
			}
		}
		if c.has("-destroy", "--destroy", "--prune") || strings.HasPrefix(c.name, "docker") && c.verb(0) == "compose" && c.verb(1) == "down" && (c.short("v") || c.has("--volumes")) {
			return "This deletes what " + c.name + " manages."
		}
	case c.name == "dropdb", c.name == "redis-cli" && (c.has("FLUSHALL", "FLUSHDB", "flushall", "flushdb")):
		return "This deletes a database."
	case strings.HasPrefix(c.name, "mongo") && slices.ContainsFunc(c.args, func(w Word) bool {
		return strings.Contains(w.Value, "dropDatabase") || strings.Contains(w.Value, ".drop(")
	}):
		return "This deletes a database."
	}
	return ""
}

// system warns of root privileges and of changes to the machine.
func (c callee) system() string {
	switch {
	case privileged(c.name):
		return "This runs with the rights of another user, such as root."
	case c.name == "shutdown", c.name == "reboot", c.name == "halt", c.name == "poweroff":
		return "This stops the machine."
	case c.name == "crontab" && c.short("r"):
		return "This deletes scheduled jobs."
	case c.name == "kill" && c.has("-1") && len(c.args) > 1, c.name == "killall", c.name == "pkill":
		return "This may end programs other than the one meant."
	case c.name == "iptables" && c.short("F"), c.name == "ufw" && c.has("disable", "reset"):
		return "This changes the firewall."
	}
	return ""
}
