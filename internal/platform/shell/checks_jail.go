package shell

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Checks for commands that are proven only in a jail.

// sink reports whether writing to path has no lasting effect in a jail.
func sink(path string) bool {
	switch path {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return true
	}
	number, ok := strings.CutPrefix(path, "/dev/fd/")
	return ok && digits(number)
}

// source reports whether reading path reads an already open file, or meaningless data.
func source(path string) bool {
	switch path {
	case "/dev/stdin", "/dev/zero", "/dev/urandom", "/dev/random":
		return true
	}
	return sink(path)
}

// drain reports whether nothing that the line writes to path persists: it is a device, or one
// of the line's own outputs. If the line moves descriptors, /dev/stdout may refer to a file
// that it only reads.
func (s *Script) drain(path string) bool {
	return path == "/dev/null" || (path == "/dev/stdout" || path == "/dev/stderr") && s.keepsOutputs()
}

// keepsOutputs reports whether the line's standard outputs are never files that it opened for
// reading.
func (s *Script) keepsOutputs() bool {
	for _, p := range s.Parts {
		for _, r := range p.Redirects {
			switch {
			case r.odd != "":
				return false
			case strings.HasPrefix(r.Op, "<<"):
			case strings.HasPrefix(r.Op, "<") && r.FD > 0:
				return false
			case r.Op == ">&" && r.Verb == 0 && r.Target.Value != "1" && r.Target.Value != "2" && r.Target.Value != "-":
				return false
			}
		}
	}
	return true
}

func checkTee(a *parsedArgs) error {
	for _, w := range a.operands {
		if !w.Static || !sink(w.Value) {
			return fmt.Errorf("writes to %s", w.Text)
		}
	}
	return nil
}

func checkDd(a *parsedArgs) error {
	for _, w := range a.words {
		name, value, _ := strings.Cut(w.Value, "=")
		switch name {
		case "if", "bs", "ibs", "obs", "cbs", "count", "skip", "iseek", "status", "iflag", "conv":
		case "of":
			if !sink(value) {
				return fmt.Errorf("writes to %s", quote(value))
			}
		default:
			return fmt.Errorf("may do more than read with %s", w.Text)
		}
	}
	return nil
}

// checkTar accepts listing an archive, and extracting it to standard output.
func checkTar(a *parsedArgs) error {
	var lists, unpacks, prints bool
	words := a.words
	for i := 0; i < len(words); i++ {
		v := words[i].Value
		switch {
		case i == 0 && v != "" && v[0] != '-', len(v) > 1 && v[0] == '-' && v[1] != '-':
			for _, c := range strings.TrimPrefix(v, "-") {
				switch c {
				case 't':
					lists = true
				case 'x':
					unpacks = true
				case 'O':
					prints = true
				case 'f', 'C':
					if i++; i >= len(words) || c == 'f' && strings.Contains(words[i].Value, ":") {
						return errors.New("has an archive that adze can't determine")
					}
				case 'v', 'z', 'j', 'J', 'a', 'Z', 'p', 'k', 'P':
				default:
					return fmt.Errorf("may do more than read with -%c", c)
				}
			}
		case v == "--list":
			lists = true
		case v == "--extract", v == "--get":
			unpacks = true
		case v == "--to-stdout":
			prints = true
		case v == "--verbose", v == "--gzip", v == "--gunzip", v == "--bzip2", v == "--xz", v == "--zstd", v == "--wildcards", v == "--full-time", v == "--auto-compress",
			v == "--no-wildcards", v == "--utc", v == "--numeric-owner", v == "--force-local", v == "--version", v == "--help",
			strings.HasPrefix(v, "--file=") && !strings.Contains(v, ":"), strings.HasPrefix(v, "--strip-components="), strings.HasPrefix(v, "--exclude="):
			lists = lists || v == "--version" || v == "--help"
		case v == "--file" && i+1 < len(words) && !strings.Contains(words[i+1].Value, ":"), v == "--exclude":
			i++
		case strings.HasPrefix(v, "-"):
			return fmt.Errorf("may do more than read with %s", v)
		}
	}
	if lists != (unpacks && prints) {
		return nil
	}
	return errors.New("does more than list an archive")
}

