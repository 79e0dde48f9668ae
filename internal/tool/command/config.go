package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Config configures a command tool. Only Dir is required.
type Config struct {
	// Dir returns the working directory, absolute. It is called once per call, when the call is
	// bound.
	Dir func() string
	// SetDir is called with the directory in which a command ended, and returns the directory
	// for the next one, which differs if that one is not allowed. An empty dir means that the
	// current one is gone. If nil, a change of directory does not persist.
	SetDir func(dir string) string
	// Runner runs the commands; its owner closes it when the session ends. Nil means a new
	// runner.
	Runner *osproc.Runner
	// Env returns a command's environment; nil means the process's own without variables that
	// no program may inherit.
	Env func() []string
	// Missing returns a note about an ended command that may have needed a withheld variable,
	// or "". Programs holds the programs known to run. May be nil.
	Missing func(line string, programs []string, failed bool) string
	// TempDir is for files that a command leaves for adze, and for output if Tasks is nil;
	// empty means the system's.
	TempDir string
	// MaxChars limits the output the model reads; 0 means [DefaultMaxChars].
	MaxChars    int
	Attribution Attribution
	// NoRepository omits the rules about git.
	NoRepository bool
	Limits
}

// Attribution holds the lines the model appends to texts for git. Empty texts add nothing.
type Attribution struct{ Commit, PullRequest string }

// Fill sets defaults for zero fields.
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

// Traits returns the tool's traits.
func (c *Config) Traits(hint string, enabled func() error) tool.Traits {
	return tool.Traits{
		Core: true, Background: true,
		Served:    &tool.Annotations{},
		Params:    tool.Params{Commands: []string{"command"}, Texts: []string{"description"}},
		Hint:      hint,
		MaxChars:  c.MaxChars,
		KeepTail:  true,
		Clearable: true,
		Shell:     true,
		Output:    json.RawMessage(OutputSchema()),
		Redisplay: redisplay,
		Enabled:   enabled,
	}
}

// Describe returns the tool description: the text "doc" of the tool's own texts, filled with
// the kind of tool, how commands are run, the time limits, the output size, and more.
// [Config.GitText] belongs at its end.
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

// GitText returns the instructions for using git, as the last part of a description. Message
// explains how to pass a multi-line message in the shell's language.
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

// Here returns a call's working directory.
func (c *Config) Here() Workdir { return Workdir{Path: c.Dir(), set: c.SetDir} }

// A Workdir is a call's working directory.
type Workdir struct {
	Path string
	set  func(dir string) string // may be nil
}

// Lasts reports whether a change of directory persists after the command.
func (w Workdir) Lasts() bool { return w.set != nil }

// Check returns an error if the directory is gone, and switches to an existing one. Its error
// is for the model.
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

// Arrive makes dir, the directory in which a task's command ended, the next working directory,
// and returns a note about the change. An empty dir means unknown.
func (w Workdir) Arrive(t *task.Task, dir string) string {
	if w.set == nil || dir == "" || dir == w.Path || t.Background() || t.Stopped() {
		return ""
	}
	if now := w.set(dir); !sameDir(now, dir) {
		return fmt.Sprintf("The working directory was reset to %s: %s is outside of where you work.", now, dir)
	}
	return fmt.Sprintf("The working directory is now %s.", dir)
}

// sameDir reports whether two names resolve to the same directory.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return a == b || errX == nil && errY == nil && os.SameFile(x, y)
}
