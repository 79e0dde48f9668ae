package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// do queues an operation that runs when the server is ready, in order.
func (c *client) do(op func()) {
	c.ops = append(c.ops, op)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// work runs the queued operations.
func (c *client) work() {
	for {
		select {
		case <-c.wake:
		case <-c.conn.gone:
			return
		}
		c.mu.Lock()
		ops := c.ops
		c.ops = nil
		c.mu.Unlock()
		for _, op := range ops {
			if c.gone() {
				return
			}
			op()
		}
	}
}

// set gives a document a text. It opens the document if necessary. If saved is true, the text is
// the file's content after a change, and the server is notified that it was saved; otherwise it is
// the content before a change.
func (c *client) set(path, text string, saved bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = now
	d := c.docs[path]
	switch {
	case d == nil:
		d = &document{path: path, uri: URI(path), language: c.server.language(path)}
		c.docs[path] = d
	case d.text == text:
		d.used = now
		return
	}
	d.text, d.used = text, now
	d.version++
	uri, version, language := d.uri, d.version, d.language
	d.changed = time.Now()
	switch {
	case version == 1 && !saved:
		d.first, d.expects = true, c.isReady()
	case version == 2 && d.expects:
		d.expects = false
		c.do(func() { c.awaitFirst(d) })
	}
	c.do(func() {
		if version == 1 {
			c.conn.tell("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": language, "version": version, "text": text}}) // ok: the server is gone
		} else {
			c.conn.tell("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": version}, "contentChanges": []any{object{"text": text}}}) // ok: as above
		}
		if saved {
			c.conn.tell("workspace/didChangeWatchedFiles", object{"changes": []any{object{"uri": uri, "type": 2}}}) // ok: as above
			c.conn.tell("textDocument/didSave", object{"textDocument": object{"uri": uri}})                         // ok: as above
		}
		c.pull(path, version)
	})
	c.evict(d)
}

// firstWait limits how long a change is held back until the diagnostics of the text before it have
// arrived: they tell old problems from new ones.
const firstWait = 150 * time.Millisecond

// awaitFirst waits for the diagnostics of a document's first version.
func (c *client) awaitFirst(d *document) {
	deadline := time.After(firstWait)
	for {
		c.mu.Lock()
		known, reported := d.before != nil, c.reported
		c.mu.Unlock()
		if known {
			return
		}
		select {
		case <-reported:
		case <-deadline:
			return
		case <-c.conn.gone:
			return
		}
	}
}

// isReady reports whether the server has started.
func (c *client) isReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

// drop closes a document. If gone is true, its file no longer exists.
func (c *client) drop(path string, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[path]
	if d == nil {
		return
	}
	delete(c.docs, path)
	if d.cancel != nil {
		d.cancel()
	}
	c.do(func() {
		c.conn.tell("textDocument/didClose", object{"textDocument": object{"uri": d.uri}}) // ok: the server is gone
		if gone {
			c.conn.tell("workspace/didChangeWatchedFiles", object{"changes": []any{object{"uri": d.uri, "type": 3}}}) // ok: as above
		}
	})
}

// evict closes the least recently used documents, except keep, if there are too many. The caller
// holds the lock.
func (c *client) evict(keep *document) {
	for {
		size := 0
		var oldest *document
		for _, d := range c.docs {
			size += len(d.text)
			if d != keep && (oldest == nil || d.used.Before(oldest.used)) {
				oldest = d
			}
		}
		if oldest == nil || len(c.docs) <= maxOpen && size <= maxText {
			return
		}
		delete(c.docs, oldest.path)
		uri := oldest.uri
		c.do(func() { c.conn.tell("textDocument/didClose", object{"textDocument": object{"uri": uri}}) }) // ok: the server is gone
	}
}

// pullAll requests the diagnostics of all documents.
func (c *client) pullAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, d := range c.docs {
		version := d.version
		c.do(func() { c.pull(path, version) })
	}
}

