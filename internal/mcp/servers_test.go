package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/mcp/roster"
)

// A fakeDialer connects to servers whose behavior the test defines.
type fakeDialer struct {
	mu                   sync.Mutex
	dials, dialing, peak int
	conns                []*fakeConn
	// dial may fail or block; nil connects immediately.
	dial func(ctx context.Context, e *roster.Entry, n int) error
	make func(*fakeConn)
}

func (d *fakeDialer) Dial(ctx context.Context, e *roster.Entry, c Client) (Conn, error) {
	d.mu.Lock()
	d.dials++
	n := d.dials
	d.dialing++
	d.peak = max(d.peak, d.dialing)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.dialing--
	}()
	if d.dial != nil {
		if err := d.dial(ctx, e, n); err != nil {
			return nil, err
		}
	}
	conn := &fakeConn{client: c, n: n, done: make(chan struct{}), tools: []Tool{{Name: "echo", Description: "echoes", Schema: json.RawMessage(`{}`)}}}
	conn.about = ServerInfo{Tools: true, Prompts: true, Resources: true, Subscriptions: true}
	if d.make != nil {
		d.make(conn)
	}
	d.mu.Lock()
	d.conns = append(d.conns, conn)
	d.mu.Unlock()
	return conn, nil
}

func (d *fakeDialer) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dials
}

func (d *fakeDialer) last() *fakeConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conns[len(d.conns)-1]
}

type fakeConn struct {
	client Client
	n      int
	about  ServerInfo
	done   chan struct{}
	once   sync.Once
	err    error
	slow   time.Duration // time that closing takes

	mu      sync.Mutex
	tools   []Tool
	toolErr error
	listed  map[string]int
	log     string
	call    func(ctx context.Context, tool string, progress func(Progress)) (*Result, error)
}

func (c *fakeConn) About() ServerInfo { return c.about }

func (c *fakeConn) count(list string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil {
		c.listed = map[string]int{}
	}
	c.listed[list]++
}

func (c *fakeConn) counted(list string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed[list]
}

func (c *fakeConn) set(tools []Tool, err error) {
	c.mu.Lock()
	c.tools, c.toolErr = tools, err
	c.mu.Unlock()
	c.client.Changed(ToolList)
}

func (c *fakeConn) Tools(context.Context) ([]Tool, string, error) {
	c.count("tools")
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tools), "", c.toolErr
}

func (c *fakeConn) Resources(context.Context) ([]Resource, string, error) {
	c.count("resources")
	return []Resource{{URI: "file:///a"}}, "", nil
}

func (c *fakeConn) Templates(context.Context) ([]Resource, string, error) {
	c.count("templates")
	return nil, "", nil
}

func (c *fakeConn) Prompts(context.Context) ([]Prompt, string, error) {
	c.count("prompts")
	return []Prompt{{Name: "p"}}, "", nil
}

func (c *fakeConn) Call(ctx context.Context, tool string, _ json.RawMessage, progress func(Progress)) (*Result, error) {
	c.count("call")
	if c.call == nil {
		return &Result{Content: []Content{{Text: fmt.Sprint(tool, " of ", c.n)}}}, nil
	}
	return c.call(ctx, tool, progress)
}

func (c *fakeConn) Read(context.Context, string) ([]Content, error) { return nil, nil }
func (c *fakeConn) Subscribe(_ context.Context, uri string) error {
	c.count("subscribe " + uri)
	return nil
}
func (c *fakeConn) Unsubscribe(context.Context, string) error { return nil }
func (c *fakeConn) Prompt(_ context.Context, name string, _ map[string]string) ([]PromptMessage, error) {
	return []PromptMessage{{Role: "user", Content: Content{Text: name}}}, nil
}
func (c *fakeConn) RootsChanged(context.Context) error { c.count("roots"); return nil }
func (c *fakeConn) Done() <-chan struct{}              { return c.done }
func (c *fakeConn) Err() error                         { return c.err }
func (c *fakeConn) Log() string                        { return c.log }
func (c *fakeConn) Close() error {
	time.Sleep(c.slow)
	c.die(nil)
	return nil
}

// die ends the connection.
func (c *fakeConn) die(err error) {
	c.once.Do(func() { c.err = err; close(c.done) })
}

