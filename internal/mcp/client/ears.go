package client

//lint:file-ignore SA1019 roots, sampling and logging are of older revisions, which most servers speak

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
)

// handlers handles a server's notifications and requests.
type clientHandlers struct {
	client  mcp.Client
	life    context.Context // the connection's lifetime
	bells   [3]throttle     // one for each list
	updates updates

	mu    sync.Mutex
	last  int                 // last call number
	calls map[string]*running // running calls by progress token
}

// A running call receives progress notifications.
type running struct {
	progress func(mcp.Progress)
	last     time.Time
}

// progressEvery is the minimum interval between forwarded progress notifications of a call.
const progressEvery = 10 * time.Millisecond

// options returns the SDK client options with the handlers for the server.
func (e *clientHandlers) options() *sdk.ClientOptions {
	o := &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { e.progress(r.Params) },
	}
	if e.client.Roots != nil {
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{ListChanged: true}
	}
	if e.client.Elicit != nil {
		o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		o.ElicitationHandler = e.elicit
	}
	if e.client.Elicited != nil {
		o.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			e.client.Elicited(mcp.Elicitation{ID: line(r.Params.ElicitationID, uriLimit)})
		}
	}
	if e.client.Sample != nil {
		o.CreateMessageHandler = e.sample
	}
	if e.client.Logged != nil {
		o.LoggingMessageHandler = func(_ context.Context, r *sdk.LoggingMessageRequest) {
			e.client.Logged(line(string(r.Params.Level), nameLimit), logText(r.Params))
		}
	}
	if e.client.Pushed != nil {
		o.Capabilities.Experimental = map[string]any{channel: struct{}{}}
	}
	if e.client.Changed != nil {
		for list := range e.bells {
			e.bells[list].fire = func() { e.client.Changed(mcp.List(list)) }
		}
		o.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { e.bells[mcp.ToolList].ring() }
		o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { e.bells[mcp.ResourceList].ring() }
		o.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { e.bells[mcp.PromptList].ring() }
	}
	if e.client.Updated != nil {
		e.updates.bell.fire = func() { e.updates.tell(e.client.Updated) }
		o.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { e.updates.note(r.Params.URI) }
	}
	return o
}

// close stops all notifications.
func (e *clientHandlers) close() {
	for i := range e.bells {
		e.bells[i].stop()
	}
	e.updates.bell.stop()
}

// during returns a context that also ends with the connection.
func (e *clientHandlers) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// follow returns a progress token for a call and forwards its notifications until stop is
// called; progress may be nil.
func (e *clientHandlers) follow(progress func(mcp.Progress)) (token string, stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	token = fmt.Sprint("call-", e.last)
	if progress == nil {
		return token, func() {}
	}
	e.calls[token] = &running{progress: progress}
	return token, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.calls, token)
	}
}

// progress forwards a progress notification to its call.
func (e *clientHandlers) progress(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	now := time.Now()
	e.mu.Lock()
	r := e.calls[token]
	skip := r == nil || now.Sub(r.last) < progressEvery
	if !skip {
		r.last = now
	}
	e.mu.Unlock()
	if !skip {
		r.progress(mcp.Progress{Done: p.Progress, Total: p.Total, Text: line(p.Message, titleLimit)})
	}
}

// elicit asks the user on behalf of the server.
func (e *clientHandlers) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := mcp.Elicitation{Message: text(r.Params.Message, textLimit)}
	if r.Params.Mode == "url" || r.Params.URL != "" {
		q.URL, q.ID = line(r.Params.URL, uriLimit), line(r.Params.ElicitationID, uriLimit)
	} else {
		q.Schema = schemaOf(r.Params)
	}
	ctx, cancel := e.during(ctx)
	defer cancel()
	a, err := e.client.Elicit(ctx, q)
	if err != nil {
		return nil, err
	}
	res := &sdk.ElicitResult{Action: a.Action}
	if a.Action == "accept" && q.Schema != nil {
		res.Content = a.Values
		if res.Content == nil {
			res.Content = map[string]any{} // the SDK adds the defaults
		}
	}
	return res, nil
}

