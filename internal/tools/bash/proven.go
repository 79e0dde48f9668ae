package bash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
)

// Exit codes as shells have them.
const (
	notRun   = 126
	notFound = 127
)

// A proven is a small shell that can run nothing but what the proof of read-only admits: commands
// joined by && || ; and |, in groups, with redirections that write no file. Whatever else it meets it
// does not run.
type readOnlyShell struct {
	ctx                   context.Context
	dir                   string
	env, gitEnv           []string
	stdin, stdout, stderr *os.File
	// check says why a path, which is absolute, must not be read although the line was let pass.
	check func(path string) error
}

func (p *readOnlyShell) stmts(list []*syntax.Stmt) (code int) {
	for _, st := range list {
		if p.ctx.Err() != nil {
			return notRun
		}
		code = p.stmt(st)
	}
	return code
}

func (p *readOnlyShell) stmt(st *syntax.Stmt) int {
	if st.Background || st.Coprocess || st.Disown {
		return p.refuse(errors.New("it does not wait for a command"))
	}
	inner, closeFiles, err := p.redirected(st.Redirs)
	defer closeFiles()
	if err != nil {
		return p.fail(1, err)
	}
	code := inner.command(st.Cmd)
	p.dir = inner.dir
	if st.Negated {
		if code == 0 {
			return 1
		}
		return 0
	}
	return code
}

func (p *readOnlyShell) command(cmd syntax.Command) int {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return p.call(c)
	case *syntax.Block:
		return p.stmts(c.Stmts)
	case *syntax.Subshell:
		inner := *p
		return inner.stmts(c.Stmts)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			if code := p.stmt(c.X); code != 0 {
				return code
			}
			return p.stmt(c.Y)
		case syntax.OrStmt:
			if code := p.stmt(c.X); code == 0 {
				return code
			}
			return p.stmt(c.Y)
		case syntax.Pipe:
			return p.pipe(c.X, c.Y)
		}
	}
	return p.refuse(errors.New("it holds what is not proven"))
}

// pipe runs both sides at once, each in a shell of its own.
func (p *readOnlyShell) pipe(x, y *syntax.Stmt) int {
	read, write, err := os.Pipe()
	if err != nil {
		return p.fail(1, err)
	}
	left, right := *p, *p
	left.stdout, right.stdin = write, read
	done := make(chan struct{})
	go func() {
		defer close(done)
		left.stmt(x)
		write.Close() // ok: that is how the other side learns of the end
	}()
	code := right.stmt(y)
	read.Close() // ok: that is how the other side learns that its output is not read
	<-done
	return code
}

// redirected returns p with its streams as the redirections have them.
func (p *readOnlyShell) redirected(list []*syntax.Redirect) (inner *readOnlyShell, closeFiles func(), err error) {
	copied := *p
	inner = &copied
	var opened []*os.File
	closeFiles = func() {
		for _, f := range opened {
			f.Close() // ok: nothing was written to it
		}
	}
	for _, rd := range list {
		f, err := p.open(rd, inner)
		if err != nil {
			return inner, closeFiles, err
		}
		if f != nil && f != inner.stdout && f != inner.stderr && f != inner.stdin {
			opened = append(opened, f)
		}
		if err := inner.connect(rd, f); err != nil {
			return inner, closeFiles, err
		}
	}
	return inner, closeFiles, nil
}

// open returns the file that a redirection names.
func (p *readOnlyShell) open(rd *syntax.Redirect, inner *readOnlyShell) (*os.File, error) {
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text, err := expand.Document(&expand.Config{}, rd.Hdoc)
		if err != nil {
			return nil, err
		}
		return textFile(text)
	}
	word, err := expand.Literal(&expand.Config{}, rd.Word)
	if err != nil {
		return nil, err
	}
	switch rd.Op {
	case syntax.WordHdoc:
		return textFile(word + "\n")
	case syntax.DplOut, syntax.DplIn:
		switch word {
		case "0":
			return inner.stdin, nil
		case "1":
			return inner.stdout, nil
		case "2":
			return inner.stderr, nil
		case "-":
			return os.OpenFile(os.DevNull, os.O_RDWR, 0)
		}
		return nil, fmt.Errorf("%s: bad file descriptor", word)
	case syntax.RdrIn:
		return p.openInput(word)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		if word == os.DevNull {
			return os.OpenFile(os.DevNull, os.O_RDWR, 0)
		}
	}
	return nil, fmt.Errorf("it would write to %s", word)
}

// absolute returns a path as it is opened. What .. leads to is left to the kernel.
func (p *readOnlyShell) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return p.dir + string(filepath.Separator) + name
}