// waits blocks a dial until its context is done.
func waits(ctx context.Context, _ *roster.Entry, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

// A fakeRecord is an in-memory Record.
type fakeRecord map[string]map[string]string

func (r fakeRecord) Compare(_ context.Context, server string, now map[string]string) (map[string]string, error) {
	before := map[string]string{}
	if r[server] == nil {
		r[server] = map[string]string{}
	}
	for name, digest := range now {
		if had, ok := r[server][name]; ok && had != digest {
			before[name] = had
		}
		r[server][name] = digest
	}
	return before, nil
}

// A fakeCache is an in-memory AuthCache.
type fakeCache map[string]bool

func (c fakeCache) Needed(e *roster.Entry) bool { return c[e.Name] }
func (c fakeCache) Note(e *roster.Entry)        { c[e.Name] = true }
func (c fakeCache) Clear(e *roster.Entry)       { delete(c, e.Name) }

// A world is a Servers with a fake dialer that records messages and transitions.
type world struct {
	*Servers
	d   *fakeDialer
	mu  sync.Mutex
	all []string // transitions
	say []string
}

func newWorld(t *testing.T, d *fakeDialer, cfg Config) *world {
	w := &world{d: d}
	cfg.Dialer = d
	cfg.Say = func(text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.say = append(w.say, text)
	}
	cfg.Log = slog.New(&transitionLog{w: w})
	w.Servers = New(cfg)
	t.Cleanup(func() {
		w.Close()
		time.Sleep(2 * time.Hour) // until unresponsive servers have ended, too
	})
	return w
}

func (w *world) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.say)
}

func (w *world) transitions() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.all, " ")
}

// A transitionLog collects logged transitions.
type transitionLog struct {
	slog.Handler
	w *world
}

func (l *transitionLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *transitionLog) Handle(_ context.Context, r slog.Record) error {
	var to string
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "to" {
			to = a.Value.String()
		}
		return true
	})
	if to != "" {
		l.w.mu.Lock()
		defer l.w.mu.Unlock()
		l.w.all = append(l.w.all, to)
	}
	return nil
}

func local(name string) *roster.Entry {
	return &roster.Entry{Name: name, Type: roster.Stdio, Command: name}
}
func remote(name string) *roster.Entry {
	return &roster.Entry{Name: name, Type: roster.HTTP, URL: "https://" + name}
}

func (w *world) state(name string) Status {
	for _, st := range w.List() {
		if st.Name == name {
			return st
		}
	}
	return Status{}
}

func (w *world) mustCall(t *testing.T, name string) {
	t.Helper()
	if _, err := w.Call(t.Context(), name, "echo", nil, nil); err != nil {
		t.Error(err)
	}
}

// TestStates checks all state transitions of a server. Proves MCP-11.
func TestStates(t *testing.T) {
	refuse := func(context.Context, *roster.Entry, int) error { return errors.New("refused") }
	auth := func(_ context.Context, e *roster.Entry, n int) error {
		if n > 1 {
			return nil
		}
		return &AuthError{Server: e.Name, Err: errors.New("401")}
	}
	tests := []struct {
		name  string
		entry *roster.Entry
		dial  func(context.Context, *roster.Entry, int) error
		do    func(*world)
		want  string // transitions
		state State
	}{
		{name: "connects", entry: local("a"), want: "connected", state: Connected},
		{name: "fails", entry: local("a"), dial: refuse, want: "failed", state: Failed},
		{name: "never answers", entry: local("a"), dial: waits, want: "failed", state: Failed},
		{name: "wants a sign-in", entry: remote("a"), dial: auth, want: "needs-auth", state: NeedsAuth},
		{name: "signed in", entry: remote("a"), dial: auth, do: func(w *world) { w.SignedIn(context.Background(), "a") }, want: "needs-auth pending connected", state: Connected},
		{name: "dies", entry: local("a"), do: func(w *world) { w.d.last().die(nil) }, want: "connected pending", state: Pending},
		{name: "disabled", entry: local("a"), do: func(w *world) { w.Enable("a", false) }, want: "connected disabled", state: Disabled},
		{name: "enabled again", entry: local("a"), do: func(w *world) { w.Enable("a", false); w.Enable("a", true) }, want: "connected disabled pending connected", state: Connected},
		{name: "begins disabled", entry: &roster.Entry{Name: "a", Type: roster.Stdio, Disabled: true}, state: Disabled},
		{name: "unapproved", entry: &roster.Entry{Name: "a", Type: roster.Stdio, Unapproved: true}, do: func(w *world) {
			w.Enable("a", true)
			w.Reconnect(context.Background(), "a")
			w.Call(context.Background(), "a", "echo", nil, nil)
		}, state: Unapproved},
		{name: "unapproved, disabled and enabled", entry: &roster.Entry{Name: "a", Type: roster.Stdio, Unapproved: true}, do: func(w *world) {
			w.Enable("a", false)
			w.Enable("a", true)
		}, want: "disabled", state: Disabled},
		{name: "cannot be used", entry: &roster.Entry{Name: "a", Problem: errors.New("no command")}, do: func(w *world) { w.Reconnect(context.Background(), "a") }, state: Failed},
		{name: "connected again", entry: local("a"), do: func(w *world) { w.Reconnect(context.Background(), "a") }, want: "connected pending connected", state: Connected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &fakeDialer{dial: tt.dial}, Config{})
				heard := 0
				w.Watch(func() { heard++; w.List() })
				w.Start([]*roster.Entry{tt.entry})
				w.Wait(t.Context())
				if tt.do != nil {
					tt.do(w)
				}
				synctest.Wait()
				if got := w.transitions(); got != tt.want {
					t.Errorf("transitions %q, want %q", got, tt.want)
				}
				if got := w.state("a").State; got != tt.state {
					t.Errorf("state %s, want %s", got, tt.state)
				}
				if want := len(strings.Fields(tt.want)); heard < want {
					t.Errorf("watchers heard %d times of %d transitions", heard, want)
				}
				if tt.entry.Unapproved && w.d.count() > 0 {
					t.Error("an unapproved server was started")
				}
			})
		})
	}
}

