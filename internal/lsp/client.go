package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/proc/osproc"
)

const (
	initTimeout = 60 * time.Second
	pullTimeout = 30 * time.Second
	// maxOpen limits the documents open in a server, and maxText their size in bytes. The least
	// recently used ones are closed.
	maxOpen = 64
	maxText = 2 << 20
	// maxDiagnostics limits the diagnostics kept of a document.
	maxDiagnostics = 200
	// pullTries limits how often a pull that the server canceled is repeated.
	pullTries = 3
)

// prompt is the time in which a server reports that is worth waiting for.
const prompt = 300 * time.Millisecond

// A client is a server for one root, from its start to its end.
type client struct {
	server Server
	root   string
	conn   *conn
	proc   *process // set before ready is closed; nil if it did not start
	ready  chan struct{}

	working sync.WaitGroup

	mu       sync.Mutex
	caps     capabilities
	pulls    bool // the server answers pulls; may be registered late
	docs     map[string]*document
	seen     scan // files at the last scan; set before ready is closed
	ops      []func()
	wake     chan struct{}
	reported chan struct{} // closed and replaced when diagnostics arrive
	seq      *atomic.Int64 // number of the last report of all servers
	missed   int           // waits for diagnostics that ended in vain, in a row
	used     time.Time
	began    time.Time
	name     string // the server's
}

// capabilities holds the features of a server that adze uses.
type capabilities struct {
	Diagnostic      json.RawMessage `json:"diagnosticProvider"`
	Definition      json.RawMessage `json:"definitionProvider"`
	References      json.RawMessage `json:"referencesProvider"`
	Implementation  json.RawMessage `json:"implementationProvider"`
	Hover           json.RawMessage `json:"hoverProvider"`
	DocumentSymbol  json.RawMessage `json:"documentSymbolProvider"`
	WorkspaceSymbol json.RawMessage `json:"workspaceSymbolProvider"`
	CallHierarchy   json.RawMessage `json:"callHierarchyProvider"`
	Rename          json.RawMessage `json:"renameProvider"`
	CodeAction      json.RawMessage `json:"codeActionProvider"`
}

// provided reports whether a capability is offered: true or options.
func provided(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "false" && string(raw) != "null"
}

// A document is a file that is open in a server.
type document struct {
	path, uri, language string
	version             int
	text                string
	used                time.Time
	// push and pull are the diagnostics by their way, for the versions pushed and pulled.
	push, pull     []Diagnostic
	pushed, pulled int
	unversioned    bool
	changed        time.Time // last change of the text
	arrived        time.Time // last report
	cancel         context.CancelFunc
	// before holds the keys of the problems of the first version, if it was the text before a
	// change; nil if they are not known. If expects is true, the next change waits for them.
	before  map[string]bool
	seq     int  // number of the last report
	first   bool // version 1 is the text before a change
	expects bool
}

// newClient starts a server in the background.
func newClient(s Server, root string, cmd osproc.Cmd, runner *osproc.Runner, version string, seq *atomic.Int64, now time.Time) *client {
	c := &client{
		server: s, root: root, conn: newConn(), ready: make(chan struct{}), docs: map[string]*document{},
		wake: make(chan struct{}, 1), reported: make(chan struct{}), seq: seq, used: now, began: now,
	}
	c.conn.request, c.conn.notify = c.answer, c.notified
	go func() {
		defer close(c.ready)
		c.seen = c.look() // before the server reads the files
		p, err := start(runner, cmd, c.conn)
		if err != nil {
			c.conn.close(err)
			return
		}
		c.proc = p
		if err := c.initialize(version); err != nil {
			c.conn.close(fmt.Errorf("%s did not start: %w", cmd.Name, err))
			p.program.Stop()
			return
		}
		c.working.Go(c.work)
	}()
	return c
}

// gone reports whether the connection has ended.
func (c *client) gone() bool {
	select {
	case <-c.conn.gone:
		return true
	default:
		return false
	}
}

// stop ends the server.
func (c *client) stop() {
	c.conn.close(errClosed)
	<-c.ready
	if c.proc != nil {
		c.proc.stop()
	}
	c.working.Wait()
}

type object = map[string]any