func (p *readOnlyShell) openInput(name string) (*os.File, error) {
	path := p.absolute(name)
	if err := p.check(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && path != os.DevNull {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: No such file or directory", name)
	}
	return f, err
}

// textFile returns a file with text in it and no name.
func textFile(text string) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		write.WriteString(text) // ok: a command need not read it
		write.Close()           // ok: as above
	}()
	return read, nil
}

// connect makes f the stream that a redirection is about.
func (p *readOnlyShell) connect(rd *syntax.Redirect, f *os.File) error {
	n := ""
	if rd.N != nil {
		n = rd.N.Value
	}
	switch {
	case rd.Op == syntax.RdrAll || rd.Op == syntax.AppAll:
		p.stdout, p.stderr = f, f
	case n == "2":
		p.stderr = f
	case n == "1" || n == "" && (rd.Op == syntax.RdrOut || rd.Op == syntax.AppOut || rd.Op == syntax.RdrClob || rd.Op == syntax.DplOut):
		p.stdout = f
	case n == "0" || n == "":
		p.stdin = f
	default:
		return fmt.Errorf("%s: bad file descriptor", n)
	}
	return nil
}

// call runs a simple command, after another look at its words.
func (p *readOnlyShell) call(c *syntax.CallExpr) int {
	args, err := p.expand(c.Args)
	if err != nil {
		return p.refuse(err)
	}
	switch args[0] {
	case "cd", "pushd":
		return p.cd(args)
	}
	if err := shell.ReadOnlyCommand(shell.Words(args)); err != nil {
		return p.refuse(err)
	}
	for _, path := range shell.PathsOf(args) {
		if err := p.check(p.absolute(path)); err != nil {
			return p.refuse(err)
		}
	}
	env := p.env
	for _, a := range c.Assigns {
		value, err := expand.Literal(&expand.Config{}, a.Value)
		if err != nil {
			return p.refuse(err)
		}
		env = append(slices.Clip(env), a.Name.Value+"="+value)
	}
	switch args[0] {
	case ":", "true": // as in a shell, no program is started for these
		return 0
	case "false":
		return 1
	case "pwd":
		if len(args) == 1 {
			fmt.Fprintln(p.stdout, p.dir) // ok: the other end may be closed
			return 0
		}
	case "command", "type":
		return p.which(args[1:])
	}
	return p.start(args, env)
}

// expand returns the words of a command. There is nothing left to expand in them but patterns.
func (p *readOnlyShell) expand(words []*syntax.Word) ([]string, error) {
	args, err := expand.Fields(&expand.Config{
		Env:      expand.ListEnviron("PWD=" + p.dir),
		ReadDir2: os.ReadDir,
	}, words...)
	if err == nil && len(args) == 0 {
		err = errors.New("it names no command")
	}
	return args, err
}

func (p *readOnlyShell) cd(args []string) int {
	dir := args[len(args)-1]
	if len(args) == 1 {
		return p.refuse(errors.New("it is not certain where it goes"))
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.dir, dir)
	}
	if err := p.check(dir); err != nil {
		return p.refuse(err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return p.fail(1, fmt.Errorf("cd: %s: No such file or directory", args[len(args)-1]))
	}
	p.dir = filepath.Clean(dir)
	return 0
}

// which says where programs are, as command -v does.
func (p *readOnlyShell) which(args []string) (code int) {
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			continue
		}
		path, err := lookPath(name, p.env)
		if err != nil {
			code = 1
			continue
		}
		fmt.Fprintln(p.stdout, path) // ok: the other end may be closed
	}
	return code
}

// start runs a program of the fixed PATH.
func (p *readOnlyShell) start(args, env []string) int {
	path, err := lookPath(args[0], p.env)
	if err != nil {
		return p.fail(notFound, fmt.Errorf("%s: command not found", args[0]))
	}
	args = gitrepo.Harden(args)
	cmd := exec.CommandContext(p.ctx, path)
	cmd.Args = args // so that it calls itself by the name it was called
	cmd.Dir, cmd.Env = p.dir, slices.Concat(env, p.gitEnv, []string{"PWD=" + p.dir})
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, p.stdout, p.stderr
	finish := osproc.Isolate(cmd, time.Second)
	err = cmd.Run()
	finish()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		if code := failed.ExitCode(); code >= 0 {
			return code
		}
		return 128 // ended by a signal
	case p.ctx.Err() != nil:
		return notRun
	}
	return p.fail(notRun, fmt.Errorf("%s: %v", args[0], err))
}

// refuse says why a command that was proven is not run after all.
func (p *readOnlyShell) refuse(err error) int {
	return p.fail(notRun, fmt.Errorf("not run: %w", err))
}

func (p *readOnlyShell) fail(code int, err error) int {
	fmt.Fprintln(p.stderr, err) // ok: the code says it too
	return code
}