func TestStateTable(t *testing.T) {
	all := []State{Pending, Connected, Failed, NeedsAuth, Disabled, Unapproved}
	for _, from := range all {
		for _, to := range from.next() {
			if to == from || !slices.Contains(all, to) {
				t.Errorf("%s to %s", from, to)
			}
		}
		if slices.Contains(from.next(), Unapproved) {
			t.Errorf("%s takes approval back", from)
		}
	}
}

// Proves MCP-12.
func TestOneAttemptForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{dial: func(context.Context, *roster.Entry, int) error { time.Sleep(time.Second); return nil }}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { w.mustCall(t, "a") })
		}
		wg.Wait()
		if d.count() != 1 {
			t.Errorf("%d processes were started", d.count())
		}
		first := d.last()
		for range 2 {
			if list, err := w.Resources(t.Context(), "a"); err != nil || len(list) != 1 {
				t.Error(list, err)
			}
		}
		if first.counted("tools") != 1 || first.counted("resources") != 1 {
			t.Errorf("listed %v", first.listed)
		}
		// An unchanged configuration keeps its connection; a changed one does not.
		w.Set(t.Context(), []*roster.Entry{local("a")})
		if d.count() != 1 {
			t.Error("the same entry was connected to again")
		}
		other := local("a")
		other.Args = []string{"-v"}
		added, removed, errs := w.Set(t.Context(), []*roster.Entry{other})
		if d.count() != 2 || len(added) != 1 || len(removed) != 1 || len(errs) > 0 {
			t.Error(d.count(), added, removed, errs)
		}
		// A closed server is listed again.
		if err := w.Reconnect(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		w.Resources(t.Context(), "a")
		if l := d.last(); l == first || l.counted("tools") != 1 || l.counted("resources") != 1 {
			t.Errorf("listed %v", l.listed)
		}
	})
}

// TestFailedAttemptIsRepeated checks that a failed attempt is not cached. Proves MCP-12.
func TestFailedAttemptIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{dial: func(_ context.Context, _ *roster.Entry, n int) error {
			if n == 1 {
				return errors.New("not yet")
			}
			return nil
		}}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		if st := w.state("a"); st.State != Failed || len(w.Tools()) != 0 {
			t.Fatal(st)
		}
		if got := w.said(); len(got) != 1 || !strings.Contains(got[0], "the server a failed: not yet") {
			t.Errorf("said %q", got)
		}
		w.mustCall(t, "a")
		if len(w.Tools()) != 1 {
			t.Error("no tools")
		}
	})
}

// Proves MCP-13.
func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &fakeDialer{dial: waits}, Config{})
		began := time.Now()
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("took %v", took)
		}
		if st := w.state("a"); st.State != Failed || st.Err == nil || st.Err.Error() != "it did not answer within 30s" {
			t.Error(st.State, st.Err)
		}
	})
}

