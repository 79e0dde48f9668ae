package replay

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// setting parses a directive about the turn as a whole.
func (p *parser) setting(word, rest string) (known bool, err error) {
	t := p.turn
	arg := strings.TrimSpace(rest)
	switch word {
	case "repeat", "forever":
		return true, p.repeat(word, arg)
	case "when", "expect":
		c, err := p.condition(arg)
		if err != nil {
			return true, err
		}
		if word == "when" {
			t.when = append(t.when, c)
		} else {
			t.expect = append(t.expect, c)
		}
	case "take":
		name, pattern, _ := strings.Cut(arg, " ")
		text, ok := quoted(strings.TrimSpace(pattern))
		if !isName(name) || name == "n" || !ok {
			return true, p.errorf("expected a name and a quoted regular expression, found %q", arg)
		}
		re, err := regexp.Compile(text)
		if err != nil || re.NumSubexp() != 1 {
			return true, p.errorf("expected a regular expression with one group, found %q", text)
		}
		t.takes = append(t.takes, capture{"{" + name + "}", re})
	case "model":
		if arg == "" || strings.ContainsAny(arg, " \t") {
			return true, p.errorf("expected the name of a model, found %q", arg)
		}
		t.model = arg
	case "stop":
		if !isName(arg) {
			return true, p.errorf("expected a stop reason, such as max_tokens, found %q", arg)
		}
		t.stop = arg
	case "usage":
		t.usage, err = p.tokens(arg)
		return true, err
	case "header":
		name, value, ok := strings.Cut(arg, ":")
		if !ok || !isName(name) {
			return true, p.errorf("expected a header, such as \"retry-after: 3\", found %q", arg)
		}
		t.header.Set(name, strings.TrimSpace(value))
	default:
		return false, nil
	}
	return true, nil
}

func (p *parser) repeat(word, arg string) error {
	t := p.turn
	if len(t.steps) > 0 || t.fixed != nil {
		return p.errorf("%s belongs at the head of its turn, before the answer", word)
	}
	t.numbered = true
	if word == "forever" {
		t.times = forever
		return p.noArgument(word, arg)
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return p.errorf("expected how many requests the turn answers, at least 1, found %q", arg)
	}
	t.times = n
	return nil
}

// fixedAnswer parses a directive that is the whole answer.
func (p *parser) fixedAnswer(word, rest string) (known bool, err error) {
	var f *fixed
	switch word {
	case "error":
		f, err = p.httpError(rest)
	case "status":
		f, err = p.status(rest)
	case "html":
		f = &fixed{status: http.StatusOK, contentType: "text/html; charset=utf-8", body: []byte(page)}
		err = p.noArgument(word, rest)
	case "file":
		f, err = p.file(rest)
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	if p.turn.fixed != nil {
		return true, p.errorf("%s is a whole answer and cannot follow %s", word, p.turn.fixed.word)
	}
	for _, s := range p.turn.steps {
		if s.op != opWait {
			return true, p.errorf("%s is a whole answer and cannot follow the content at line %d", word, s.line)
		}
	}
	f.word = word
	p.turn.fixed = f
	return true, nil
}

const page = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head>\n" +
	"<body><h1>502 Bad gateway</h1></body></html>\n"

func (p *parser) httpError(rest string) (*fixed, error) {
	name, message, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	kind, err := p.kind(name)
	if err != nil {
		return nil, err
	}
	if kind == model.Broken {
		return nil, p.errorf("a broken answer is written as cut, reset, garble or html")
	}
	given, message := options(message, "retry-after", "should-retry")
	for key, header := range map[string]string{"retry-after": "Retry-After", "should-retry": "X-Should-Retry"} {
		if value, ok := given[key]; ok {
			p.turn.header.Set(header, value)
		}
	}
	if kind == model.Network || kind == model.TLS {
		return &fixed{drop: kind}, nil
	}
	if kind == model.Unknown {
		kind = model.ServerFault // a server never reports unknown
	}
	return &fixed{contentType: "application/json", kind: kind, message: strings.TrimSpace(message)}, nil
}

func (p *parser) status(rest string) (*fixed, error) {
	code, body, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	n, err := p.statusCode(code)
	if err != nil {
		return nil, err
	}
	body, err = p.prose(body)
	return &fixed{status: n, contentType: p.contentType([]byte(body)), body: []byte(body)}, err
}

func (p *parser) file(rest string) (*fixed, error) {
	given, name := options(rest, "status")
	f := &fixed{status: http.StatusOK}
	if code, ok := given["status"]; ok {
		var err error
		if f.status, err = p.statusCode(code); err != nil {
			return nil, err
		}
	}
	body, err := p.read(strings.TrimSpace(name))
	if err != nil {
		return nil, p.errorf("reading the file to play: %v", err)
	}
	f.body, f.contentType = body, p.contentType(body)
	return f, nil
}

// contentType guesses the content type of an API response body.
func (p *parser) contentType(body []byte) string {
	switch {
	case json.Valid(body):
		return "application/json"
	case len(body) > 0 && body[0] == '<':
		return "text/html; charset=utf-8"
	case p.dialect.name != "":
		return wire.MediaType(p.dialect.Dialect)
	default:
		return "text/event-stream; charset=utf-8"
	}
}
