package bash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/text/latin"
)

// Limits on the files given to sed for a preview.
const (
	maxSedFile  = 8 << 20
	maxSedBytes = 64 << 20
	maxSedFiles = 1000
	sedTimeout  = 2 * time.Second
	// sedLimits limits sed's processor time, memory and files as far as the system can: a
	// script may loop and grow before anyone has approved it.
	sedLimits = `ulimit -t 2; ulimit -v 1048576 2>/dev/null; ulimit -f 131072; exec "$@"`
)

// A sedLine is the command line of a sed that edits files in place without backups.
type sedLine struct {
	options []string // including values and scripts
	files   []string
}

// parseSed parses the arguments of sed, without its name, like GNU sed. It returns false for
// anything other than an in-place edit of named files by scripts on the command line.
func parseSed(args []string) (*sedLine, bool) {
	s, operands, inPlace, scripted := &sedLine{}, []string(nil), false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		// value returns an option's value: the rest of its word, or the next word.
		value := func(rest string) (string, bool) {
			if rest == "" {
				if i++; i == len(args) {
					return "", false
				}
				rest = args[i]
			}
			return rest, true
		}
		name, rest, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case arg == "--in-place":
			inPlace = true
		case slices.Contains([]string{"--quiet", "--silent", "--regexp-extended", "--separate", "--unbuffered", "--null-data", "--zero-terminated", "--posix"}, arg):
			s.options = append(s.options, arg)
		case name == "--expression":
			script, ok := rest, joined
			if !joined {
				script, ok = value("")
			}
			if !ok {
				return nil, false
			}
			s.options, scripted = append(s.options, "-e", script), true
		case strings.HasPrefix(arg, "--") || arg == "-":
			return nil, false
		case strings.HasPrefix(arg, "-"):
			for j := 1; j < len(arg); j++ {
				switch arg[j] {
				case 'n', 'E', 'r', 's', 'u', 'z':
					s.options = append(s.options, "-"+arg[j:j+1])
					continue
				case 'i':
					if j+1 < len(arg) { // a backup suffix follows
						return nil, false
					}
					inPlace = true
					continue
				case 'e':
					script, ok := value(arg[j+1:])
					if !ok {
						return nil, false
					}
					s.options, scripted = append(s.options, "-e", script), true
				case 'l':
					length, ok := value(arg[j+1:])
					if _, err := strconv.Atoi(length); !ok || err != nil {
						return nil, false
					}
					s.options = append(s.options, "-l", length)
				default:
					return nil, false
				}
				break // the value was the rest
			}
		default:
			operands = append(operands, arg)
		}
	}
	if !scripted && len(operands) > 0 {
		s.options, operands = append(s.options, "-e", operands[0]), operands[1:]
	}
	s.files = operands
	ok := inPlace && len(s.files) > 0 && len(s.files) <= maxSedFiles && !slices.Contains(s.files, "") && !slices.Contains(s.files, "-")
	return s, ok
}

var errNotSed = errors.New("the output of sed is unknown")

// run returns the result of sed on its files' contents. The program itself edits copies, in
// sandbox mode, where it cannot run, read or write anything else. Only GNU sed has that mode;
// any other sed rejects it, as GNU sed does for scripts that do more than edit.
func (s *sedLine) run(ctx context.Context, c *call, contents [][]byte) ([][]byte, error) {
	shell, err := c.config.find()
	if err != nil {
		return nil, err
	}
	program, env, err := c.sedProgram()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "adze-sed-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // ok: nothing depends on it
	args := slices.Concat([]string{"-c", sedLimits, "sh", program, "--sandbox", "-i"}, s.options, []string{"--"})
	copies := make([]string, len(s.files))
	for i, name := range s.files {
		// A relative path keeps its name, because a script can print it.
		if !filepath.IsLocal(name) {
			name = filepath.Join(dir, strconv.Itoa(i), filepath.Base(name))
		}
		args = append(args, name)
		if copies[i] = name; !filepath.IsAbs(name) {
			copies[i] = filepath.Join(dir, "work", name)
		}
		if err := fsys.MkdirPrivate(filepath.Dir(copies[i])); err != nil {
			return nil, err
		}
		if err := os.WriteFile(copies[i], contents[i], 0o600); err != nil {
			return nil, err
		}
	}
	work := filepath.Join(dir, "work")
	if err := fsys.MkdirPrivate(work); err != nil {
		return nil, err
	}
	var printed bytes.Buffer
	exit, err := c.config.Runner.Run(ctx, osproc.Cmd{
		Path: shell.Path, Args: args, Dir: work, Env: env, Output: &printed, Timeout: sedTimeout, NoCore: true,
	})
	switch {
	case err != nil:
		return nil, err
	case exit.Code != 0 || printed.Len() > 0:
		return nil, fmt.Errorf("%w: %.200s", errNotSed, strings.ToValidUTF8(printed.String(), "?"))
	}
	made := make([][]byte, len(copies))
	for i, name := range copies {
		if made[i], err = os.ReadFile(name); err != nil {
			return nil, err
		}
		// The script printed the path of the copy instead of the absolute path.
		if bytes.Contains(made[i], []byte(filepath.Base(dir))) || !editable(made[i]) {
			return nil, errNotSed
		}
	}
	return made, nil
}

// sedProgram returns the sed that the command would run, and its environment. A sed in a
// working directory is not run before the user has agreed.
func (c *call) sedProgram() (path string, env []string, err error) {
	all := c.config.Env()
	roots := []string{c.here.Path}
	if c.config.Roots != nil {
		roots = append(roots, c.config.Roots()...)
	}
	env = c.config.readOnlyEnv(all, roots)
	if path, err = lookPath("sed", env); err != nil {
		return "", nil, err
	}
	if other, err := lookPath("sed", all); err != nil || !sameFile(other, path) || lookup(all)("POSIXLY_CORRECT") != "" {
		return "", nil, errNotSed
	}
	return path, env, nil
}

// editable reports whether content is text that can be shown and edited.
func editable(data []byte) bool {
	return len(data) <= 2*maxSedFile && bytes.IndexByte(data, 0) < 0 && (utf8.Valid(data) || latin.Is(data))
}