// TestBatches checks that ten slow servers connect three at a time, while remote ones do not
// wait for them. Proves MCP-15.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(context.Context, *roster.Entry, int) error { time.Sleep(time.Second); return nil }
		d := &fakeDialer{dial: slow}
		w := newWorld(t, d, Config{})
		var all []*roster.Entry
		for i := range 10 {
			all = append(all, local(fmt.Sprint("l", i)))
		}
		began := time.Now()
		w.Start(all)
		if st := w.List(); len(st) != 10 || st[9].State != Pending {
			t.Error(st)
		}
		time.Sleep(500 * time.Millisecond)
		if len(w.Tools()) != 0 {
			t.Error("tools before they were there")
		}
		time.Sleep(time.Second)
		var up []string
		for _, st := range w.List() {
			if st.State == Connected {
				up = append(up, st.Name)
			}
		}
		if want := []string{"l0", "l1", "l2"}; !slices.Equal(up, want) {
			t.Errorf("connected first: %v", up)
		}
		w.Wait(t.Context())
		if took := time.Since(began); took != 4*time.Second || d.peak != 3 {
			t.Errorf("took %v, with %d at a time", took, d.peak)
		}

		d2 := &fakeDialer{dial: slow}
		w2 := newWorld(t, d2, Config{})
		for i := range 25 {
			all = append(all, remote(fmt.Sprint("r", i)))
		}
		began = time.Now()
		w2.Start(all)
		w2.Wait(t.Context())
		if took := time.Since(began); took != 4*time.Second || d2.peak != 23 {
			t.Errorf("took %v, with %d at a time", took, d2.peak)
		}
	})
}

// TestCallTimeout checks that a call without activity ends, and that progress keeps it alive.
//
// Proves MCP-14.
func TestCallTimeout(t *testing.T) {
	for _, tt := range []struct {
		name  string
		entry *roster.Entry
		call  func(context.Context, string, func(Progress)) (*Result, error)
		want  string
		took  time.Duration
	}{
		{"silent", remote("a"), func(ctx context.Context, _ string, _ func(Progress)) (*Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "no response from server a for 10m", 10 * time.Minute},
		{"deaf to the end of its time", remote("a"), func(ctx context.Context, _ string, _ func(Progress)) (*Result, error) {
			time.Sleep(time.Hour)
			return nil, ctx.Err()
		}, "no response from server a for 10m", 10 * time.Minute},
		{"its own time", &roster.Entry{Name: "a", Type: roster.HTTP, Timeout: time.Second}, func(ctx context.Context, _ string, _ func(Progress)) (*Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "no response from server a for 1s", time.Second},
		{"progress", remote("a"), func(_ context.Context, _ string, progress func(Progress)) (*Result, error) {
			for range 5 {
				time.Sleep(9 * time.Minute)
				progress(Progress{})
			}
			return &Result{}, nil
		}, "", 45 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &fakeDialer{make: func(c *fakeConn) { c.call = tt.call }}, Config{})
				w.Start([]*roster.Entry{tt.entry})
				w.Wait(t.Context())
				began := time.Now()
				_, err := w.Call(t.Context(), "a", "echo", nil, nil)
				if errorText(err) != tt.want || time.Since(began) != tt.took {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// TestQuestionStopsTheClock checks that the timeout does not run during a question to the user.
func TestQuestionStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{make: func(c *fakeConn) {
			c.call = func(ctx context.Context, _ string, _ func(Progress)) (*Result, error) {
				answer, err := c.client.Elicit(ctx, Elicitation{Message: "which?"})
				return &Result{Content: []Content{{Text: answer.Action}}}, err
			}
		}}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{remote("a")})
		bystander := w.Join(Client{})
		defer bystander.Leave()
		sh := w.Join(Client{Elicit: func(context.Context, Elicitation) (Elicited, error) {
			time.Sleep(65 * time.Minute) // offset from the timer's ticks
			return Elicited{Action: "accept"}, nil
		}})
		w.Join(Client{}) // most recent, but has no call
		got, err := sh.Call(t.Context(), "a", "echo", nil, nil)
		if err != nil || got.Content[0].Text != "accept" {
			t.Error(got, err)
		}
		// A question ends with its call.
		sh = w.Join(Client{Elicit: func(ctx context.Context, _ Elicitation) (Elicited, error) {
			<-ctx.Done()
			return Elicited{Action: "cancel"}, nil
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.last().call = func(context.Context, string, func(Progress)) (*Result, error) {
			answer, err := d.last().client.Elicit(context.Background(), Elicitation{Message: "which?"})
			return &Result{Content: []Content{{Text: answer.Action}}}, err
		}
		if _, err := sh.Call(ctx, "a", "echo", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		// Without a call, questions are declined.
		if answer, err := d.last().client.Elicit(t.Context(), Elicitation{}); err != nil || answer.Action != "decline" {
			t.Error(answer, err)
		}
	})
}

// TestAbort checks that a user's abort returns immediately, even if the server does not react.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &fakeDialer{make: func(c *fakeConn) {
			c.call = func(context.Context, string, func(Progress)) (*Result, error) {
				time.Sleep(time.Minute)
				return nil, nil
			}
		}}, Config{})
		w.Start([]*roster.Entry{remote("a")})
		w.Wait(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, err := w.Call(ctx, "a", "echo", nil, nil)
		if !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if st := w.state("a"); st.State != Connected {
			t.Error(st.State)
		}
	})
}

