package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox/jail"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// A readOnlyRun runs a read-only command: in the shell, or directly if it is a plain command, with
// a minimal environment, and in a jail if available.
type readOnlyRun struct {
	line   string
	script *shell.Script
	here   command.Workdir
	config *Config

	outside func() bool // reports whether it runs unsandboxed

	judged pathCheck
	freed  bool // allowed for other reasons; needs no jail

	doubt   error // why the command may not be read-only, or nil
	jailed  bool
	needs   shell.Needs
	git     *gitUses
	env     []string
	shell   string   // never from the project
	execute []string // files to execute
}

// newReading determines whether a call's command is read-only, and its requirements.
func newReading(c *call) *readOnlyRun {
	r := &readOnlyRun{line: c.in.Command, script: c.script, here: c.here, config: &c.config, outside: c.outside, jailed: c.config.jailed() == nil}
	if r.jailed {
		r.needs, r.doubt = r.script.Jailed()
	} else {
		r.doubt = r.script.ReadOnly()
		r.needs.Git = r.script.GitUses()
	}
	if r.doubt == nil {
		r.git = c.git(r.needs.Git)
		r.doubt = r.git.doubt(r.jailed)
	}
	if r.doubt == nil && !(r.jailed && !r.needs.Scripted && r.config.known.hold(r.needs.Programs)) {
		r.doubt = r.prepare()
	}
	return r
}

// prepare determines the environment and the programs of the command.
func (r *readOnlyRun) prepare() error {
	places := append(r.roots(), r.here.Path)
	r.env, r.execute = r.config.readOnlyEnv(r.config.Env(), places), nil
	return r.findPrograms(places)
}

// roots returns the working directories.
func (r *readOnlyRun) roots() []string {
	if r.config.Roots == nil {
		return []string{r.here.Path}
	}
	return slices.Clone(r.config.Roots())
}

// findPrograms finds the shell and the files that the command executes. None of them may be in
// any of places, even through a symlink. A missing program is reported by the shell.
func (r *readOnlyRun) findPrograms(places []string) error {
	dirs := filepath.SplitList(lookup(r.env)("PATH"))
	if !r.jailed {
		own, err := r.config.find()
		if r.shell = own.Path; err == nil && slices.ContainsFunc(r.roots(), func(root string) bool { return within(own.Path, root) }) {
			err = fmt.Errorf("%s belongs to the project", own.Path)
		}
		for name := range r.script.Programs() {
			path, missing := lookPath(name, r.env)
			if missing != nil {
				continue
			}
			if real, bad := filepath.EvalSymlinks(path); bad != nil || r.config.path.ofProject([]string{real}, places) {
				err = fmt.Errorf("%s belongs to the project", path)
			}
		}
		return err
	}
	names := append([]string{r.config.dialect().String()}, r.needs.Programs...)
	for _, v := range r.git.found {
		names = append(names, v.Executes()...)
	}
	found := make(map[string]string)
	for i, name := range names {
		p, err := r.config.finder.Find(name, dirs)
		switch {
		case i > 0 && errors.Is(err, exec.ErrNotFound):
			continue
		case err != nil:
			return fmt.Errorf("finding the interpreter of %s: %w", name, err)
		case r.config.path.ofProject(p.Files, places):
			return fmt.Errorf("%s belongs to the project", p.Path)
		case p.Script && !ofSystem(p.Files[0]):
			return fmt.Errorf("%s is a script, which may run anything", p.Path)
		case i == 0:
			r.shell = p.Path
		}
		r.execute = append(r.execute, p.Files...)
		found[name] = p.Path
	}
	r.config.known.keep(lookup(r.env)("PATH"), found)
	if !r.needs.Scripted {
		return nil
	}
	// In the jail sh cannot be executed, unless it is the line's shell or among its programs.
	sh, err := r.config.finder.Find("/bin/sh", nil)
	if err == nil && slices.ContainsFunc(sh.Files[:1], func(file string) bool { return slices.Contains(r.execute, file) }) {
		return errors.New("a script that is known only at run time may start sh")
	}
	return nil
}

// ofSystem reports whether a file, with symlinks resolved, belongs to the system.
func ofSystem(path string) bool {
	return slices.ContainsFunc(jail.System(), func(place string) bool { return within(path, place) })
}

