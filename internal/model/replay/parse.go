package replay

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Parse parses a script. Its errors begin with name and line. A script that plays files must be
// loaded from disk; see [Load].
func Parse(name string, src []byte) (*Script, error) {
	return parse(name, src, func(string) ([]byte, error) {
		return nil, errors.New("only a script that was loaded from a file can play files")
	})
}

// Load reads the script at path. The files it plays must be in the same directory or below it.
func Load(path string) (*Script, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading replay script: %w", err)
	}
	return parse(path, src, func(name string) ([]byte, error) {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%q is outside the script's directory", name)
		}
		return os.ReadFile(filepath.Join(filepath.Dir(path), name))
	})
}

// A parser converts directives to turns.
type parser struct {
	*source
	read func(name string) ([]byte, error)

	dialect dialect // without a name until the script names one
	turns   []*turn
	turn    *turn // current turn, or nil

	// fragments holds a fragmentation that was announced on a line and applies to the next
	// content.
	fragments struct {
		line, pieces int
		every        time.Duration
	}
}

func parse(name string, text []byte, read func(string) ([]byte, error)) (*Script, error) {
	p := &parser{source: newSource(name, text), read: read}
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
	if p.dialect.name == "" {
		p.dialect = dialects[0]
	}
	return &Script{name: name, dialect: p.dialect, end: len(p.lines), turns: p.turns}, nil
}

// setDialect parses the name of the wire format, which must precede all turns.
func (p *parser) setDialect(name string) error {
	if p.turn != nil || p.turns != nil || p.dialect.name != "" {
		return p.errorf("dialect is allowed once, before the first turn")
	}
	var names []string
	for _, d := range dialects {
		if d.name == strings.TrimSpace(name) {
			p.dialect = d
			return nil
		}
		names = append(names, d.name)
	}
	return p.errorf("unknown dialect %q: expected one of %s", name, strings.Join(names, ", "))
}

// directive parses one directive. Its arguments begin after one space; further blanks may be
// significant.
func (p *parser) directive(line string) error {
	word, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		word, rest = line[:i], line[i+1:]
	}
	if word == "dialect" {
		return p.setDialect(rest)
	}
	if p.turn == nil {
		p.turn = &turn{line: p.line, times: 1, header: http.Header{}}
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
	"expect, when, repeat, forever, dialect, ---"

// endTurn closes the current turn. Separators with nothing between them don't make a turn.
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