// TestReconnectRemote checks that three consecutive errors end the connection, and that five
// attempts to reconnect follow, with increasing pauses. Proves MCP-18.
func TestReconnectRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var at []time.Duration
		began := time.Now()
		reset := &LostError{errors.New("connection reset")}
		var answers []error
		d := &fakeDialer{
			dial: func(_ context.Context, _ *roster.Entry, n int) error {
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Since(began))
				if n > 1 {
					return errors.New("refused")
				}
				return nil
			},
			make: func(c *fakeConn) {
				c.call = func(context.Context, string, func(Progress)) (*Result, error) {
					err := answers[0]
					answers = answers[1:]
					return &Result{}, err
				}
			},
		}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{remote("a")})
		w.Wait(t.Context())
		// A success in between resets the count.
		answers = []error{reset, reset, nil, reset, reset, errors.New("bad params"), reset, reset, reset}
		for range 8 {
			w.Call(t.Context(), "a", "echo", nil, nil)
		}
		if st := w.state("a"); st.State != Connected {
			t.Fatal(st.State)
		}
		w.Call(t.Context(), "a", "echo", nil, nil)
		if st := w.state("a"); st.State != Pending || len(w.Tools()) != 1 {
			t.Errorf("%s with %d tools", st.State, len(w.Tools()))
		}
		w.Wait(t.Context()) // does not wait for pauses
		time.Sleep(time.Minute)
		want := []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second}
		mu.Lock()
		if diff := cmp.Diff(want, at); diff != "" {
			t.Error(diff)
		}
		mu.Unlock()
		if st := w.state("a"); st.State != Failed || len(w.Tools()) != 0 {
			t.Errorf("%s with %d tools", st.State, len(w.Tools()))
		}
	})
}

// TestReconnectAfterBreak checks that a broken connection is reestablished, and that a call
// does not wait for the pause to end. Proves MCP-18.
func TestReconnectAfterBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{remote("a")})
		w.Wait(t.Context())
		if err := w.Subscribe(t.Context(), "a", "x:y"); err != nil {
			t.Fatal(err)
		}
		var updated []string
		stop := w.OnUpdated(func(server, uri string) { updated = append(updated, server+" "+uri) })
		d.last().client.Updated("x:y")
		stop()
		d.last().client.Updated("x:y")
		if !slices.Equal(updated, []string{"a x:y"}) {
			t.Error(updated)
		}
		before := w.Tools()
		d.last().die(errors.New("stream gone"))
		synctest.Wait()
		if &w.Tools()[0] != &before[0] {
			t.Error("the list changed although nothing did")
		}
		began := time.Now()
		w.mustCall(t, "a")
		synctest.Wait()
		if time.Since(began) != 0 || d.count() != 2 || d.last().counted("subscribe x:y") != 1 {
			t.Error(time.Since(began), d.count(), d.last().listed)
		}
		d.last().die(errors.New("stream gone"))
		time.Sleep(2 * time.Second)
		if st := w.state("a"); st.State != Connected || d.count() != 3 {
			t.Error(st.State, d.count())
		}
	})
}

