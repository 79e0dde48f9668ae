// Package replay implements the scripted model: it parses a small line-based language
// (docs/replay.md) and plays it, in process as a [model.Provider] and over HTTP as a server.
// Both play the same wire bytes, so that a truncated stream or a usage report behaves as it
// does on the wire. A [wire.Server] encodes the script in its dialect. The program has only the
// server of the first dialect; in the others, it plays recorded responses. A [Recorder] writes
// scripts from real runs.
package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/model/bedrock"
	"adze/internal/model/chat"
	"adze/internal/model/gemini"
	"adze/internal/model/messages"
	"adze/internal/model/responses"
	"adze/internal/model/vertex"
	"adze/internal/model/wire"
)

// A Script is a parsed script. It is immutable and may be played any number of times.
type Script struct {
	name    string
	dialect dialect
	end     int // last line
	turns   []*turn
}

// Dialect returns the name of the script's wire format.
func (s *Script) Dialect() string { return s.dialect.name }

// A dialect is a wire format that a script can name.
type dialect struct {
	name string
	wire.Dialect
	paths []string // suffixes of the request paths
}

// dialects lists the wire formats. The first is the default.
var dialects = [...]dialect{
	{"messages", messages.Dialect{}, []string{"/messages"}},
	{"chat", chat.Dialect{Documents: true, Replay: chat.ReplayContent}, []string{"/chat/completions"}},
	{"responses", responses.Dialect{}, []string{"/responses"}},
	{"gemini", gemini.Dialect{}, []string{"enerateContent"}},
	{"bedrock", bedrock.NewDialect("us-east-1"), []string{"/invoke", "/invoke-with-response-stream"}},
	{"vertex", vertex.NewDialect("project", "global"), []string{":rawPredict", ":streamRawPredict"}},
}

// A Player plays a script once: each request is answered by a turn. It is safe for concurrent
// use; requests take turns in order of arrival.
type Player struct {
	script  *Script
	dialect wire.Dialect
	server  wire.Server

	encoding sync.Mutex
	encoder  wire.Encoder

	mu       sync.Mutex
	played   []int // number of times each turn was played
	requests log
	saveTo   string
	problems []error

	reasons bool
	pause   func(time.Duration)
}

// Open loads the script at path and returns a player for it.
func Open(path string) (*Player, error) {
	s, err := Load(path)
	if err != nil {
		return nil, err
	}
	if s.dialect.name == dialects[0].name {
		return NewPlayer(s), nil
	}
	if err := s.checkRecorded(); err != nil {
		return nil, err
	}
	p := NewPlayerIn(recorded{s.dialect}, s)
	p.dialect = s.dialect.Dialect // with its optional methods
	return p, nil
}

// NewPlayer returns a player for s in the first dialect.
func NewPlayer(s *Script) *Player { return NewPlayerIn(messages.Server{}, s) }

// NewPlayerIn returns a player for s on the given server, regardless of the dialect of s.
func NewPlayerIn(server wire.Server, s *Script) *Player {
	return &Player{script: s, dialect: server, server: server, encoder: server.NewEncoder(), played: make([]int, len(s.turns))}
}

// SaveRequests makes the player write each following request to dir, indented, as
// 001-request.json and so on. It creates dir, but not its parents.
func (p *Player) SaveRequests(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("saving requests: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saveTo = dir
	return nil
}

// Reason makes every answer of a model that may think begin with signed thinking without text,
// like models that hide their thinking. Answers that already begin with thinking are unchanged.
// It must be called before the first request.
func (p *Player) Reason() { p.reasons = true }

// Pause makes pause take the place of every pause in the script; nil changes nothing. The player
// calls it after everything before the pause was read, and does not wait itself. It must be called
// before the first request, and affects only [Player.Provider].
func (p *Player) Pause(pause func(time.Duration)) { p.pause = pause }

// Requests returns the bodies of all requests so far, in order of arrival.
func (p *Player) Requests() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests.all()
}

// Problems returns the problems so far: requests that violate the protocol, that do not meet
// the script's expectations, or that have no turn.
func (p *Player) Problems() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]error(nil), p.problems...)
}

// Unplayed returns an error that names the unplayed turns, or nil. A turn that is played
// forever never counts as unplayed.
func (p *Player) Unplayed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []string
	for i, t := range p.script.turns {
		switch done := p.played[i]; {
		case t.times == forever || done == t.times:
		case t.times == 1:
			left = append(left, fmt.Sprintf("line %d", t.line))
		default:
			left = append(left, fmt.Sprintf("line %d (%d of %d)", t.line, done, t.times))
		}
	}
	if left == nil {
		return nil
	}
	return fmt.Errorf("%s: turns not played: %s", p.script.name, strings.Join(left, ", "))
}

// Err returns all problems and the unplayed turns as one error, or nil. Call it at the end of a
// test that should have used the whole script.
func (p *Player) Err() error {
	return errors.Join(append(p.Problems(), p.Unplayed())...)
}

// admit records a request and returns its answer.
func (p *Player) admit(q *query) *answer {
	violation := p.server.Check(q.header, q.body)

	p.mu.Lock()
	defer p.mu.Unlock()
	q.number = p.requests.add(q.body)
	if err := p.save(q); err != nil {
		p.problems = append(p.problems, err)
	}
	if violation != nil {
		return p.reject(q, violation)
	}
	q.reasons = p.reasons && q.Thinks
	t, err := p.take(q)
	if err != nil {
		return p.reject(q, err)
	}
	for _, c := range t.expect {
		if err := c.check(p.script.name, q, t); err != nil {
			return p.reject(q, err)
		}
	}
	return t.answer(q)
}

// capture returns the turn for q: the first remaining turn whose conditions hold.
func (p *Player) take(q *query) (*turn, error) {
	waiting := 0
	for i, t := range p.script.turns {
		if t.times != forever && p.played[i] == t.times {
			continue
		}
		if t.suits(q) {
			p.played[i]++
			return t, nil
		}
		waiting++
	}
	if waiting > 0 {
		return nil, fmt.Errorf("%s: no turn is left for request %d: the %d that are left wait for others",
			p.script.name, q.number, waiting)
	}
	return nil, fmt.Errorf("%s:%d: the script has no more turns: it ends here, and request %d came",
		p.script.name, p.script.end, q.number)
}

func (p *Player) reject(q *query, err error) *answer {
	p.problems = append(p.problems, fmt.Errorf("request %d: %w", q.number, err))
	return invalid(q, err)
}

func (p *Player) save(q *query) error {
	if p.saveTo == "" {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, q.body, "", "  ") != nil {
		b.Write(q.body)
	}
	b.WriteByte('\n')
	return os.WriteFile(filepath.Join(p.saveTo, fmt.Sprintf("%03d-request.json", q.number)), b.Bytes(), 0o600)
}

// A log stores request bodies. Every request repeats the conversation, so each body is stored
// as an addition to a prefix of the previous one.
type log struct {
	last    []byte
	entries []addition
}

type addition struct {
	keep int // bytes kept from the previous body
	rest []byte
}

func (l *log) add(body []byte) (number int) {
	keep := 0
	for keep < len(body) && keep < len(l.last) && body[keep] == l.last[keep] {
		keep++
	}
	l.entries = append(l.entries, addition{keep, bytes.Clone(body[keep:])})
	l.last = append(l.last[:keep], body[keep:]...)
	return len(l.entries)
}

func (l *log) all() [][]byte {
	bodies := make([][]byte, len(l.entries))
	var b []byte
	for i, e := range l.entries {
		b = append(b[:e.keep:e.keep], e.rest...)
		bodies[i] = b
	}
	return bodies
}
