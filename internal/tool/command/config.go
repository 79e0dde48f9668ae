package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"adze/internal/platform/osproc"
	"adze/internal/platform/task"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

// A Config is what a tool that takes commands needs to know. Only Dir is required.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// SetDir is told where a command ended, and returns where the next one starts: there, or elsewhere
	// if that is no place to be. An empty dir means that the current one is gone. Without it a change of
	// directory does not outlast its command.
	SetDir func(dir string) string
	// Runner runs the commands, and its owner closes it when the session ends; nil means one of its own.
	Runner *osproc.Runner
	// Env returns the environment of a command; nil means our own without what no program may inherit.
	Env func() []string
	// Missing returns a note about a command that has ended and may have needed a variable that it did not get,
	// or "". Programs are those that the command runs, as far as they are known. May be nil.
	Missing func(line string, programs []string, failed bool) string
	// TempDir is for what a command leaves for us, and for output if there are no Tasks; empty means the
	// system's.
	TempDir string
	// MaxChars bounds what the model reads of the output; 0 means [DefaultMaxChars].
	MaxChars    int
	Attribution Attribution
	// NoRepository omits the rules about git.
	NoRepository bool
	Limits
}

// Attribution is what the model adds at the end of what it writes for git. Empty texts add nothing.
type Attribution struct{ Commit, PullRequest string }

// Fill puts the usual values where there are none.
func (c *Config) Fill() {
	if c.Runner == nil {
		c.Runner = new(osproc.Runner)
	}
	if c.Env == nil {
		c.Env = func() []string { return osproc.ScrubEnv(os.Environ()) }
	}
	if c.Missing == nil {
		c.Missing = func(string, []string, bool) string { return "" }
	}
	if c.MaxChars == 0 {
		c.MaxChars = DefaultMaxChars
	}
	c.background = c.Tasks != nil
	if c.Tasks == nil {
		if c.TempDir == "" {
			c.TempDir = os.TempDir()
		}
		c.Tasks = task.New(c.TempDir, nil)
	}
	c.Limits.fill()
}

// Traits returns the traits of the tool.
func (c *Config) Traits(hint string, enabled func() error) tool.Traits {
	return tool.Traits{
		Params:    tool.Params{Commands: []string{"command"}, Texts: []string{"description"}},
		Hint:      hint,
		MaxChars:  c.MaxChars,
		KeepTail:  true,
		Clearable: true,
		Shell:     true,
		Output:    json.RawMessage(OutputSchema()),
		Enabled:   enabled,
	}
}

// Describe returns what the model is told: the text "doc" of a tool's own texts, whose gaps are what the tool is and
// how commands are run, the line on their time limits, the size of output, and more. [Config.GitText] belongs at its end.
func (c *Config) Describe(l texts.Language, own *texts.Catalogue, what, run string, more ...string) string {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	var limit string
	switch {
	case !c.background:
		limit = catalogue.Text(l, "limit", ms(c.Timeout), ms(c.MaxTimeout))
	case c.Budget > 0 && c.Budget < c.Timeout:
		limit = catalogue.Text(l, "limit.budget", ms(c.MaxTimeout), ms(c.Budget))
	default:
		limit = catalogue.Text(l, "limit.background", ms(c.Timeout), ms(c.MaxTimeout))
	}
	text := own.Text(l, "doc", append([]string{what, run, limit, strconv.Itoa(c.MaxChars)}, more...)...)
	switch {
	case c.background && c.Reported:
		text += "\n" + catalogue.Text(l, "background.reported")
	case c.background && c.Awaited:
		text += "\n" + catalogue.Text(l, "background") + " " + catalogue.Text(l, "awaited")
	case c.background:
		text += "\n" + catalogue.Text(l, "background")
	}
	return text
}

// GitText returns how the model is to use git, as the last part of a description. Message is how a message of more
// than one line is passed in the language of the shell.
func (c *Config) GitText(l texts.Language, message string) string {
	if c.NoRepository {
		return ""
	}
	text := "\n\n" + catalogue.Text(l, "git", message)
	if c.Attribution.Commit != "" {
		text += "\n" + catalogue.Text(l, "git.commit", c.Attribution.Commit)
	}
	if c.Attribution.PullRequest != "" {
		text += "\n" + catalogue.Text(l, "git.pr", c.Attribution.PullRequest)
	}
	return text
}

// Here returns the working directory for one call.
func (c *Config) Here() Workdir { return Workdir{Path: c.Dir(), set: c.SetDir} }

// A Workdir is the working directory of one call.
type Workdir struct {
	Path string
	set  func(dir string) string // may be nil
}

// Lasts reports whether a change of directory outlasts the command.
func (w Workdir) Lasts() bool { return w.set != nil }

// Check refuses to run a command in a directory that is gone, and moves on to one that is not. Its error is
// for the model.
func (w Workdir) Check() error {
	if info, err := os.Stat(w.Path); err == nil && info.IsDir() {
		return nil
	}
	text := "the working directory " + w.Path + " does not exist any more"
	if w.set != nil {
		text += "; it is " + w.set("") + " now, so run the command again if it belongs there"
	}
	return errors.New(text)
}

// Arrive makes dir, where the command of a task ended, the working directory of the next one, and returns a note about the move. An
// empty dir is not known.
func (w Workdir) Arrive(t *task.Task, dir string) string {
	if w.set == nil || dir == "" || dir == w.Path || t.Background() || t.Stopped() {
		return ""
	}
	if now := w.set(dir); !sameDir(now, dir) {
		return fmt.Sprintf("The working directory was reset to %s: %s is outside of where you work.", now, dir)
	}
	return fmt.Sprintf("The working directory is now %s.", dir)
}

// sameDir reports whether two names lead to the same directory.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return a == b || errX == nil && errY == nil && os.SameFile(x, y)
}
