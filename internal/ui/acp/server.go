// Package acp is the front end for editors that speak the Agent Client Protocol, version 1, over
// standard streams. One process holds any number of sessions.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/platform/fs/fsys"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// protocolVersion is the only version that adze speaks.
const protocolVersion = 1

// ErrSignIn is returned by Config.Open if no model provider is configured.
var ErrSignIn = errors.New("no model provider is configured")

// Config configures a server. Everything is required.
type Config struct {
	In      io.Reader
	Out     io.Writer
	Version string
	Now     func() time.Time
	// Say shows a message to whoever reads standard error.
	Say func(string)
	// Open opens a conversation whose turns end when ctx is done.
	Open func(ctx context.Context, s Start) (*Conversation, error)
	// SignedIn reports whether a model provider is configured.
	SignedIn func(ctx context.Context) error
	// SignIn holds the arguments that sign in at a terminal.
	SignIn []string
	// List returns the stored sessions of a directory, or all if it is empty, newest first.
	// Remove removes one with everything that belongs to it.
	List   func(dir string) ([]archive.Info, error)
	Remove func(*archive.Info) error
}

// A Start describes the session that a client opens.
type Start struct {
	// Dir is the working directory, and Dirs are additional ones.
	Dir  string
	Dirs []string
	// Resume is the ID of the session to continue, with Fork in a copy. With Replay,
	// Conversation.Earlier is wanted.
	Resume       string
	Fork, Replay bool
	// Servers are the client's MCP servers, as the value of mcpServers in a configuration; may
	// be nil.
	Servers json.RawMessage
	// Editor gives access to the client's unsaved files; nil if it offers none.
	Editor change.Editor
	// Say shows the user a message.
	Say func(string)
}

// A Conversation is an open session with its services.
type Conversation struct {
	Session  *session.Session
	Commands *commands.Registry
	// Earlier holds the turns of a resumed session.
	Earlier []agent.Event
	// Explain returns a user-facing explanation of an error from the given model.
	Explain func(err error, model string) string
	// Attend sets whether prompts not sent by the client may run.
	Attend func(on bool)
	// OnComplete registers a function to call when a server reports that the user has finished
	// on a web page; it may be nil.
	OnComplete func(tell func(server, id string))
	// Ready waits until the MCP servers are connected; it may be nil.
	Ready func(context.Context)
	// Close ends the session.
	Close func()
}

// A server serves one client.
type server struct {
	cfg  Config
	conn *conn
	ctx  context.Context // done when the client is gone

	quick, slow map[string]handler // key: method

	mu      sync.Mutex
	client  *clientCapabilities // nil before initialize
	threads map[string]*thread
	opening map[string]bool // IDs of the sessions being opened or closed
	running map[string]context.CancelFunc
	ended   bool // no more requests are answered
	work    sync.WaitGroup
}

// Serve serves the client until it closes the connection or ctx is done. Running turns are then
// interrupted and open questions denied; the sessions are stored.
func Serve(ctx context.Context, cfg Config) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{
		cfg: cfg, conn: newConn(cfg.In, cfg.Out), ctx: ctx,
		threads: map[string]*thread{}, opening: map[string]bool{}, running: map[string]context.CancelFunc{},
	}
	s.quick, s.slow = handlers()
	ended := make(chan error, 1)
	// Do not wait for the reader: a read from an input that stays open cannot be interrupted.
	go func() { ended <- s.read() }()
	var err error
	select {
	case err = <-ended:
	case <-s.conn.out.broken:
		err = s.conn.out.failure()
	case <-ctx.Done():
	}
	stop(tool.AbortShutdown)
	s.conn.hangUp()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.work.Wait()
	s.mu.Lock()
	threads := s.threads
	s.threads = nil
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, t := range threads {
		closing.Go(t.close)
	}
	closing.Wait()
	s.conn.out.close()
	grace := time.NewTimer(2 * time.Second)
	defer grace.Stop()
	select {
	case <-s.conn.out.done:
	case <-grace.C: // the client reads nothing
	}
	return err
}

// read handles messages until the connection ends.
func (s *server) read() error {
	for {
		m, err := s.conn.next()
		var problem *rpcError
		switch {
		case errors.As(err, &problem):
			s.conn.respond(m.ID, nil, problem)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Method == "":
			s.conn.answered(m)
		case m.ID == nil:
			s.notified(m)
		default:
			s.requested(m)
		}
	}
}

