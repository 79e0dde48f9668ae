// Package judge lets a small model answer permission questions in place of the user: whether a
// call is harmless enough for auto mode, and whether a command belongs to an action class the
// user approved with a plan. It sees the user's messages and the calls made, but neither tool
// results nor the model's text, where others could have planted instructions. Anything but a
// clear answer is an error, after which adze asks the user.
package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Purposes, for cost accounting.
const (
	autoPurpose = "auto mode"
	planPurpose = "approved plans"
)

// Limits on a question. MaxTokens leaves room for models that cannot answer without thinking.
const (
	quickTime   = 15 * time.Second
	carefulTime = 30 * time.Second
	maxTokens   = 2048
	// maxCall is the maximum length of a judged call in bytes: it is judged whole or not at
	// all.
	maxCall = 24_000
	// maxReason is the maximum length of a verdict's reason in characters.
	maxReason = 200
	// coolDown is the pause after several failures of the model in a row.
	coolDown = time.Minute
)

// Config configures a Judge. Rules, Decided and Log may be nil.
type Config struct {
	Small    *sidequery.SmallModel
	Language func() texts.Language
	// Said returns the conversation so far.
	Said func() []msg.Entry
	// Instructions returns the contents of the instruction files.
	Instructions func() string
	// Rules returns the user's own rules.
	Rules func() Rules
	// Decided is called with each verdict.
	Decided func(Verdict)
	Log     *slog.Logger
}

// Rules holds the user's instructions to the judge, in prose.
type Rules struct {
	Allow, Block []string
	// Environment holds facts about the machine and the project.
	Environment []string
}

// A Verdict is a decision about a call, for the record.
type Verdict struct {
	UseID, Tool string
	Allowed     bool
	Reason      string
}

// A Judge is a [permission.Judge].
type Judge struct {
	cfg Config

	mu       sync.Mutex
	failed   sidequery.Failures
	failedAt time.Time
	heard    []string
}

// New returns a judge.
func New(c Config) *Judge {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Rules == nil {
		c.Rules = func() Rules { return Rules{} }
	}
	if c.Decided == nil {
		c.Decided = func(Verdict) {}
	}
	return &Judge{cfg: c}
}

// Hear records the user's message, so that it is still known after compaction.
func (j *Judge) Hear(parts []msg.Part) {
	text := words(parts)
	if text == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.heard = append(j.heard[max(0, len(j.heard)+1-maxMessages):], text)
}

// Judge asks up to twice: a quick pass is final, and a block is reconsidered with reasoning.
func (j *Judge) Judge(ctx context.Context, q permission.Question) (permission.Judgement, error) {
	call, err := describe(q)
	if err != nil {
		return permission.Judgement{}, err
	}
	seal := sidequery.NewNonce()
	query := j.query(seal, q, call)
	var verdict permission.Judgement
	var quick struct{ Block *bool }
	err = j.ask(ctx, seal, "quick", query, sidequery.Question{Purpose: autoPurpose, Timeout: quickTime, Format: json.RawMessage(quickSchema)}, &quick.Block, nil)
	if err == nil && *quick.Block {
		var block *bool
		err = j.ask(ctx, seal, "careful", query, sidequery.Question{Purpose: autoPurpose, Timeout: carefulTime, Format: json.RawMessage(carefulSchema)}, &block, &verdict.Reason)
		verdict.Block = block == nil || *block
	}
	if err != nil {
		return permission.Judgement{Block: true}, err
	}
	verdict.Reason = msg.Neutralise(tool.OneLine(verdict.Reason, maxReason))
	j.cfg.Decided(Verdict{q.ID, q.Tool, !verdict.Block, verdict.Reason})
	return verdict, nil
}

// Covers asks which class a command belongs to.
func (j *Judge) Covers(ctx context.Context, q permission.Question, classes []string) (string, error) {
	call, err := describe(q)
	if err != nil {
		return "", err
	}
	seal := sidequery.NewNonce()
	var list strings.Builder
	for i, class := range classes {
		fmt.Fprintf(&list, "%d. %s\n", i+1, class)
	}
	query := seal.Quote("classes", strings.TrimSpace(list.String())) + "\n\n" + seal.Quote("call", call)
	members, err := j.members(ctx, seal, query, sidequery.Question{
		Purpose: planPurpose, System: j.system("classes", string(seal)), Timeout: quickTime, Format: json.RawMessage(classSchema),
	})
	if err != nil {
		return "", err
	}
	var class int
	var certain string
	if json.Unmarshal(members["class"], &class) != nil || json.Unmarshal(members["confidence"], &certain) != nil ||
		class < 0 || class > len(classes) {
		return "", j.count(fmt.Errorf("%w: it has no class", sidequery.ErrUnusable))
	}
	if class == 0 || certain != "high" {
		return "", nil
	}
	j.cfg.Decided(Verdict{q.ID, q.Tool, true, classes[class-1]})
	return classes[class-1], nil
}