// TestDeaths checks that a local server that dies is restarted when used, until it has died
// three times in five minutes. Proves MCP-18.
func TestDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		for range 2 {
			d.last().die(errors.New("exit status 1"))
			synctest.Wait()
			if st := w.state("a"); st.State != Pending || len(st.Tools) != 1 || st.Err == nil {
				t.Fatal(st)
			}
			n := d.count()
			time.Sleep(time.Minute)
			if d.count() != n {
				t.Fatal("it was started although nothing uses it")
			}
			w.mustCall(t, "a")
		}
		time.Sleep(3*time.Minute + time.Second) // the first death is too long ago
		d.last().die(nil)
		w.mustCall(t, "a") // also immediately
		d.last().die(errors.New("exit status 3"))
		synctest.Wait()
		_, err := w.Call(t.Context(), "a", "echo", nil, nil)
		if st := w.state("a"); st.State != Failed || err == nil || !strings.Contains(err.Error(), "ended 3 times within 5m, the last time with: exit status 3; the user can start it again with /mcp reconnect a") {
			t.Error(st.State, err)
		}
		if err := w.Reconnect(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		w.mustCall(t, "a")
	})
}

// TestDeathDuringCall checks that a call is not repeated if the server dies during it: the call
// may have had effects.
func TestDeathDuringCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{make: func(c *fakeConn) {
			c.log = "starting\npanic: out of cheese"
			c.call = func(ctx context.Context, _ string, _ func(Progress)) (*Result, error) {
				time.AfterFunc(time.Millisecond, func() { c.die(errors.New("exit status 2")) })
				return nil, &LostError{errors.New("exit status 2")}
			}
		}}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		_, err := w.Call(t.Context(), "a", "echo", nil, nil)
		for _, want := range []string{"the server a ended during the call: exit status 2", "was not retried", "out of cheese"} {
			if !strings.Contains(errorText(err), want) {
				t.Errorf("%v lacks %q", err, want)
			}
		}
		if d.count() != 1 || d.last().counted("call") != 1 {
			t.Error(d.count(), d.last().listed)
		}
	})
}

// Proves MCP-19.
func TestSessionGone(t *testing.T) {
	for times, want := range []string{1: "echo of 2", 2: "the server a cannot be reached: no such session"} {
		if times == 0 {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			d := &fakeDialer{make: func(c *fakeConn) {
				if c.n <= times {
					c.call = func(context.Context, string, func(Progress)) (*Result, error) {
						return nil, &GoneError{errors.New("no such session")}
					}
				}
			}}
			w := newWorld(t, d, Config{})
			w.Start([]*roster.Entry{remote("a")})
			got, err := w.Call(t.Context(), "a", "echo", nil, nil)
			if err != nil {
				got = &Result{Content: []Content{{Text: err.Error()}}}
			}
			if got.Content[0].Text != want {
				t.Errorf("gone %d times: %q", times, got.Content[0].Text)
			}
			w.Wait(t.Context())
			if st := w.state("a"); st.State != Connected || d.count() != times+1 {
				t.Error(st.State, d.count())
			}
		})
	}
}

// TestURLs checks that a call that needs a page to be opened is repeated after the user has
// done so, at most three times.
func TestURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		needs := 1
		d := &fakeDialer{make: func(c *fakeConn) {
			c.call = func(context.Context, string, func(Progress)) (*Result, error) {
				if c.counted("call") <= needs {
					return nil, &URLError{[]Elicitation{{URL: "https://a/pay", ID: "1"}}, errors.New("pay first")}
				}
				return &Result{}, nil
			}
		}}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{remote("a")})
		var opened int
		action := "accept"
		sh := w.Join(Client{Elicit: func(_ context.Context, e Elicitation) (Elicited, error) {
			opened++
			if e.Server != "a" || !e.Await || e.URL != "https://a/pay" {
				t.Error(e)
			}
			return Elicited{Action: action}, nil
		}})
		if _, err := sh.Call(t.Context(), "a", "echo", nil, nil); err != nil || opened != 1 {
			t.Error(err, opened)
		}
		needs = 100
		if _, err := sh.Call(t.Context(), "a", "echo", nil, nil); errorText(err) != "pay first" || opened != 4 {
			t.Error(err, opened)
		}
		action = "decline"
		if _, err := sh.Call(t.Context(), "a", "echo", nil, nil); !strings.Contains(errorText(err), "they did not") || opened != 5 {
			t.Error(err, opened)
		}
		sh.Leave()
	})
}

