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

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/jail"
	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// A reading is how a command is run that only reads: by the shell, or without one if it is a plain command,
// with an environment that says little, and in a jail where there are jails.
type reading struct {
	line   string
	script *shell.Script
	here   command.Workdir
	config *Config

	outside func() bool // it runs without a sandbox

	judged judgement
	freed  bool // it is allowed for other reasons, and needs no jail

	doubt   error // why the command is not known to only read, or nil
	jailed  bool
	needs   shell.Needs
	git     *gitUses
	env     []string
	shell   string   // the shell; not one of the project's
	execute []string // the files that are executed
}

// newReading finds out whether the command of a call only reads, and what it needs for that.
func newReading(c *call) *reading {
	r := &reading{line: c.in.Command, script: c.script, here: c.here, config: &c.config, outside: c.outside, jailed: c.config.jailed() == nil}
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

// prepare finds the environment and the programs of the command.
func (r *reading) prepare() error {
	places := append(r.roots(), r.here.Path)
	r.env, r.execute = r.config.readOnlyEnv(r.config.Env(), places), nil
	return r.findPrograms(places)
}

// roots returns the working directories.
func (r *reading) roots() []string {
	if r.config.Roots == nil {
		return []string{r.here.Path}
	}
	return slices.Clone(r.config.Roots())
}

// findPrograms finds the shell and the files that are executed for the command; none may lie in one of
// places, to which a link may lead. A program that is not there is the shell's to miss.
func (r *reading) findPrograms(places []string) error {
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
			return fmt.Errorf("what executes %s is not known: %w", name, err)
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
	// In the jail sh cannot be executed, unless it is the shell of the line or one of its programs.
	sh, err := r.config.finder.Find("/bin/sh", nil)
	if err == nil && slices.ContainsFunc(sh.Files[:1], func(file string) bool { return slices.Contains(r.execute, file) }) {
		return errors.New("a script that is known only when it runs may start sh")
	}
	return nil
}

// ofSystem reports whether a file without links belongs to the system.
func ofSystem(path string) bool {
	return slices.ContainsFunc(jail.System(), func(place string) bool { return within(path, place) })
}

// run runs a command that only reads. The directory is where it ended.
func (r *reading) run(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, dir string, err error) {
	if !r.jailed {
		if err := r.judged.check(r.config.MayRead); err != nil {
			return osproc.Exit{}, "", err
		}
	}
	r.git.look() // repositories and programs may have changed since the command was judged
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
	defer read.Close() // ok: it was only read
	cmd.Files = make([]*os.File, reportFD-firstFD+1)
	cmd.Files[reportFD-firstFD] = write
	exit, err = r.start(ctx, cmd)
	write.Close() // ok: that ends what is read
	// Nothing that was started is left but what was told to end.
	read.SetReadDeadline(time.Now().Add(time.Second)) // ok: pipes have deadlines
	ended, readErr := io.ReadAll(io.LimitReader(read, maxReport))
	if readErr == nil {
		dir = strings.TrimSuffix(string(ended), "\n")
	}
	return exit, dir, err
}

// Descriptors of the shell: the first after the standard ones, and the one on which it says where it ended. A
// sandbox has its own in between.
const (
	firstFD  = 3
	reportFD = 9
)

// stopped says what the jail is, if the command seems to have met its walls.
func (r *reading) stopped(exit osproc.Exit, printed string) string {
	if exit.Code == 0 || !r.inJail() || !strings.Contains(printed, "Permission denied") && !strings.Contains(printed, "Operation not permitted") {
		return ""
	}
	return "The command ran without the user being asked, so that it could only read, and only in the working directories. If it needs more, write out what it touches: the user is asked then."
}

// inJail reports whether the command runs in a jail: it is judged, and allowed because it only reads.
func (r *reading) inJail() bool { return r.doubt == nil && r.jailed && r.judged.done && !r.freed }

// reports reports whether it matters where the command ends.
func (r *reading) reports() bool { return r.script.ChangesDir() && r.here.Lasts() }

// start runs the program: in the jail, and in the sandbox around it if there is one.
func (r *reading) start(ctx context.Context, cmd osproc.Cmd) (osproc.Exit, error) {
	if !r.judged.done || r.outside() {
		if r.inJail() { // what was not judged the user typed
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

// addProgram sets the program to run: that of a plain command, or the shell.
func (r *reading) addProgram(cmd *osproc.Cmd) {
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
		// In one line, so that the shell numbers those of the command from 1.
		line = "exec 200>&9 9>&-; trap 'pwd -P >&200' EXIT; eval " + quote(" "+line)
	}
	cmd.Path, cmd.Name, cmd.Args = r.shell, r.config.dialect().String(), []string{"-c", line}
}

// policy returns the jail of a command: it reads in the working directories, and what else it was
// judged by.
func (r *reading) policy() *jail.Policy {
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

// A judgement is what the paths of a command led to when it was judged.
type judgement struct {
	done  bool
	paths []tool.JudgedPath
}

func (j *judgement) set(paths []tool.JudgedPath) { j.done, j.paths = true, paths }

// check says why the command must not be run where nothing but the judgement keeps it from reading
// elsewhere: one of its paths leads elsewhere by now, and may not be read unasked there.
func (j *judgement) check(mayRead func(path string) bool) error {
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