// tarPaths returns the archive and the directories in a command that checkTar accepts.
func tarPaths(words []Word) []Word {
	var paths []Word
	for i := 0; i < len(words); i++ {
		v := words[i].Value
		switch {
		case i == 0 && v != "" && v[0] != '-', len(v) > 1 && v[0] == '-' && v[1] != '-':
			for _, c := range v {
				if (c == 'f' || c == 'C' || c == 'T' || c == 'X') && i+1 < len(words) {
					i++
					paths = append(paths, words[i])
				}
			}
		case (v == "--file" || v == "--directory") && i+1 < len(words):
			i++
			paths = append(paths, words[i])
		case strings.HasPrefix(v, "--file="), strings.HasPrefix(v, "--directory="):
			_, value, _ := strings.Cut(v, "=")
			paths = append(paths, Word{Value: value, Static: words[i].Static, Text: quote(value)})
		}
	}
	return paths
}

func checkSeven(a *parsedArgs) error {
	if len(a.words) == 0 || a.words[0].Value != "l" && a.words[0].Value != "t" {
		return errors.New("does more than list an archive")
	}
	return noMore(a.words[1:], "-slt -ba -r -bd")
}

func checkJar(a *parsedArgs) error {
	if len(a.words) == 0 {
		return errors.New("does more than list an archive")
	}
	switch a.words[0].Value {
	case "tf", "tvf", "-tf", "-tvf", "--list", "--version":
		return noMore(a.words[1:], "-f -v")
	}
	return errors.New("does more than list an archive")
}

func checkAr(a *parsedArgs) error {
	if len(a.words) == 0 || strings.Trim(strings.TrimPrefix(a.words[0].Value, "-"), "tpvO") != "" && a.words[0].Value != "--version" {
		return errors.New("does more than list an archive")
	}
	return checkResponse(a)
}

// noMore returns an error if words contain an option that is not in known.
func noMore(words []Word, known string) error {
next:
	for _, w := range words {
		if !strings.HasPrefix(w.Value, "-") {
			continue
		}
		for _, option := range strings.Fields(known) {
			if w.Value == option {
				continue next
			}
		}
		return fmt.Errorf("may do more than read with %s", w.Text)
	}
	return nil
}

// archiveUses returns the archives or programs that are read, if nothing else happens.
// Otherwise nothing is known.
func archiveUses(words []Word) []use {
	if !reads(words) {
		return nil
	}
	rest := words[1:]
	if strings.HasSuffix(words[0].Value, "tar") {
		return all(ReadPath, tarPaths(rest))
	}
	return all(ReadPath, plainOperands(rest[min(1, len(rest)):], ""))
}

func checkSleep(a *parsedArgs) error {
	total := 0.0
	for _, w := range a.operands {
		number := strings.TrimSuffix(w.Value, "s")
		seconds, err := strconv.ParseFloat(number, 64)
		if err != nil || !w.Static || strings.Trim(number, "0123456789.") != "" {
			return fmt.Errorf("waits for %s, which adze doesn't understand", w.Text)
		}
		total += seconds
	}
	if total > 60 {
		return errors.New("waits for more than a minute")
	}
	return nil
}

func checkGetent(a *parsedArgs) error {
	if len(a.operands) > 0 {
		switch a.operands[0].Value {
		case "passwd", "group", "services", "protocols", "rpc", "shells", "aliases":
			return nil
		}
	}
	return errors.New("may ask a server")
}

func checkStty(a *parsedArgs) error {
	if len(a.operands) == 1 && a.operands[0].Value == "size" || len(a.operands) == 0 {
		return nil
	}
	return errors.New("changes the terminal")
}

// checkCount accepts programs that report repeatedly, if a count is given.
func checkCount(a *parsedArgs) error {
	if len(a.operands) == 1 || len(a.operands) > 2 {
		return errors.New("runs until it is stopped")
	}
	for _, w := range a.operands {
		if len(w.Value) > 2 {
			return errors.New("runs for a long time")
		}
	}
	return nil
}

func checkTop(a *parsedArgs) error {
	if a.has("-b") && a.has("-n") || a.has("-l") {
		return nil
	}
	return errors.New("runs until it is stopped, unless it has the options -b -n 1")
}

func checkSysctl(a *parsedArgs) error {
	for _, w := range a.operands {
		if strings.Contains(w.Value, "=") || !w.Static {
			return fmt.Errorf("may change a kernel setting with %s", w.Text)
		}
	}
	return nil
}

