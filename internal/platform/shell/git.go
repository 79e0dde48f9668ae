package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// GitEnv returns the environment that makes git ignore the helpers a repository's configuration can
// name: these settings win over those of any file.
func GitEnv() []string {
	settings := []string{
		"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "log.showSignature=false",
		"safe.bareRepository=explicit", "protocol.ext.allow=never", "diff.autoRefreshIndex=false",
		"diff.ignoreSubmodules=dirty", // git would be started in each of them, with its own configuration
	}
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings)),
	}
	for i, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return env
}

// HardenGit returns the arguments of a proven git command with the options that keep its output from
// being made by other programs.
func HardenGit(args []string) []string {
	n := 1
	if len(args) > 2 && args[1] == "--no-pager" {
		n = 2
	}
	if len(args) <= n || args[0] != "git" {
		return args
	}
	switch args[n] {
	case "diff", "log", "show":
		return slices.Concat(args[:n+1], []string{"--no-ext-diff", "--no-textconv"}, args[n+1:])
	}
	return args
}

// CheckGit returns nil if git may be asked about the repository of dir without running anything that
// the repository's own configuration names, and else what stands against it. Settings that [GitEnv]
// overrides do not. The user's own configuration is trusted.
//
// Without a repository there is nothing to fear: git finds the same nothing.
func CheckGit(dir string) error {
	root, dotGit, err := findDotGit(dir)
	if err != nil || root == "" {
		return err
	}
	info, err := os.Lstat(dotGit)
	if err != nil {
		return fmt.Errorf("reading the repository of %s: %w", dir, err)
	}
	common := dotGit
	if info.Mode().IsRegular() {
		if dotGit, common, err = followGitFile(root, dotGit); err != nil {
			return err
		}
	} else if !info.IsDir() {
		return fmt.Errorf("%s is a link", dotGit)
	}
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(dotGit, "config.worktree")} {
		if err := checkGitConfig(file); err != nil {
			return err
		}
	}
	return nil
}

// findDotGit returns the work tree that dir is in and its .git, which is a directory or a file.
func findDotGit(dir string) (root, dotGit string, err error) {
	for root = filepath.Clean(dir); ; {
		dotGit = filepath.Join(root, ".git")
		if _, err := os.Lstat(dotGit); err == nil {
			return root, dotGit, nil
		}
		if isFile(filepath.Join(root, "HEAD")) && isDir(filepath.Join(root, "objects")) && isDir(filepath.Join(root, "refs")) {
			return "", "", fmt.Errorf("%s looks like a bare repository", root)
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", "", nil
		}
		root = parent
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// followGitFile returns the directory a .git file leads to, and the one that holds the configuration.
// Only a directory that points back is believed: anyone can write a file that names another's.
func followGitFile(root, dotGit string) (gitDir, common string, err error) {
	target, err := readLine(dotGit, "gitdir: ")
	if err != nil {
		return "", "", err
	}
	gitDir = resolveFrom(root, target)
	if back, err := readLine(filepath.Join(gitDir, "gitdir"), ""); err == nil {
		if !sameFile(resolveFrom(gitDir, back), dotGit) {
			return "", "", fmt.Errorf("%s does not belong to %s", gitDir, root)
		}
		common = gitDir
		if rel, err := readLine(filepath.Join(gitDir, "commondir"), ""); err == nil {
			common = resolveFrom(gitDir, rel)
		}
		return gitDir, common, nil
	}
	// A submodule: its directory says where its work tree is.
	worktree := ""
	err = eachSetting(filepath.Join(gitDir, "config"), func(key, value string) error {
		if key == "core.worktree" {
			worktree = value
		}
		return nil
	})
	if err != nil || worktree == "" || !sameFile(resolveFrom(gitDir, worktree), root) {
		return "", "", fmt.Errorf("%s does not belong to %s", gitDir, root)
	}
	return gitDir, gitDir, nil
}

func resolveFrom(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func readLine(file, prefix string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || strings.Contains(line, "\n") {
		return "", fmt.Errorf("%s is not what git writes", file)
	}
	return line, nil
}

// checkGitConfig returns the first setting of a file that names a program and cannot be overridden.
func checkGitConfig(file string) error {
	err := eachSetting(file, func(key, value string) error {
		section, _, _ := strings.Cut(key, ".")
		name := key[strings.LastIndexByte(key, '.')+1:]
		bad := false
		switch section {
		case "include", "includeif":
			bad = true
		case "filter":
			bad = name == "clean" || name == "smudge" || name == "process"
		case "diff":
			bad = name == "command" || name == "textconv" || name == "external"
		case "merge":
			bad = name == "driver"
		case "gpg":
			bad = name == "program" || name == "defaultkeycommand"
		case "credential":
			bad = name == "helper"
		case "core":
			switch name {
			case "fsmonitor":
				bad = value != "true" && value != "false" && value != ""
			case "sshcommand", "gitproxy", "alternaterefscommand", "askpass":
				bad = true
			}
		}
		if bad {
			return fmt.Errorf("the repository sets %s, which may run a program", key)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachSetting calls f for every setting of a git configuration file, with the section and the name in
// lower case. It reads no more than it needs of the syntax: values keep their quotes.
func eachSetting(file string, f func(key, value string) error) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	section := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		for strings.HasSuffix(line, `\`) && lines.Scan() {
			line = line[:len(line)-1] + lines.Text()
		}
		if strings.HasPrefix(line, "[") {
			end := headerEnd(line)
			if end < 0 {
				return fmt.Errorf("%s has a line that is not understood: %s", file, line)
			}
			section = sectionName(line[1:end])
			line = strings.TrimSpace(line[end+1:])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		if err := f(section+"."+strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return lines.Err()
}

// headerEnd returns where the bracket of a section header closes.
func headerEnd(line string) int {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ']':
			if !quoted {
				return i
			}
		}
	}
	return -1
}

func sectionName(header string) string {
	name, sub, ok := strings.Cut(header, `"`)
	name = strings.ToLower(strings.TrimSpace(name))
	if !ok {
		return name
	}
	return name + "." + strings.TrimSuffix(sub, `"`)
}
