package shell

import (
	"errors"
	"fmt"
	"strings"
)

// checkGitFormat rejects formats that verify signatures, which runs a program, and submodule
// patches, for which git runs in directories that only the history names.
func checkGitFormat(a *parsedArgs) error {
	for _, o := range a.options {
		if SignsFormat(o.value.Value) {
			return errors.New("checks signatures for its format")
		}
	}
	for _, w := range a.words {
		if value, ok := strings.CutPrefix(w.Value, "--submodule="); ok && value != "log" && value != "short" {
			return errors.New("runs git in submodules")
		}
	}
	return nil
}

// SignsFormat reports whether a git format verifies signatures: %G for commits, also with a
// sign that adds or removes line ends and blanks, and the signature field of references.
func SignsFormat(format string) bool {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if rest := strings.TrimLeft(format[i+1:], "+- "); strings.HasPrefix(rest, "G") {
			return true
		}
		if format[i+1] == '%' {
			i++
		}
	}
	return strings.Contains(format, "%(signature") || strings.Contains(format, "%(*signature")
}

// checkRefs is checkGitFormat for commands that list references, which can be sorted by
// signature.
func checkRefs(a *parsedArgs) error {
	for _, o := range a.options {
		if strings.HasPrefix(strings.TrimLeft(o.value.Value, "-*"), "signature") {
			return errors.New("checks signatures")
		}
	}
	return checkGitFormat(a)
}

func checkReflog(a *parsedArgs) error {
	if len(a.operands) > 0 {
		switch sub := a.operands[0].Value; sub {
		case "expire", "delete", "drop", "write", "migrate":
			return fmt.Errorf("changes the reflog with %s", sub)
		}
	}
	return checkGitFormat(a)
}

func checkBranch(a *parsedArgs) error {
	if len(a.operands) > 0 && !a.has("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") {
		return errors.New("creates a branch")
	}
	return checkRefs(a)
}

func checkTag(a *parsedArgs) error {
	if len(a.operands) > 0 && !a.has("-l", "--list", "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") {
		return errors.New("creates a tag")
	}
	return checkRefs(a)
}

// checkConfig accepts the forms that show settings. The caller decides which settings may be
// shown.
func checkConfig(a *parsedArgs) error {
	n := len(a.operands)
	switch {
	case a.has("--list", "-l"):
		if n == 0 {
			return nil
		}
	case a.has("--get", "--get-all", "--get-regexp", "--get-urlmatch"):
		if n == 1 || n == 2 {
			return nil
		}
	case n == 1: // a name, or list
		return nil
	case n == 2 && a.operands[0].Value == "get" && !a.operands[0].Glob: // an older git rejects it as a name
		return nil
	}
	return errors.New("may change a setting")
}

func checkSymbolicRef(a *parsedArgs) error {
	if len(a.operands) != 1 {
		return errors.New("changes a reference")
	}
	return nil
}

// checkVar accepts the variables that hold no secret. The pager is excluded because its value
// would apply only to adze.
func checkVar(a *parsedArgs) error {
	if len(a.operands) == 1 {
		switch a.operands[0].Value {
		case "GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_DEFAULT_BRANCH", "GIT_SHELL_PATH":
			return nil
		}
	}
	return errors.New("may show secrets")
}