// schemaOf returns an elicitation's schema, in the server's order if known.
func schemaOf(p *sdk.ElicitParams) json.RawMessage {
	if s, ok := p.Meta[schemaKey].(string); ok {
		if schema, ok := cleanSchema(json.RawMessage(s)); ok {
			return schema
		}
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return anyObject
	}
	schema, ok := cleanSchema(raw)
	if !ok {
		return anyObject
	}
	return schema
}

// sample asks the model on behalf of the server.
func (e *clientHandlers) sample(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	q := mcp.SampleRequest{System: text(r.Params.SystemPrompt, maxSchema), MaxTokens: int(min(r.Params.MaxTokens, 1<<30))}
	for _, m := range r.Params.Messages {
		raw, err := json.Marshal(m.Content)
		if err != nil {
			return nil, err
		}
		q.Messages = append(q.Messages, mcp.PromptMessage{Role: string(m.Role), Content: decodeContent(raw)})
	}
	ctx, cancel := e.during(ctx)
	defer cancel()
	a, err := e.client.Sample(ctx, q)
	if err != nil {
		return nil, err
	}
	return &sdk.CreateMessageResult{Content: &sdk.TextContent{Text: a.Text}, Model: a.Model, Role: "assistant", StopReason: a.StopReason}, nil
}

// channel is the capability of receiving messages for the conversation, and pushMethod their
// method name.
const (
	channel    = "claude/channel"
	pushMethod = "notifications/" + channel
)

// pushed forwards a message to the conversation.
func (e *clientHandlers) pushed(params json.RawMessage) {
	var p struct {
		Content string
		Meta    map[string]any
	}
	if e.client.Pushed == nil || json.Unmarshal(params, &p) != nil {
		return
	}
	about := metaText(p.Meta)
	if said := text(p.Content, pushLimit-utf8.RuneCountInString(about)); said != "" {
		e.client.Pushed(mcp.Push{Text: said + about})
	}
}

// metaText formats a message's metadata, such as its author, as a line to append to it.
func metaText(meta map[string]any) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		value, ok := meta[key].(string)
		if ok && key != "" && len(all) < maxMeta && len(key) <= nameLimit && strings.Trim(key, keyLetters) == "" {
			all = append(all, key+": "+line(value, nameLimit))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "\n[" + strings.Join(all, "; ") + "]"
}

// maxMeta limits a message's metadata entries, and keyLetters is the alphabet of their names.
const (
	maxMeta    = 8
	keyLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
)

// logText returns a log message's text.
func logText(p *sdk.LoggingMessageParams) string {
	s, ok := p.Data.(string)
	if !ok {
		raw, err := json.Marshal(p.Data)
		if err != nil {
			return ""
		}
		s = string(raw)
	}
	if p.Logger != "" {
		s = p.Logger + ": " + s
	}
	return line(s, logLimit)
}

// bellEvery is the minimum interval between change notifications.
const bellEvery = time.Second

// A throttle sends change notifications: immediately, and then once a second as long as changes
// continue.
type throttle struct {
	fire func()

	mu    sync.Mutex
	timer *time.Timer // set while notifications are paused
	again bool
	over  bool
}

func (b *throttle) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
	case b.timer != nil:
		b.again = true
	default:
		b.timer = time.AfterFunc(bellEvery, b.rest)
		go b.fire()
	}
}

// rest ends the pause.
func (b *throttle) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = nil
	if b.again && !b.over {
		b.again = false
		b.timer = time.AfterFunc(bellEvery, b.rest)
		go b.fire()
	}
}

func (b *throttle) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.timer != nil {
		b.timer.Stop()
	}
}

// maxUpdates limits the resources in one notification.
const maxUpdates = 100

// updates holds the changed resources not yet reported.
type updates struct {
	bell throttle
	mu   sync.Mutex
	uris []string
}

func (u *updates) note(uri string) {
	uri = line(uri, uriLimit)
	u.mu.Lock()
	if len(u.uris) < maxUpdates && !slices.Contains(u.uris, uri) {
		u.uris = append(u.uris, uri)
	}
	u.mu.Unlock()
	u.bell.ring()
}

func (u *updates) tell(f func(string)) {
	u.mu.Lock()
	uris := u.uris
	u.uris = nil
	u.mu.Unlock()
	for _, uri := range uris {
		f(uri)
	}
}