// Answer schemas. The reason comes before the conclusion.
const (
	quickSchema   = `{"type":"object","properties":{"seal":{"type":"string"},"block":{"type":"boolean"}},"required":["seal","block"],"additionalProperties":false}`
	carefulSchema = `{"type":"object","properties":{"seal":{"type":"string"},"reason":{"type":"string"},"block":{"type":"boolean"}},"required":["seal","reason","block"],"additionalProperties":false}`
	classSchema   = `{"type":"object","properties":{"seal":{"type":"string"},"class":{"type":"integer"},"confidence":{"type":"string","enum":["high","low"]}},"required":["seal","class","confidence"],"additionalProperties":false}`
)

// ask requests a verdict using the named text, and decodes it.
func (j *Judge) ask(ctx context.Context, seal sidequery.Nonce, text, query string, q sidequery.Question, block **bool, reason *string) error {
	q.System = j.system(text, string(seal))
	members, err := j.members(ctx, seal, query, q)
	if err != nil {
		return err
	}
	if json.Unmarshal(members["block"], block) != nil || *block == nil {
		return j.count(fmt.Errorf("%w: it has no verdict", sidequery.ErrUnusable))
	}
	if reason != nil && (json.Unmarshal(members["reason"], reason) != nil || **block && strings.TrimSpace(*reason) == "") {
		return j.count(fmt.Errorf("%w: it has no reason", sidequery.ErrUnusable))
	}
	return nil
}

// system returns the system prompt for a question, with the user's own rules.
func (j *Judge) system(name, seal string) []msg.Part {
	language := j.cfg.Language()
	text := catalogue.Text(language, name, seal)
	if name == "classes" {
		return []msg.Part{&msg.Text{Text: text}}
	}
	rules := j.cfg.Rules()
	for _, list := range []struct {
		name  string
		lines []string
	}{{"allow", rules.Allow}, {"block", rules.Block}, {"environment", rules.Environment}} {
		if len(list.lines) > 0 {
			text += "\n\n" + catalogue.Text(language, list.name) + "\n- " + strings.Join(list.lines, "\n- ")
		}
	}
	return []msg.Part{&msg.Text{Text: text}}
}

// members queries the model and returns the fields of its answer.
func (j *Judge) members(ctx context.Context, seal sidequery.Nonce, query string, q sidequery.Question) (map[string]json.RawMessage, error) {
	if err := j.rests(); err != nil {
		return nil, err
	}
	q.Messages, q.MaxTokens = []msg.Message{msg.UserText(query)}, maxTokens
	answer, err := j.cfg.Small.Ask(ctx, q)
	var members map[string]json.RawMessage
	if err == nil {
		members, err = seal.Open(answer)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return members, j.count(err)
}

// count records the outcome of a question and returns err.
func (j *Judge) count(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed.Count(err)
	if err != nil {
		j.failedAt = time.Now()
		j.cfg.Log.Warn("a call was not judged", "err", err)
	}
	return err
}

// rests returns an error during the cool-down.
func (j *Judge) rests() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed.TooMany() && time.Since(j.failedAt) < coolDown {
		return errors.New("the judging model has failed several times in a row and is paused")
	}
	return nil
}

// describe formats a call for the model: whole, or an error.
func describe(q permission.Question) (string, error) {
	input := string(q.Input)
	if q.Command != "" { // the command as it would run, without the model's description
		input = q.Command
	}
	if len(input) > maxCall {
		return "", fmt.Errorf("the call is too long to judge (%d bytes)", len(input))
	}
	if !utf8.ValidString(input) {
		return "", errors.New("the call is not valid text")
	}
	text := fmt.Sprintf("tool: %s\ndirectory: %s\n", q.Tool, q.Dir)
	if q.Server != "" {
		text += "server: " + q.Server + "\n"
	}
	if q.BlockedPath != "" {
		text += "path: " + q.BlockedPath + "\n"
	}
	return text + "input:\n" + input, nil
}