// notified handles a notification. Unknown ones are ignored.
func (s *server) notified(m message) {
	switch m.Method {
	case "session/cancel":
		var in idRequest
		if json.Unmarshal(m.Params, &in) == nil {
			if t, err := s.thread(in.SessionID); err == nil {
				t.cancel()
			}
		}
	case "$/cancel_request":
		var in cancelRequest
		if json.Unmarshal(m.Params, &in) == nil {
			s.withdraw(string(in.RequestID))
		}
	}
}

// withdraw cancels a running request, which is still answered.
func (s *server) withdraw(id string) {
	s.mu.Lock()
	cancel := s.running[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// A handler answers a request. If then is not nil, it is called when the answer is on its way.
type handler func(ctx context.Context, s *server, params json.RawMessage) (result any, then func(), err error)

// handlers returns the requests that are answered in the order of their arrival, and slow ones,
// which are answered in the background.
func handlers() (quick, slow map[string]handler) {
	quick = map[string]handler{
		"initialize":                with((*server).initialize),
		"session/set_mode":          with((*server).setMode),
		"session/set_config_option": with((*server).setConfigOption),
	}
	slow = map[string]handler{
		"authenticate":   with((*server).authenticate),
		"session/new":    with((*server).newSession),
		"session/load":   with((*server).loadSession),
		"session/resume": with((*server).resumeSession),
		"session/fork":   with((*server).forkSession),
		"session/list":   with((*server).listSessions),
		"session/delete": with((*server).deleteSession),
		"session/close":  with((*server).closeSession),
	}
	return quick, slow
}

// The function with decodes a handler's parameters.
func with[In any](h func(s *server, ctx context.Context, in In) (any, func(), error)) handler {
	return func(ctx context.Context, s *server, params json.RawMessage) (any, func(), error) {
		var in In
		if err := decode(params, &in); err != nil {
			return nil, nil, err
		}
		return h(s, ctx, in)
	}
}

// decode decodes the parameters of a request.
func decode(params json.RawMessage, in any) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if err := json.Unmarshal(params, in); err != nil {
		var mistake *json.UnmarshalTypeError
		if errors.As(err, &mistake) && mistake.Field != "" {
			return errorf(codeParams, "%s must not be a %s", mistake.Field, mistake.Value)
		}
		return errorf(codeParams, "the parameters are not valid: %v", err)
	}
	return nil
}

// requested handles a request, which is answered exactly once.
func (s *server) requested(m message) {
	fast, known := s.quick[m.Method]
	later, queued := s.slow[m.Method]
	prompt := m.Method == "session/prompt"
	switch {
	case !known && !queued && !prompt:
		s.conn.respond(m.ID, nil, errorf(codeMethod, "there is no method %s", tool.OneLine(m.Method, 100)))
		return
	case m.Method != "initialize" && s.caps() == nil:
		s.conn.respond(m.ID, nil, errorf(codeInvalid, "initialize must be the first request"))
		return
	case prompt:
		s.prompt(m)
		return
	case known:
		s.answer(s.ctx, m, fast)
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	id := string(m.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		cancel()
		return
	}
	s.running[id] = cancel
	s.work.Go(func() {
		defer cancel()
		s.answer(ctx, m, later)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, id)
	})
}

func (s *server) answer(ctx context.Context, m message, h handler) {
	result, then, err := h(ctx, s, m.Params)
	s.conn.respond(m.ID, result, err)
	if then != nil {
		then()
	}
}

// caps returns the client's capabilities, or nil before initialize.
func (s *server) caps() *clientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// initialize answers with the only version that adze speaks; a client that cannot speak it
// leaves.
func (s *server) initialize(_ context.Context, in initializeRequest) (any, func(), error) {
	if in.ProtocolVersion == nil {
		return nil, nil, errorf(codeParams, "protocolVersion is missing")
	}
	s.mu.Lock()
	s.client = &in.ClientCapabilities
	s.mu.Unlock()
	methods := []authMethod{{
		ID: "provider", Name: "Configured provider",
		Description: "Run adze auth login in a terminal, or set a provider's key in the environment, such as ANTHROPIC_API_KEY",
	}}
	if in.ClientCapabilities.Auth.Terminal {
		methods = append(methods, authMethod{
			Type: "terminal", ID: "login", Name: "Store an API key", Description: "Choose a provider and store its key", Args: s.cfg.SignIn,
		})
	}
	return initializeResponse{
		ProtocolVersion: protocolVersion,
		AgentCapabilities: agentCapabilities{
			LoadSession:        true,
			PromptCapabilities: promptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:    mcpCapabilities{HTTP: true, SSE: true},
		},
		AuthMethods: methods,
		AgentInfo:   implementation{"adze", "adze", s.cfg.Version},
	}, nil, nil
}

// authenticate checks whether a provider is configured by now.
func (s *server) authenticate(ctx context.Context, in authenticateRequest) (any, func(), error) {
	if in.MethodID != "provider" {
		return nil, nil, errorf(codeParams, "there is no authentication method %q to ask adze for; use provider", tool.OneLine(in.MethodID, 60))
	}
	return nil, nil, signIn(s.cfg.SignedIn(ctx))
}

// signIn maps the error for a missing provider.
func signIn(err error) error {
	if errors.Is(err, ErrSignIn) {
		return errorf(codeAuth, "no model provider is configured. Run adze auth login in a terminal, or set a provider's key in the environment, such as ANTHROPIC_API_KEY")
	}
	return err
}

// thread returns an open session.
func (s *server) thread(id string) (*thread, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.threads[id]; t != nil {
		return t, nil
	}
	return nil, errorf(codeNotFound, "the session %q is not open", tool.OneLine(id, 60))
}

func (s *server) newSession(_ context.Context, in sessionRequest) (any, func(), error) {
	return s.open(in, Start{})
}

func (s *server) resumeSession(_ context.Context, in sessionRequest) (any, func(), error) {
	return s.open(in, Start{Resume: in.SessionID})
}

func (s *server) forkSession(_ context.Context, in sessionRequest) (any, func(), error) {
	return s.open(in, Start{Resume: in.SessionID, Fork: true})
}

// loadSession resumes a session. Its turns are sent before the answer.
func (s *server) loadSession(_ context.Context, in sessionRequest) (any, func(), error) {
	return s.open(in, Start{Resume: in.SessionID, Replay: true})
}

// open opens a session. It has a lifetime of its own: cancelling the request has no effect.
func (s *server) open(in sessionRequest, start Start) (any, func(), error) {
	if err := checkDirs(append([]string{in.CWD}, in.AdditionalDirectories...)); err != nil {
		return nil, nil, err
	}
	servers, err := serverConfig(in.MCPServers)
	if err != nil {
		return nil, nil, err
	}
	start.Dir, start.Dirs, start.Servers = filepath.Clean(in.CWD), in.AdditionalDirectories, servers
	if start.Resume != "" {
		if _, err := s.stored(start.Resume, start.Dir); err != nil {
			return nil, nil, err
		}
	}
	if start.Resume != "" && !start.Fork { // a client that has lost the session opens it again
		release, err := s.reserve(start.Resume)
		if err != nil {
			return nil, nil, err
		}
		defer release()
		if err := s.closeIdle(start.Resume); err != nil {
			return nil, nil, err
		}
	}
	t := newThread(s, start.Dir)
	start.Say = t.say
	if fs := t.caps.FS; fs.ReadTextFile && fs.WriteTextFile {
		start.Editor = &editor{t: t, writing: map[string]chan struct{}{}, unsaved: map[string]form{}}
	}
	c, err := s.cfg.Open(s.ctx, start)
	if err != nil {
		return nil, nil, signIn(err)
	}
	t.begin(c)
	out := sessionResponse{Modes: t.modes(), ConfigOptions: t.last.options}
	s.mu.Lock()
	if s.threads == nil {
		s.mu.Unlock()
		t.close()
		return nil, nil, errGone
	}
	s.threads[t.id] = t
	s.mu.Unlock()
	if start.Resume == "" || start.Fork {
		out.SessionID = t.id
	}
	if start.Replay {
		t.replay(c.Earlier)
	}
	return out, t.start, nil
}

// reserve keeps others from opening or closing a session until release is called.
func (s *server) reserve(id string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opening[id] {
		return nil, errorf(codeInvalid, "the session %s is being opened or closed", id)
	}
	s.opening[id] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.opening, id)
	}, nil
}

