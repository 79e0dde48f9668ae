package replay

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Parse reads a script. Its errors begin with name and line. A script that plays files must be
// loaded from disk; see [Load].
func Parse(name string, src []byte) (*Script, error) {
	return parse(name, src, func(string) ([]byte, error) {
		return nil, errors.New("only a script that was loaded from a file can play files")
	})
}

// Load reads the script in the file path. The files that it plays lie beside it or below.
func Load(path string) (*Script, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading replay script: %w", err)
	}
	return parse(path, src, func(name string) ([]byte, error) {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%q is not beside the script or below it", name)
		}
		return os.ReadFile(filepath.Join(filepath.Dir(path), name))
	})
}

// A parser reads a script line by line.
type parser struct {
	name  string
	lines []string
	line  int // the number of the line that was read last
	read  func(name string) ([]byte, error)

	turns []*turn
	turn  *turn // the one being read, or nil

	// fragments were announced on the line given and wait for their content.
	fragments struct {
		line, pieces int
		every        time.Duration
	}
}

func parse(name string, src []byte, read func(string) ([]byte, error)) (*Script, error) {
	text := strings.TrimSuffix(string(src), "\n")
	p := &parser{name: name, lines: strings.Split(text, "\n"), read: read}
	for {
		line, ok := p.next()
		if !ok {
			break
		}
		line = strings.Trim(line, " \t")
		var err error
		switch {
		case line == "" || line[0] == '#':
		case line == "---":
			err = p.endTurn()
		default:
			err = p.directive(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.endTurn(); err != nil {
		return nil, err
	}
	if len(p.turns) == 0 {
		return nil, p.errorf("the script has no turns: write one, such as \"say Hello.\"")
	}
	return &Script{name: name, end: len(p.lines), turns: p.turns}, nil
}

// next returns the next line. A carriage return at its end is not part of it.
func (p *parser) next() (string, bool) {
	if p.line == len(p.lines) {
		return "", false
	}
	p.line++
	return strings.TrimSuffix(p.lines[p.line-1], "\r"), true
}

func (p *parser) errorf(format string, args ...any) error { return p.errorAt(p.line, format, args...) }

func (p *parser) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}

// directive reads one directive. What follows its word begins after one space: the rest of the blanks
// may matter.
func (p *parser) directive(line string) error {
	if p.turn == nil {
		p.turn = &turn{line: p.line, times: 1, header: http.Header{}}
	}
	word, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		word, rest = line[:i], line[i+1:]
	}
	for _, read := range []func(word, rest string) (bool, error){p.setting, p.fixedAnswer, p.step} {
		if known, err := read(word, rest); known || err != nil {
			return err
		}
	}
	return p.errorf("unknown word %q: expected one of %s", word, words)
}

const words = "say, say+, text, text+, think, think+, use, badjson, block, event, fragments, ping, delay, " +
	"usage, usage+, stop, model, cut, reset, garble, hang, error, error-event, status, html, file, header, " +
	"expect, when, repeat, forever, ---"

// endTurn closes the turn being read. Separators with nothing between them are no turn.
func (p *parser) endTurn() error {
	t := p.turn
	if t == nil {
		return nil
	}
	if p.fragments.line > 0 {
		return p.errorAt(p.fragments.line, "fragments is not followed by text or input in its turn")
	}
	if t.fixed == nil && len(t.steps) == 0 && t.stop == "" {
		return p.errorAt(t.line, "the turn has no answer: write one, or \"stop end_turn\" for an answer without content")
	}
	p.turns = append(p.turns, t)
	p.turn = nil
	return nil
}

// heredoc returns the lines up to the one that is the word after <<, if rest is such an opening. The
// line break before the closing word is not part of the text.
func (p *parser) heredoc(rest string) (text string, ok bool, err error) {
	end, ok := strings.CutPrefix(strings.Trim(rest, " \t"), "<<")
	if !ok || !isName(end) {
		return "", false, nil
	}
	opened := p.line
	for {
		line, more := p.next()
		switch {
		case !more:
			return "", true, p.errorAt(opened, "the text that starts here has no closing line %q", end)
		case line == end:
			return strings.Join(trimReturns(p.lines[opened:p.line-1]), "\n"), true, nil
		}
	}
}

func trimReturns(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSuffix(l, "\r")
	}
	return out
}

// prose returns the text of a heredoc, or rest as it is.
func (p *parser) prose(rest string) (string, error) {
	text, ok, err := p.heredoc(rest)
	if ok || err != nil {
		return text, err
	}
	return rest, nil
}

// options takes leading words of the form key=value off rest, for the keys given.
func options(rest string, keys ...string) (values map[string]string, remaining string) {
	for {
		trimmed := strings.TrimLeft(rest, " \t")
		word, after := trimmed, ""
		if i := strings.IndexAny(trimmed, " \t"); i >= 0 {
			word, after = trimmed[:i], trimmed[i+1:]
		}
		key, value, ok := strings.Cut(word, "=")
		if !ok || !slices.Contains(keys, key) {
			return values, rest
		}
		if values == nil {
			values = make(map[string]string)
		}
		values[key], rest = value, after
	}
}

// isName reports whether s can be the name of a tool or the closing word of a heredoc.
func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 128
}