// TestNeedsAuth checks that a server that required a sign-in is not tried again for a while,
// unless the user requests it.
func TestNeedsAuth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signedIn := false
		d := &fakeDialer{dial: func(context.Context, *roster.Entry, int) error {
			if !signedIn {
				return &AuthError{Server: "a", Err: errors.New("401")}
			}
			return nil
		}}
		cache := fakeCache{}
		w := newWorld(t, d, Config{Auth: cache})
		w.Start([]*roster.Entry{remote("a")})
		w.Wait(t.Context())
		_, err := w.Call(t.Context(), "a", "echo", nil, nil)
		var auth *AuthError
		if !errors.As(err, &auth) || !strings.Contains(err.Error(), "adze mcp login a") {
			t.Error(err)
		}
		if d.count() != 1 || len(w.said()) != 1 || !cache["a"] {
			t.Error(d.count(), w.said(), cache)
		}
		signedIn = true
		w.SignedIn(t.Context(), "a")
		w.Wait(t.Context())
		if st := w.state("a"); st.State != Connected || cache["a"] {
			t.Error(st.State, cache)
		}
		// The token is revoked later.
		d.last().call = func(context.Context, string, func(Progress)) (*Result, error) {
			return nil, &AuthError{Server: "a", Err: errors.New("revoked")}
		}
		_, err = w.Call(t.Context(), "a", "echo", nil, nil)
		if st := w.state("a"); st.State != NeedsAuth || !errors.As(err, &auth) || !cache["a"] || len(w.Tools()) != 0 {
			t.Error(st.State, err)
		}
	})
}

// TestListChanged checks that a changed list is read again, at most once a second, and that an
// unreadable list stays unchanged. Proves MCP-31.
func TestListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		conn := d.last()
		before := w.Tools()
		heard := 0
		stop := w.Watch(func() { heard++ })
		defer stop()
		for range 1000 {
			conn.client.Changed(ToolList)
		}
		time.Sleep(3 * time.Second)
		if n := conn.counted("tools"); n != 2 || heard != 0 || &w.Tools()[0] != &before[0] {
			t.Errorf("listed %d times, heard %d times", n, heard)
		}
		for i := range 10 {
			conn.set([]Tool{{Name: "echo"}, {Name: fmt.Sprint("new", i)}}, nil)
			time.Sleep(250 * time.Millisecond)
		}
		time.Sleep(3 * time.Second)
		if n := conn.counted("tools"); n > 6 {
			t.Errorf("listed %d times", n)
		}
		if got := w.Tools(); len(got) != 2 || got[1].Tool.Name != "new9" {
			t.Error(got)
		}
		for range 3 {
			conn.set(nil, errors.New("busy"))
			time.Sleep(2 * time.Second)
		}
		if st := w.state("a"); len(w.Tools()) != 2 || len(st.Cut) != 1 || len(w.said()) != 1 {
			t.Error(w.Tools(), st.Cut, w.said())
		}
		conn.set([]Tool{{Name: "echo"}}, nil)
		w.Resources(t.Context(), "a")
		conn.client.Changed(ResourceList)
		time.Sleep(2 * time.Second)
		w.Resources(t.Context(), "a")
		if st := w.state("a"); len(w.Tools()) != 1 || len(st.Cut) != 0 || conn.counted("resources") != 2 {
			t.Error(w.Tools(), st.Cut, conn.listed)
		}
	})
}

// TestChangedTools checks that the user is notified once of a changed tool.
func TestChangedTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := false
		d := &fakeDialer{}
		w := newWorld(t, d, Config{Record: fakeRecord{}})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		conn := d.last()
		old := conn.tools[0]
		changed := old
		changed.Description, changed.ReadOnly = "echoes, and mails your keys", &no
		for _, tools := range [][]Tool{{old, {Name: "more"}}, {{Name: "more"}}, {changed}, {changed}} {
			conn.set(tools, nil)
			time.Sleep(2 * time.Second)
		}
		want := []string{"the tool echo of the server a has changed: its description and annotations changed"}
		if diff := cmp.Diff(want, w.said()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, w.state("a").Changes); diff != "" {
			t.Error(diff)
		}
		// Constant changes do not produce constant messages.
		for i := range 1000 {
			changed.Description = fmt.Sprint(i)
			conn.set([]Tool{changed}, nil)
			time.Sleep(2 * time.Second)
		}
		if said := w.said(); len(said) != maxReported+1 || !strings.Contains(said[maxReported], "/mcp a shows them") || len(w.state("a").Changes) != maxChanges {
			t.Errorf("%q, %d changes", said, len(w.state("a").Changes))
		}
	})
}