// closeIdle closes a session if it is open. One with a running prompt stays open.
func (s *server) closeIdle(id string) error {
	s.mu.Lock()
	t := s.threads[id]
	if t == nil {
		s.mu.Unlock()
		return nil
	}
	if t.busy() {
		s.mu.Unlock()
		return errorf(codeInvalid, "the session %s is open and works on a prompt; cancel it first", id)
	}
	delete(s.threads, id)
	s.mu.Unlock()
	t.close()
	return nil
}

// checkDirs checks that directories are absolute and exist.
func checkDirs(dirs []string) error {
	for i, dir := range dirs {
		name := "additionalDirectories"
		if i == 0 {
			name = "cwd"
		}
		switch {
		case !filepath.IsAbs(dir):
			return errorf(codeParams, "%s must be an absolute path, and %q is not", name, tool.OneLine(dir, 200))
		case !fsys.IsDir(dir):
			return errorf(codeParams, "%s: %q is not a directory", name, tool.OneLine(dir, 200))
		}
	}
	return nil
}

// serverConfig returns the client's MCP servers as the value of mcpServers in a configuration.
func serverConfig(list []mcpServer) (json.RawMessage, error) {
	if len(list) == 0 {
		return nil, nil
	}
	type entry struct {
		Type    string            `json:"type"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	values := func(list []variable) map[string]string {
		m := map[string]string{}
		for _, v := range list {
			m[v.Name] = v.Value
		}
		return m
	}
	servers := map[string]entry{}
	for _, m := range list {
		if _, twice := servers[m.Name]; twice || m.Name == "" {
			return nil, errorf(codeParams, "mcpServers: the name %q is empty or there twice", tool.OneLine(m.Name, 60))
		}
		switch m.Type {
		case "", "stdio":
			servers[m.Name] = entry{Type: "stdio", Command: m.Command, Args: m.Args, Env: values(m.Env)}
		case "http", "sse":
			servers[m.Name] = entry{Type: m.Type, URL: m.URL, Headers: values(m.Headers)}
		default:
			return nil, errorf(codeParams, "mcpServers: %q has the type %q; adze connects to stdio, http and sse", tool.OneLine(m.Name, 60), tool.OneLine(m.Type, 60))
		}
	}
	return json.Marshal(servers)
}

// stored returns a stored session by its ID. Its directory must be dir, unless that is empty.
func (s *server) stored(id, dir string) (*archive.Info, error) {
	all, err := s.cfg.List(dir)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(info archive.Info) bool { return info.ID == id }); i >= 0 {
		return &all[i], nil
	}
	if dir != "" {
		if info, err := s.stored(id, ""); err == nil {
			return nil, errorf(codeParams, "the session %s belongs to %s, not to %s", id, info.Dir, dir)
		}
	}
	return nil, errorf(codeNotFound, "there is no session %q", tool.OneLine(id, 60))
}

// listed is the number of sessions on a page of the list.
const listed = 50

// listSessions lists stored sessions. A cursor is the ID of the last session on the page before.
func (s *server) listSessions(_ context.Context, in listRequest) (any, func(), error) {
	if in.CWD != "" && !filepath.IsAbs(in.CWD) {
		return nil, nil, errorf(codeParams, "cwd must be an absolute path, and %q is not", tool.OneLine(in.CWD, 200))
	}
	all, err := s.cfg.List(in.CWD)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(info archive.Info) bool { return !filepath.IsAbs(info.Dir) })
	if in.Cursor != "" {
		i := slices.IndexFunc(all, func(info archive.Info) bool { return info.ID == in.Cursor })
		if i < 0 {
			return nil, nil, errorf(codeParams, "the cursor is not valid any more; list again without one")
		}
		all = all[i+1:]
	}
	out := listResponse{Sessions: []sessionInfo{}}
	for i := range all[:min(listed, len(all))] {
		info := &all[i]
		out.Sessions = append(out.Sessions, sessionInfo{info.ID, info.Dir, info.Name(), stamp(info.Modified)})
	}
	if len(all) > listed {
		out.NextCursor = all[listed-1].ID
	}
	return out, nil, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// deleteSession removes a stored session, closing it first.
func (s *server) deleteSession(ctx context.Context, in idRequest) (any, func(), error) {
	_, closed := s.thread(in.SessionID)
	if closed == nil {
		if _, _, err := s.closeSession(ctx, in); err != nil {
			return nil, nil, err
		}
	}
	info, err := s.stored(in.SessionID, "")
	if err == nil {
		err = s.cfg.Remove(info)
	} else if closed == nil { // no message yet
		err = nil
	}
	return nil, nil, err
}

// closeSession interrupts a session's turn and closes it. It stays stored.
func (s *server) closeSession(_ context.Context, in idRequest) (any, func(), error) {
	release, err := s.reserve(in.SessionID)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	t, err := s.thread(in.SessionID)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	delete(s.threads, in.SessionID)
	s.mu.Unlock()
	t.close()
	return nil, nil, nil
}
