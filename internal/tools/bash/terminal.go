package bash

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/shell"
)

// Commands have no terminal. Most programs that need one print an error and exit, or find no
// input and exit silently; the result then explains why to the model. Some wait forever: those
// are not started.

// waits returns the program in a line that would wait for a user at a terminal, and an
// alternative, or "".
func waits(s *shell.Script) (program, instead string) {
	if !s.Simple || strings.Contains(s.Source, "|") {
		return "", "" // piped input may suffice
	}
	for _, part := range s.Parts {
		name, args := called(part)
		fed := slices.ContainsFunc(part.Redirects, func(r shell.Redirect) bool { return strings.HasPrefix(r.Op, "<") })
		if fed || slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "--version" }) {
			continue
		}
		what := ""
		switch name {
		case "vi", "vim", "nvim", "view", "vimdiff", "emacs":
			if !slices.ContainsFunc(args, scripted) {
				what = "use Read to look at a file, and Edit or Write to change it"
			}
		case "nano", "pico", "micro", "joe", "hx", "helix":
			what = "use Read to look at a file, and Edit or Write to change it"
		case "htop", "btop", "nvtop":
			what = "use ps, or top -b -n 1"
		case "watch":
			what = "run the command that is to be watched, once"
		}
		if what != "" {
			return name, what
		}
	}
	return "", ""
}

// Interactive returns the program in a command line that would wait for a user at a terminal, or "".
func Interactive(line string) string {
	program, _ := waits(shell.Parse(line, shell.Vars{}))
	return program
}

// scripted reports whether an argument gives an editor commands, so that it needs no user.
func scripted(arg string) bool {
	return strings.HasPrefix(arg, "+") || strings.HasPrefix(arg, "--cmd") || strings.HasPrefix(arg, "--eval") ||
		slices.Contains([]string{"-c", "-S", "-s", "-e", "-E", "-es", "-Es", "--headless", "-batch", "--batch", "--script", "-l", "-W"}, arg)
}

// missed returns advice for the model if a finished line failed or printed nothing for lack of
// a terminal, or "".
func missed(s *shell.Script) string {
	for _, part := range s.Parts {
		name, args := called(part)
		plain := !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") || arg == "-c" || arg == "-e" })
		switch name {
		case "python", "python3", "node", "irb", "lua", "bash", "sh", "zsh", "bc", "sqlite3", "psql", "mysql":
			if plain && len(part.Redirects) == 0 && !strings.Contains(s.Source, "|") {
				return name + " found nothing to run: its input is empty. Give it a file, or the code as an argument."
			}
		case "top":
			return "top needs a terminal, which commands do not have: use top -b -n 1."
		case "tmux", "screen":
			return name + " needs a terminal, which commands do not have. Use run_in_background for long-running commands."
		case "ssh":
			if len(args) < 2 {
				return "ssh has no terminal: give it the command to run there as an argument."
			}
		case "git":
			if advice := gitAdvice(args); advice != "" {
				return advice
			}
		}
	}
	return ""
}

// gitAdvice returns how to avoid the editor or the prompts of a git command.
func gitAdvice(args []string) string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(names, arg) })
	}
	switch {
	case has("rebase") && has("-i", "--interactive"):
		return "git rebase -i needs an editor, but commands have no terminal: set GIT_SEQUENCE_EDITOR to a command that edits the list, or use cherry-pick and reset."
	case has("add", "checkout", "restore", "reset", "stash", "commit") && has("-p", "--patch", "-i", "--interactive"):
		return "git prompts for each change, but commands have no terminal: name the files, or make a patch and use git apply --cached."
	case has("commit") && !slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "-m") || strings.HasPrefix(arg, "--message") || strings.HasPrefix(arg, "-F") || strings.HasPrefix(arg, "--file") || strings.HasPrefix(arg, "-am") || arg == "--no-edit" || strings.HasPrefix(arg, "-C")
	}):
		return "git commit opens an editor for the message, but commands have no terminal: use -m, or --no-edit."
	}
	return ""
}

// called returns the name and the arguments of a part's program.
func called(part *shell.Part) (name string, args []string) {
	if len(part.Words) == 0 {
		return "", nil
	}
	for _, w := range part.Words[1:] {
		args = append(args, w.Value)
	}
	return filepath.Base(part.Words[0].Value), args
}

// noEditor replaces editors that would wait for a user. No such program exists, so the name
// appears in the error message.
const noEditor = "there-is-no-terminal-for-an-editor"

// quietEditors returns env with terminal editors replaced by noEditor. Other editors have their
// own windows.
func quietEditors(env []string) []string {
	out := slices.Clone(env)
	for i, entry := range out {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR":
		default:
			continue
		}
		program, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		switch filepath.Base(program) {
		case "vi", "vim", "nvim", "nano", "pico", "micro", "emacs", "joe", "hx", "helix", "ed":
			out[i] = name + "=" + noEditor
		}
	}
	return out
}