// initialize performs the handshake.
func (c *client) initialize(version string) error {
	ctx, cancel := context.WithTimeout(context.Background(), initTimeout)
	defer cancel()
	var result struct {
		Capabilities capabilities `json:"capabilities"`
		ServerInfo   struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"serverInfo"`
	}
	yes := object{"dynamicRegistration": false}
	params := object{
		"processId":  os.Getpid(),
		"clientInfo": object{"name": "adze", "version": version},
		"rootUri":    URI(c.root), "rootPath": c.root,
		"workspaceFolders": []any{c.folder()},
		"capabilities": object{
			"general": object{"positionEncodings": []string{"utf-16"}},
			"window":  object{"workDoneProgress": true},
			"workspace": object{
				"configuration": true, "workspaceFolders": true, "symbol": yes,
				"workspaceEdit":          object{"documentChanges": true},
				"didChangeConfiguration": object{"dynamicRegistration": true},
				"didChangeWatchedFiles":  object{"dynamicRegistration": true},
				"diagnostics":            object{"refreshSupport": true},
			},
			"textDocument": object{
				"synchronization":    object{"didSave": true},
				"publishDiagnostics": object{"versionSupport": true},
				"diagnostic":         object{"dynamicRegistration": true},
				"definition":         object{"linkSupport": false},
				"implementation":     object{"linkSupport": false},
				"references":         yes,
				"callHierarchy":      yes,
				"hover":              object{"contentFormat": []string{"plaintext", "markdown"}},
				"documentSymbol":     object{"hierarchicalDocumentSymbolSupport": true},
				"rename":             object{"prepareSupport": false},
				"codeAction": object{
					"dataSupport": true, "disabledSupport": true, "resolveSupport": object{"properties": []string{"edit"}},
					"codeActionLiteralSupport": object{"codeActionKind": object{"valueSet": []string{"quickfix", "refactor", "source"}}},
				},
			},
		},
	}
	if c.server.Options != nil {
		params["initializationOptions"] = c.server.Options
	}
	if err := c.conn.call(ctx, "initialize", params, &result); err != nil {
		return err
	}
	c.mu.Lock()
	c.caps, c.pulls = result.Capabilities, provided(result.Capabilities.Diagnostic)
	c.name = strings.TrimSpace(line(result.ServerInfo.Name + " " + result.ServerInfo.Version))
	c.mu.Unlock()
	if err := c.conn.tell("initialized", struct{}{}); err != nil {
		return err
	}
	// Some servers do nothing until they have been sent their settings.
	settings := c.server.Settings
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	return c.conn.tell("workspace/didChangeConfiguration", object{"settings": settings})
}

func (c *client) folder() object { return object{"uri": URI(c.root), "name": c.root} }

// answer answers the server's requests.
func (c *client) answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "workspace/configuration":
		var p struct {
			Items []struct {
				Section string `json:"section"`
			} `json:"items"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		values := make([]json.RawMessage, len(p.Items))
		for i, item := range p.Items {
			values[i] = section(c.server.Settings, item.Section)
		}
		return values, nil
	case "client/registerCapability":
		if strings.Contains(string(params), `"textDocument/diagnostic"`) {
			c.mu.Lock()
			c.pulls = true
			c.mu.Unlock()
			c.pullAll()
		}
		return nil, nil
	case "workspace/diagnostic/refresh":
		c.pullAll()
		return nil, nil
	case "workspace/workspaceFolders":
		return []any{c.folder()}, nil
	case "workspace/applyEdit":
		return object{"applied": false, "failureReason": "adze applies no edits that it did not request"}, nil
	case "window/showDocument":
		return object{"success": false}, nil
	case "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh",
		"workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		return nil, nil
	}
	return nil, errors.New("adze does not support " + line(method))
}

// section returns the part of settings at a dotted path, or null.
func section(settings json.RawMessage, path string) json.RawMessage {
	if len(settings) == 0 {
		return json.RawMessage("null")
	}
	for name := range strings.SplitSeq(path, ".") {
		if name == "" {
			break
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(settings, &members) != nil || members[name] == nil {
			return json.RawMessage("null")
		}
		settings = members[name]
	}
	return settings
}

// notified handles the server's notifications.
func (c *client) notified(method string, params json.RawMessage) {
	if method != "textDocument/publishDiagnostics" {
		return
	}
	var p struct {
		URI         string          `json:"uri"`
		Version     *int            `json:"version"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	path := Path(p.URI)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[path]
	if d == nil || d.version == 0 || p.Version != nil && *p.Version != d.version {
		return // closed, or another version
	}
	d.push, d.pushed, d.unversioned = decode(p.Diagnostics), d.version, p.Version == nil
	c.report(d)
}

// report wakes the waiting goroutines. The caller holds the lock.
func (c *client) report(d *document) {
	d.arrived = time.Now()
	d.seq = int(c.seq.Add(1))
	if d.arrived.Sub(d.changed) < prompt {
		c.missed = 0
	}
	if d.version == 1 && d.first {
		d.before = map[string]bool{}
		for _, p := range d.problems() {
			d.before[p.Key()] = true
		}
	}
	close(c.reported)
	c.reported = make(chan struct{})
}

// decode decodes diagnostics one by one, so that an invalid one does not hide the others, and a
// flood does not fill the memory. Errors are kept first.
func decode(raw json.RawMessage) []Diagnostic {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var errs, others []Diagnostic
	for _, one := range all {
		var d Diagnostic
		if json.Unmarshal(one, &d) != nil {
			continue
		}
		if d.Severity < Error || d.Severity > Hint {
			d.Severity = Error
		}
		if len(d.Code) > maxMessageText {
			d.Code = nil
		}
		d.Message, d.Source = line(d.Message), line(d.Source)
		switch {
		case d.Severity == Error && len(errs) < maxDiagnostics:
			errs = append(errs, d)
		case d.Severity != Error && len(others) < maxDiagnostics:
			others = append(others, d)
		}
	}
	list := append(errs, others...)
	return slices.Clip(list[:min(len(list), maxDiagnostics)])
}