// checkIP accepts the display forms of ip.
func checkIP(a *parsedArgs) error {
	words := a.words
	for len(words) > 0 && strings.HasPrefix(words[0].Value, "-") {
		switch words[0].Value {
		case "-4", "-6", "-0", "-o", "-s", "-d", "-j", "-p", "-br", "-c", "-h", "-r", "-json", "-brief", "-stats", "-details", "-pretty", "-oneline", "-color", "-color=never", "-V", "-Version":
		default:
			return fmt.Errorf("may do more than read with %s", words[0].Text)
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	switch words[0].Value {
	case "a", "ad", "add", "addr", "address", "l", "li", "link", "r", "ro", "rou", "rout", "route", "n", "ne", "nei", "neigh", "neighbour", "neighbor", "ru", "rule",
		"maddr", "maddress", "mr", "mroute", "tunnel", "netns", "nexthop", "vrf":
	default:
		return fmt.Errorf("may do more than read with %s", words[0].Text)
	}
	if len(words) == 1 {
		return nil
	}
	switch words[1].Value {
	case "s", "sh", "sho", "show", "list", "ls", "lst":
		return nil
	case "get":
		if strings.HasPrefix(words[0].Value, "r") && words[0].Value != "ru" && words[0].Value != "rule" {
			return nil
		}
	}
	return fmt.Errorf("may do more than read with %s", words[1].Text)
}

// tame are variables that do not hold secrets.
var tame = setOf(`PATH HOME USER LOGNAME SHELL PWD OLDPWD LANG LANGUAGE TERM COLORTERM TMPDIR TZ EDITOR VISUAL PAGER HOSTNAME DISPLAY SHLVL COLUMNS LINES
	GOPATH GOROOT GOBIN GOOS GOARCH GOFLAGS GOCACHE GOMODCACHE CGO_ENABLED JAVA_HOME NODE_ENV NODE_PATH PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX
	CARGO_HOME RUSTUP_HOME RUST_LOG CC CXX CFLAGS CXXFLAGS LDFLAGS MANPATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR CI DEBUG`)

func checkPrintenv(a *parsedArgs) error {
	if len(a.operands) == 0 {
		return errors.New("shows the whole environment")
	}
	for _, w := range a.operands {
		if !w.Static || !tame(w.Value) && !strings.HasPrefix(w.Value, "LC_") {
			return fmt.Errorf("prints %s, which may be a secret", w.Text)
		}
	}
	return nil
}

func checkApk(a *parsedArgs) error { return oneOf(a, "info list search policy version") }

// oneOf returns an error if the first operand is not a listed sub-command.
func oneOf(a *parsedArgs, subcommands string) error {
	if len(a.operands) > 0 {
		for _, sub := range strings.Fields(subcommands) {
			if a.operands[0].Value == sub {
				return nil
			}
		}
	}
	return errors.New("may do more than query")
}

func checkPager(a *parsedArgs) error {
	for _, w := range a.operands {
		if strings.HasPrefix(w.Value, "+") {
			return fmt.Errorf("runs the command %s", w.Text)
		}
	}
	return nil
}

// checkSyntaxOnly accepts interpreters that print their version or only parse a program.
func checkSyntaxOnly(a *parsedArgs) error {
	for _, w := range a.operands {
		if strings.HasPrefix(w.Value, "+") { // + unsets a shell option
			return fmt.Errorf("may run a program with %s", w.Value)
		}
	}
	if a.has("--version", "-v") && len(a.operands) == 0 {
		return checkVersion(a)
	}
	if !a.has("--version", "-v") && a.has("-n", "-l", "-c", "--check") && len(a.operands) > 0 {
		return nil
	}
	return errors.New("runs a program")
}

// checkResponse rejects words that name a file with more words in it.
func checkResponse(a *parsedArgs) error {
	for _, w := range a.words {
		if strings.HasPrefix(w.Value, "@") {
			return fmt.Errorf("takes more arguments from %s", w.Text)
		}
	}
	return nil
}

// checkTest rejects operands that are evaluated, which executes the substitutions in them.
func checkTest(a *parsedArgs) error {
	for i, w := range a.words {
		switch {
		case strings.Contains(w.Value, "[") && strings.ContainsAny(w.Value, "$`"):
			return errors.New("may evaluate " + w.Text)
		case i > 0 && (a.words[i-1].Value == "-v" || a.words[i-1].Value == "-R") && !syntax.ValidName(w.Value):
			return errors.New("evaluates " + w.Text)
		}
	}
	return nil
}

func checkHash(a *parsedArgs) error {
	if len(a.operands) > 0 && !a.has("-t") {
		return errors.New("may change the table of commands without -t")
	}
	return nil
}

// checkSet accepts options that do not change the meaning of a line's words.
func checkSet(a *parsedArgs) error {
	if len(a.words) == 0 {
		return errors.New("shows all variables")
	}
	for i := 0; i < len(a.words); i++ {
		v := a.words[i].Value
		switch {
		case v == "--" || v == "-":
			return nil
		case len(v) < 2 || v[0] != '-' && v[0] != '+':
			return nil // positional parameters
		case strings.Trim(v[1:], "efhuxvCEobn") != "":
			return fmt.Errorf("has the option %s, which adze doesn't know", v)
		case !strings.Contains(v, "o"):
			continue
		}
		if i++; i >= len(a.words) {
			return errors.New("shows all options")
		}
		switch a.words[i].Value {
		case "pipefail", "errexit", "nounset", "xtrace", "noglob", "verbose", "errtrace", "noclobber", "noexec":
		default:
			return fmt.Errorf("has the option %s, which adze doesn't know", a.words[i].Text)
		}
	}
	return nil
}

func checkShopt(a *parsedArgs) error {
	for _, w := range a.operands {
		switch w.Value {
		case "globstar", "nullglob", "extglob", "dotglob", "nocaseglob", "nocasematch", "failglob", "globasciiranges", "inherit_errexit":
		default:
			return fmt.Errorf("has the option %s, which adze doesn't know", w.Text)
		}
	}
	return nil
}

// checkGoEnv rejects forms that need a temporary directory: the settings for C.
func checkGoEnv(a *parsedArgs) error {
	if len(a.operands) == 0 {
		return errors.New("needs temporary files unless it is given variable names")
	}
	return nil
}

// checkNames accepts builtins that set the variables they are given.
func checkNames(a *parsedArgs) error {
	for _, w := range a.operands {
		if err := settable(w); err != nil {
			return err
		}
	}
	if a.has("-a") {
		for i, w := range a.words {
			if strings.HasPrefix(w.Value, "-") && strings.HasSuffix(w.Value, "a") && i+1 < len(a.words) {
				return settable(a.words[i+1])
			}
		}
	}
	return nil
}

func checkGetopts(a *parsedArgs) error {
	if len(a.operands) < 2 {
		return errors.New("lacks a variable name")
	}
	return settable(a.operands[1])
}

// settable returns an error if w is not the name of a variable that may be set.
func settable(w Word) error {
	if !w.Static || !syntax.ValidName(w.Value) {
		return fmt.Errorf("sets the variable %s, which adze doesn't know", w.Text)
	}
	if special(w.Value) {
		return fmt.Errorf("sets %s", w.Value)
	}
	return nil
}

// special reports whether a variable has a meaning to the shell, or is exported to programs.
func special(name string) bool {
	for _, prefix := range []string{"BASH", "LD_", "DYLD_", "GIT_", "HIST", "COMP_", "READLINE_", "ADZE_", "PS"} {
		if strings.HasPrefix(name, prefix) && (prefix != "PS" || len(name) == 3 && digits(name[2:])) {
			return true
		}
	}
	return specialNames(name)
}

var specialNames = setOf(`PATH HOME PWD OLDPWD USER LOGNAME SHELL TERM TMPDIR CDPATH ENV EXECIGNORE FIGNORE FCEDIT FUNCNEST FUNCNAME GLOBIGNORE GLOBSORT
	INPUTRC LOCPATH NLSPATH GCONV_PATH TERMINFO TERMINFO_DIRS MAIL MAILPATH MAILCHECK OPTERR POSIXLY_CORRECT PROMPT_COMMAND PROMPT_DIRTRIM SHELLOPTS SHLVL
	TMOUT DIRSTACK EUID UID PPID HOSTFILE IGNOREEOF COPROC GREP_OPTIONS TAR_OPTIONS GZIP XZ_OPT LESSOPEN LESSCLOSE RIPGREP_CONFIG_PATH JQ_COLORS
	NODE_OPTIONS PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS OPENSSL_CONF GLIBC_TUNABLES MALLOC_TRACE`)
