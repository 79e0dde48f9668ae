package mcp

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// lists holds a server's offerings from the last listing.
type lists struct {
	about   ServerInfo
	tools   []Tool
	prompts []Prompt
	changes []string
	// toolsCut and promptsCut describe omitted entries; may be empty.
	toolsCut, promptsCut string
	// resources and templates are nil until first requested.
	resources, templates *[]Resource

	subscribed map[string]bool // resource URIs
	listed     time.Time
	dirty      uint8 // changed lists, one bit each
	refreshing bool  // a refresh is scheduled or running
}

func (l *lists) cut() (all []string) {
	for _, text := range []string{l.toolsCut, l.promptsCut} {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// greet lists the offerings of a newly connected server.
func (sv *server) greet(ctx context.Context, conn Conn) (got lists, err error) {
	ctx, cancel := sv.bounded(ctx)
	defer cancel()
	got.about = conn.About()
	if got.about.Tools {
		if got.tools, got.toolsCut, err = conn.Tools(ctx); err != nil {
			return got, fmt.Errorf("listing its tools: %w", sv.explain(ctx, err))
		}
		got.changes = sv.compare(sv.entry, got.tools)
	}
	if got.about.Prompts {
		if got.prompts, got.promptsCut, err = conn.Prompts(ctx); err != nil {
			got.promptsCut = fmt.Sprintf("its prompts could not be listed: %v", sv.explain(ctx, err))
		}
	}
	return got, nil
}

// changed records that a server's list changed. The list is read again, at most once a second.
func (sv *server) changed(l List) {
	sv.mu.Lock()
	defer sv.unlock()
	sv.dirty |= 1 << l
	if sv.conn != nil {
		sv.schedule()
	}
}

// schedule schedules reading a server's lists again. The caller holds the lock.
func (sv *server) schedule() {
	if sv.refreshing || sv.closed {
		return
	}
	sv.refreshing = true
	time.AfterFunc(time.Until(sv.listed.Add(listPause)), func() {
		sv.mu.Lock()
		defer sv.unlock()
		sv.spawn(func() { sv.refresh() })
	})
}

// refresh reads a server's changed lists again. A list that cannot be read stays unchanged.
func (sv *server) refresh() {
	sv.mu.Lock()
	conn, dirty := sv.conn, sv.dirty
	sv.dirty, sv.listed = 0, time.Now()
	if conn == nil || dirty == 0 {
		sv.refreshing = false
		sv.mu.Unlock()
		return
	}
	sv.mu.Unlock()

	ctx, cancel := sv.bounded(sv.ctx)
	defer cancel()
	var now lists
	var toolsErr, promptsErr error
	about := conn.About()
	if about.Tools && dirty&(1<<ToolList) != 0 {
		if now.tools, now.toolsCut, toolsErr = conn.Tools(ctx); toolsErr == nil {
			now.changes = sv.compare(sv.entry, now.tools)
		}
	}
	if about.Prompts && dirty&(1<<PromptList) != 0 {
		now.prompts, now.promptsCut, promptsErr = conn.Prompts(ctx)
	}

	sv.mu.Lock()
	defer sv.unlock()
	sv.refreshing = false
	if sv.conn != conn {
		return
	}
	different := false
	if dirty&(1<<ToolList) != 0 {
		different = sv.relist(&now, toolsErr)
	}
	if dirty&(1<<PromptList) != 0 {
		if promptsErr != nil {
			now.prompts, now.promptsCut = sv.prompts, fmt.Sprintf("its prompts could not be listed again: %v; these are those from before", promptsErr)
		}
		different = different || now.promptsCut != sv.promptsCut || !reflect.DeepEqual(now.prompts, sv.prompts)
		sv.prompts, sv.promptsCut = now.prompts, now.promptsCut
	}
	if dirty&(1<<ResourceList) != 0 && (sv.resources != nil || sv.templates != nil) {
		different = true
		sv.uncache(sv)
	}
	if different {
		sv.news = append(sv.news, stateChange{server: sv.entry.Name})
	}
	if sv.dirty != 0 {
		sv.schedule()
	}
}

// relist stores a server's new tools and reports whether they differ. The caller holds the
// lock.
func (sv *server) relist(now *lists, err error) bool {
	if err != nil {
		text := "its tools could not be listed again; these are those from before"
		if sv.toolsCut != text {
			sv.toolsCut = text
			sv.say(sv, fmt.Sprintf("listing the changed tools of server %s: %v", sv.entry.Name, err))
		}
		return true
	}
	sv.report(sv, now.changes)
	if sv.toolsCut == now.toolsCut && reflect.DeepEqual(sv.tools, now.tools) {
		return len(now.changes) > 0
	}
	sv.tools, sv.toolsCut = now.tools, now.toolsCut
	sv.version++
	return true
}

// Resources lists a server's resources. The list is cached until the server reports a change.
func (s *Servers) Resources(ctx context.Context, server string) ([]Resource, error) {
	return s.resourceList(ctx, server, func(l *lists) **[]Resource { return &l.resources }, Conn.Resources)
}

// Templates lists a server's resource templates, cached like Resources.
func (s *Servers) Templates(ctx context.Context, server string) ([]Resource, error) {
	return s.resourceList(ctx, server, func(l *lists) **[]Resource { return &l.templates }, Conn.Templates)
}

func (s *Servers) resourceList(ctx context.Context, server string, which func(*lists) **[]Resource, list func(Conn, context.Context) ([]Resource, string, error)) ([]Resource, error) {
	s.mu.Lock()
	if sv, err := s.find(server); err == nil && sv.conn != nil {
		if have := *which(&sv.lists); have != nil {
			s.remember(sv)
			s.mu.Unlock()
			return *have, nil
		}
	}
	s.mu.Unlock()
	return use(ctx, s, operation[[]Resource]{server: server, do: func(ctx context.Context, c Conn, _ func()) ([]Resource, error) {
		if !c.About().Resources {
			return nil, fmt.Errorf("the server %s has no resources", server)
		}
		got, _, err := list(c, ctx)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if sv, err := s.find(server); err == nil && sv.conn == c && sv.dirty&(1<<ResourceList) == 0 {
			*which(&sv.lists) = &got
			s.remember(sv)
		}
		return got, nil
	}})
}

// remember caches a server's resources and evicts the least recently used ones. The caller
// holds the lock.
func (b *hub) remember(sv *server) {
	b.cached = append(slices.DeleteFunc(b.cached, func(x *server) bool { return x == sv }), sv)
	if len(b.cached) > maxCached {
		b.uncache(b.cached[0])
	}
}

// uncache drops a server's cached resources. The caller holds the lock.
func (b *hub) uncache(sv *server) {
	sv.resources, sv.templates = nil, nil
	b.cached = slices.DeleteFunc(b.cached, func(x *server) bool { return x == sv })
}

// Prompts returns a server's prompts, connecting if necessary.
func (s *Servers) Prompts(ctx context.Context, server string) ([]Prompt, error) {
	sv, _, err := s.ensure(ctx, server)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return sv.prompts, nil
}

// OnUpdated calls hear when a server reports that a resource changed, until stop is called.
func (b *hub) OnUpdated(hear func(server, uri string)) (stop func()) {
	f := &follower{hear}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.followers = append(b.followers, f)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.followers = slices.DeleteFunc(slices.Clone(b.followers), func(x *follower) bool { return x == f })
	}
}

// A follower is called when resources change.
type follower struct{ hear func(server, uri string) }

func (b *hub) updated(server, uri string) {
	b.mu.Lock()
	followers := slices.Clone(b.followers)
	b.mu.Unlock()
	for _, f := range followers {
		f.hear(server, uri)
	}
}

// Subscribe requests notifications about a resource, also on later connections.
func (s *Servers) Subscribe(ctx context.Context, server, uri string) error {
	_, err := use(ctx, s, operation[struct{}]{server: server, do: func(ctx context.Context, c Conn, _ func()) (struct{}, error) {
		if !c.About().Subscriptions {
			return struct{}{}, fmt.Errorf("the server %s does not tell of changes of its resources", server)
		}
		return struct{}{}, c.Subscribe(ctx, uri)
	}})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sv, err := s.find(server)
	if err != nil {
		return err
	}
	if sv.subscribed == nil {
		sv.subscribed = map[string]bool{}
	}
	sv.subscribed[uri] = true
	return nil
}