// run runs a read-only command. The returned directory is where it ended.
func (r *readOnlyRun) run(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, dir string, err error) {
	if !r.jailed {
		if err := r.judged.check(r.config.MayRead); err != nil {
			return osproc.Exit{}, "", err
		}
	}
	r.git.look() // repositories and programs may have changed since the check
	if err = r.git.doubt(r.jailed); err == nil {
		err = r.prepare()
	}
	if err != nil {
		return osproc.Exit{}, "", fmt.Errorf("not run: %w", err)
	}
	cmd := osproc.Cmd{
		Dir: r.here.Path, Env: slices.Concat(r.env, r.git.env(r.jailed), []string{"PWD=" + r.here.Path}),
		Output: out, Timeout: limit, NoCore: true,
	}
	r.addProgram(&cmd)
	if !r.reports() {
		exit, err = r.start(ctx, cmd)
		return exit, r.here.Path, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return osproc.Exit{}, "", err
	}
	defer read.Close() // ok: only read
	cmd.Files = make([]*os.File, reportFD-firstFD+1)
	cmd.Files[reportFD-firstFD] = write
	exit, err = r.start(ctx, cmd)
	write.Close() // ok: ends the reader
	// Any remaining process has been signaled to end.
	read.SetReadDeadline(time.Now().Add(time.Second)) // ok: pipes have deadlines
	ended, readErr := io.ReadAll(io.LimitReader(read, maxReport))
	if readErr == nil {
		dir = strings.TrimSuffix(string(ended), "\n")
	}
	return exit, dir, err
}

// File descriptors of the shell: the first after the standard ones, and the one for reporting
// the final directory. A sandbox uses descriptors in between.
const (
	firstFD  = 3
	reportFD = 9
)

// stopped returns an explanation of the jail if it seems to have blocked the command.
func (r *readOnlyRun) stopped(exit osproc.Exit, printed string) string {
	if exit.Code == 0 || !r.inJail() || !strings.Contains(printed, "Permission denied") && !strings.Contains(printed, "Operation not permitted") {
		return ""
	}
	return "The command ran without a prompt, so it could only read, and only in the working directories. If it needs more access, spell out the paths it uses; adze then asks the user."
}

// inJail reports whether the command runs in a jail: it was checked, and allowed because it is
// read-only.
func (r *readOnlyRun) inJail() bool { return r.doubt == nil && r.jailed && r.judged.done && !r.freed }

// reports reports whether the command's final directory is needed.
func (r *readOnlyRun) reports() bool { return r.script.ChangesDir() && r.here.Lasts() }

// start runs the program in the jail, and in the sandbox around it if there is one.
func (r *readOnlyRun) start(ctx context.Context, cmd osproc.Cmd) (osproc.Exit, error) {
	if !r.judged.done || r.outside() {
		if r.inJail() { // unchecked commands were typed by the user
			cmd.Start = r.policy().Start
		}
		return r.config.Runner.Run(ctx, cmd)
	}
	cmd, end, err := r.config.Sandbox.Read(cmd, r.policy())
	if err != nil {
		return osproc.Exit{}, err
	}
	defer end()
	return r.config.Runner.Run(ctx, cmd)
}

// addProgram sets the program to run: the plain command, or the shell.
func (r *readOnlyRun) addProgram(cmd *osproc.Cmd) {
	if words := r.script.Plain(); words != nil && r.outside() {
		if path, err := lookPath(words[0], r.env); err == nil {
			if !r.jailed || r.git.plain() {
				words = gitrepo.Harden(words)
			}
			cmd.Path, cmd.Name, cmd.Args = path, words[0], words[1:]
			return
		}
	}
	line := r.line
	if r.git.plain() && r.config.dialect() == shell.Bash {
		line = plainGit + line
	}
	if r.reports() {
		// On one line, so that the shell numbers the command's lines from 1.
		line = "exec 200>&9 9>&-; trap 'pwd -P >&200' EXIT; eval " + quote(" "+line)
	}
	cmd.Path, cmd.Name, cmd.Args = r.shell, r.config.dialect().String(), []string{"-c", line}
}

// policy returns the jail policy of a command: it may read the working directories and the
// paths that were checked.
func (r *readOnlyRun) policy() *jail.Policy {
	p := &jail.Policy{Read: r.roots(), Execute: r.execute, Processes: r.needs.Processes, Network: r.needs.Network}
	if r.config.Hidden != nil {
		p.Hidden = r.config.Hidden()
	}
	for _, v := range r.git.found {
		p.Read = append(p.Read, v.Reads()...)
	}
	for _, j := range r.judged.paths {
		switch {
		case j.Real == "":
		case j.Names:
			p.List = append(p.List, j.Real)
		default:
			p.Real = append(p.Real, j.Real)
		}
	}
	return p
}

// A pathCheck holds the targets of a command's paths at the time of the check.
type pathCheck struct {
	done  bool
	paths []tool.JudgedPath
}

func (j *pathCheck) set(paths []tool.JudgedPath) { j.done, j.paths = true, paths }

// check returns an error if the command must not run where only the earlier check limits its
// reads: a path now leads elsewhere, to a file that may not be read without a prompt.
func (j *pathCheck) check(mayRead func(path string) bool) error {
	for _, p := range j.paths {
		real, err := filepath.EvalSymlinks(p.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("not run: where %s leads cannot be found out: %w", p.Path, err)
		case !slices.Contains(p.Leads, real) && !(mayRead != nil && mayRead(real)):
			return fmt.Errorf("not run: %s leads to %s, which it did not when the command was let pass", p.Path, real)
		}
	}
	return nil
}