// pull requests a document's diagnostics in the background, if the server answers such requests.
// An earlier request for the document is canceled.
func (c *client) pull(path string, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[path]
	if d == nil || !c.pulls || d.version != version {
		return
	}
	if d.cancel != nil {
		d.cancel()
	}
	ctx, cancel := context.WithTimeout(context.Background(), pullTimeout)
	d.cancel = cancel
	c.working.Go(func() {
		defer cancel()
		var answer struct {
			Kind  string          `json:"kind"`
			Items json.RawMessage `json:"items"`
		}
		var err error
		for range pullTries {
			err = c.conn.call(ctx, "textDocument/diagnostic", object{"textDocument": object{"uri": d.uri}}, &answer)
			var refused *responseError
			if !errors.As(err, &refused) || refused.Code != codeContentModified && refused.Code != codeCancelled {
				break
			}
		}
		if err != nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if d.version == version && c.docs[path] == d {
			d.pull, d.pulled = decode(answer.Items), version
			c.report(d)
		}
	})
}

const (
	// quiet is how long a server that does not name versions must be silent until its diagnostics
	// count as complete.
	quiet = 100 * time.Millisecond
	// maxMissed is the number of waits in vain before waiting ends.
	maxMissed = 3
)

// settled reports whether the diagnostics of the document's current version have arrived, or how
// long to wait for more. The caller holds the lock.
func (c *client) settled(d *document, now time.Time) (done bool, wait time.Duration) {
	switch {
	case c.pulls && d.pulled == d.version:
		return true, 0
	case d.pushed != d.version:
		return false, 0
	case !d.unversioned:
		return !c.pulls, 0
	}
	wait = quiet - now.Sub(d.arrived)
	return wait <= 0, wait
}

// await waits until the diagnostics of a document have arrived, or ctx is done. It returns
// immediately if the server rarely reports in time.
func (c *client) await(ctx context.Context, path string) {
	for {
		c.mu.Lock()
		d := c.docs[path]
		if d == nil || d.version == 0 {
			c.mu.Unlock()
			return
		}
		done, wait := c.settled(d, time.Now())
		reported := c.reported
		if done {
			c.missed = 0
		}
		given := c.missed >= maxMissed
		c.mu.Unlock()
		if done || given {
			return
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-reported:
		case <-timer:
		case <-c.conn.gone:
			return
		case <-ctx.Done():
			c.mu.Lock()
			c.missed++
			c.mu.Unlock()
			return
		}
	}
}

// A Problem is a diagnostic of a file's current text. Its texts are from the server: bounded, on
// one line and without control characters.
type Problem struct {
	Path         string
	Line, Column int // one-based; the column counts characters
	Severity     Severity
	Source, Code string
	Message      string
	Text         string // source line, without blanks at its ends
}

// Key identifies the problem independently of its position, so that it is recognized after other
// lines were added or removed.
func (p Problem) Key() string {
	return strings.Join([]string{p.Severity.String(), p.Source, p.Code, p.Message, p.Text}, "\x00")
}

// A Report holds the diagnostics of a file's current text.
type Report struct {
	Problems []Problem // errors first, then warnings; no duplicates
	Server   string
	Version  int
	// Seq differs between any two reports on a file by the same server.
	Seq int
	// Before holds the keys of the problems before the first change; nil if they are not known.
	Before map[string]bool
}

// problems returns a report, or false if the server has not reported on the current text.
func (c *client) problems(path string) (Report, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[path]
	if d == nil || d.version == 0 || d.pushed != d.version && d.pulled != d.version {
		return Report{}, false
	}
	return Report{d.problems(), c.server.Name, d.version, d.seq, d.before}, true
}

// problems returns the errors and warnings of the current version.
func (d *document) problems() []Problem {
	var all []Diagnostic
	if d.pushed == d.version {
		all = append(all, d.push...)
	}
	if d.pulled == d.version {
		all = append(all, d.pull...)
	}
	lines := splitLines(d.text)
	var list []Problem
	seen := map[Problem]bool{}
	for _, g := range all {
		if g.Severity > Warning {
			continue
		}
		p := Problem{Path: d.path, Line: max(g.Range.Start.Line, 0) + 1, Column: 1, Severity: g.Severity, Source: g.Source, Code: codeText(g.Code), Message: g.Message}
		if p.Line <= len(lines) {
			text := lines[p.Line-1]
			p.Column = utf8.RuneCountInString(text[:Offset(text, Position{0, g.Range.Start.Character})]) + 1
			p.Text = line(text)
		}
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

// splitLines returns the lines of a text without their ends.
func splitLines(text string) []string {
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
}

// codeText returns a diagnostic's code, which is a number or a string.
func codeText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		if s = string(raw); s == "null" || strings.HasPrefix(s, "{") {
			s = ""
		}
	}
	return line(s)
}