// TestInterruptedDials checks that running dials do not block Close, Set or Enable.
func TestInterruptedDials(t *testing.T) {
	for name, do := range map[string]func(*world){
		"close":   func(w *world) { w.Close() },
		"set":     func(w *world) { w.Set(context.Background(), nil) },
		"disable": func(w *world) { w.Enable("a", false) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &fakeDialer{dial: waits}, Config{})
				w.Start([]*roster.Entry{local("a"), local("b"), local("c"), local("d")})
				var wg sync.WaitGroup
				var err error
				wg.Go(func() { _, err = w.Call(context.Background(), "a", "echo", nil, nil) })
				synctest.Wait()
				began := time.Now()
				do(w)
				wg.Wait()
				if time.Since(began) != 0 || err == nil {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// TestDisabledDuringCall checks that disabling a server ends its running call.
func TestDisabledDuringCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{make: func(c *fakeConn) {
			c.call = func(ctx context.Context, _ string, _ func(Progress)) (*Result, error) {
				select {
				case <-ctx.Done():
				case <-c.done:
				}
				return nil, errors.New("closed")
			}
		}}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		time.AfterFunc(time.Second, func() { w.Enable("a", false) })
		_, err := w.Call(t.Context(), "a", "echo", nil, nil)
		if !strings.Contains(errorText(err), "the server a was disabled during the call") {
			t.Error(err)
		}
	})
}

// TestCloseTogether checks that all servers are closed concurrently, and that Close takes at
// most 600 ms.
func TestCloseTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := 500 * time.Millisecond
		d := &fakeDialer{make: func(c *fakeConn) { c.slow = slow }}
		w := newWorld(t, d, Config{Local: 40})
		var all []*roster.Entry
		for i := range 40 {
			all = append(all, local(fmt.Sprint("s", i)))
		}
		w.Start(all)
		w.Wait(t.Context())
		began := time.Now()
		w.Close()
		if took := time.Since(began); took != slow {
			t.Errorf("took %v", took)
		}
		w.Close()
		if _, err := w.Call(t.Context(), "s1", "echo", nil, nil); err == nil {
			t.Error("a call after the end")
		}

		stuck := &fakeDialer{make: func(c *fakeConn) { c.slow = time.Hour }}
		w = newWorld(t, stuck, Config{})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		began = time.Now()
		w.Close()
		if took := time.Since(began); took != closeWithin {
			t.Errorf("took %v", took)
		}
	})
}

// TestRoots checks that roots include all conversations' directories, and that servers are
// notified of changes.
func TestRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{}
		w := newWorld(t, d, Config{})
		w.Start([]*roster.Entry{local("a")})
		w.Wait(t.Context())
		w.Join(Client{Roots: func() []string { return []string{"/x", "/y"} }})
		w.Join(Client{Roots: func() []string { return []string{"/y", "/z"} }})
		w.RootsChanged()
		synctest.Wait()
		if got := d.last().client.Roots(); !slices.Equal(got, []string{"/x", "/y", "/z"}) || d.last().counted("roots") != 1 {
			t.Error(got, d.last().listed)
		}
	})
}

// TestResourceCache checks that the resources of at most 100 servers are cached. Proves MCP-31.
func TestResourceCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDialer{}
		w := newWorld(t, d, Config{Remote: 200})
		var all []*roster.Entry
		for i := range maxCached + 1 {
			all = append(all, remote(fmt.Sprint("s", i)))
		}
		w.Start(all)
		w.Wait(t.Context())
		total := func() (n int) {
			for _, c := range d.conns {
				n += c.counted("resources")
			}
			return n
		}
		for range 2 { // s0 is requested again in time, s1 is not
			w.Resources(t.Context(), "s0")
		}
		for i := 1; i < len(all); i++ {
			if i == maxCached {
				w.Resources(t.Context(), "s0")
			}
			w.Resources(t.Context(), all[i].Name)
		}
		before := total()
		w.Resources(t.Context(), "s0")
		if total() != before {
			t.Error("s0 was listed again")
		}
		w.Resources(t.Context(), "s1")
		if total() != before+1 {
			t.Error("s1 was still remembered")
		}
		if _, err := w.Resources(t.Context(), "nope"); !strings.Contains(errorText(err), `no server "nope"; there are: s0, s1`) {
			t.Error(err)
		}
	})
}
