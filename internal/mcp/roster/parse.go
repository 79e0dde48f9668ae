package roster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/text/jsonc"
)

// MaxFile limits the size of a servers file in bytes.
const MaxFile = 1 << 20

// Limits on entries and their number.
const (
	maxServers = 1000
	maxItems   = 1000     // entries in a list or object
	maxText    = 64 << 10 // maximum length in bytes
)

// A Source identifies the origin of entries.
type Source struct {
	Scope Scope
	File  string // empty for the command line and for hosts
	// Getenv returns a variable's value.
	Getenv func(string) string
	// Option returns an option's value for the entries' plugin, for ${user_config.NAME}; nil if
	// they do not belong to a plugin.
	Option func(string) (value string, ok bool)
}

// A Problem is a configuration error not tied to an entry.
type Problem struct{ Where, Text string }

// String returns the problem as a line.
func (p Problem) String() string { return strings.TrimPrefix(p.Where+": "+p.Text, ": ") }

// Parse parses an object of servers, in the order written. If a name occurs more than once, the
// last entry counts, as usual in JSON.
func Parse(src Source, servers json.RawMessage) ([]*Entry, error) {
	root, err := jsonc.Parse(servers)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is not JSON: %w", err)
	case root == nil || root.Kind == jsonc.Null:
		return nil, nil
	case root.Kind != jsonc.Object:
		return nil, errors.New("mcpServers is not an object by server name")
	case len(root.Members) > maxServers:
		return nil, fmt.Errorf("has more than %d servers", maxServers)
	}
	var list []*Entry
	for _, m := range root.Members {
		list = slices.DeleteFunc(list, func(e *Entry) bool { return e.Given == m.Name })
		list = append(list, src.Entry(m.Name, jsonc.Plain(servers, m.Value)))
	}
	return list, nil
}

// ParseFile parses a file's entries: an object with mcpServers.
func ParseFile(src Source, data []byte) ([]*Entry, error) {
	root, err := jsonc.Parse(data)
	var syntax *jsonc.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("is not JSON: %s in line %d", syntax.Text, 1+bytes.Count(data[:min(syntax.Offset, len(data))], []byte("\n")))
	case root == nil:
		return nil, nil
	case root.Kind != jsonc.Object:
		return nil, errors.New(`is not an object {"mcpServers": {...}}`)
	}
	for _, m := range slices.Backward(root.Members) {
		if m.Name == "mcpServers" {
			return Parse(src, jsonc.Plain(data, m.Value))
		}
	}
	if len(root.Members) > 0 && src.File == "" {
		return nil, errors.New(`has no mcpServers; write {"mcpServers": {"NAME": {...}}}`)
	}
	return nil, nil
}

// Entry parses an entry. Errors are stored in its Problem.
func (src Source) Entry(given string, raw json.RawMessage) *Entry {
	e := &Entry{Given: given, Name: Name(given), Scope: src.Scope, File: src.File, Raw: raw}
	r := &reader{Entry: e, values: values{src.Getenv, src.Option}}
	e.Problem = cmp.Or(checkName(given, e.Name), r.read())
	return e
}

// A reader parses an entry's fields.
type reader struct {
	*Entry
	fields map[string]json.RawMessage
	values values
	err    error // first error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) read() error {
	if err := json.Unmarshal(r.Raw, &r.fields); err != nil || r.fields == nil {
		return errors.New("the entry is not an object")
	}
	kind := r.plain("type")
	r.Command, r.URL = r.text("command"), r.text("url")
	r.Type = typeOf(kind, r.Command, r.URL)
	r.Args = r.list("args")
	r.Env = r.object("env", variableName)
	r.Headers = r.object("headers", headerName)
	r.HeadersHelper = r.plain("headersHelper")
	r.times()
	r.AlwaysLoad = string(r.take("alwaysLoad")) == "true"
	r.Disabled = string(r.take("disabled")) == "true"
	r.signIn()
	if name := r.take("name"); r.Type != Host && name != nil {
		r.fields["name"] = name // treated as an unknown field
	}
	if len(r.fields) > 0 {
		var names []string
		for name := range r.fields {
			names = append(names, Shown(name))
		}
		slices.Sort(names)
		r.Warnings = append(r.Warnings, "unknown fields are ignored: "+strings.Join(names[:min(len(names), 10)], ", "))
	}
	if r.err == nil {
		r.check(kind)
	}
	return r.err
}

// typeOf returns an entry's type.
func typeOf(kind, command, address string) Type {
	switch t := Type(kind); {
	case kind == "" && command == "" && address != "":
		return HTTP
	case kind == "":
		return Stdio
	case kind == "streamable-http" || kind == "streamableHttp":
		return HTTP
	case kind == "claudeai-proxy":
		return Proxy
	default:
		return t
	}
}

// check checks whether the fields are consistent.
func (r *reader) check(kind string) {
	for name, value := range r.Headers {
		if strings.ContainsAny(value, "\r\n\x00") {
			r.fail("the header %s has a line break", name)
		}
	}
	switch r.Type {
	case Stdio:
		switch {
		case r.Command == "":
			r.fail("command is missing")
		case r.URL != "":
			r.fail(`it has both a command and a URL; remove one, or write "type": "http"`)
		}
	case Host:
		if r.Scope != Flag {
			r.fail("the type sdk is for programs that start adze")
		}
	case HTTP, SSE, SSEIDE, Proxy:
		r.address("http", "https")
	case WS, WSIDE:
		r.address("ws", "wss")
	default:
		r.fail("the type %s is unknown; use stdio, http, sse or ws", Shown(kind))
	}
}

// address checks a remote server's URL.
func (r *reader) address(open, safe string) {
	if r.Command != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("command is ignored, because the type is %s", r.Type))
		r.Command, r.Args = "", nil
	}
	u, err := url.Parse(r.URL)
	switch {
	case r.URL == "":
		r.fail("url is missing")
	case err != nil, u.Hostname() == "", u.Scheme != open && u.Scheme != safe:
		r.fail("url is not an address that begins with %s:// or %s://", safe, open) // the address may hold a token, so it is not shown
	case u.User != nil:
		r.fail("url has a user name or a password in it; use headers")
	case u.Scheme == open && !loopback(u.Hostname()) && (len(r.Headers) > 0 || r.HeadersHelper != "" || r.OAuth != nil):
		r.Warnings = append(r.Warnings, fmt.Sprintf("the headers are sent unencrypted; use %s:// if the server has it", safe))
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// take removes a field and returns it.
func (r *reader) take(name string) json.RawMessage {
	raw := r.fields[name]
	delete(r.fields, name)
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// plain returns a text without expanding it.
func (r *reader) plain(name string) (text string) {
	if raw := r.take(name); raw != nil && json.Unmarshal(raw, &text) != nil {
		r.fail("%s is not a text", name)
	}
	r.bound(name, text)
	return text
}

func (r *reader) bound(name, text string) {
	switch {
	case len(text) > maxText:
		r.fail("%s is longer than %d KB", name, maxText>>10)
	case strings.ContainsRune(text, 0):
		r.fail("%s has a null character", name)
	}
}

func (r *reader) expand(name, text string) string {
	text, err := expand(text, r.values)
	if err != nil {
		r.fail("%s: %w", name, err)
	}
	r.bound(name, text)
	return text
}

func (r *reader) text(name string) string { return r.expand(name, r.plain(name)) }

func (r *reader) list(name string) (list []string) {
	if raw := r.take(name); raw != nil && json.Unmarshal(raw, &list) != nil {
		r.fail("%s is not a list of texts", name)
		return nil
	}
	if len(list) > maxItems {
		r.fail("%s has more than %d items", name, maxItems)
		return nil
	}
	for i := range list {
		list[i] = r.expand(name, list[i])
	}
	return list
}

// object parses an object of strings. Numbers and booleans are used as written.
func (r *reader) object(field string, valid func(name string) bool) map[string]string {
	raw := r.take(field)
	if raw == nil {
		return nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		r.fail("%s is not an object of texts", field)
		return nil
	}
	if len(given) > maxItems {
		r.fail("%s has more than %d items", field, maxItems)
		return nil
	}
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		text := string(value)
		switch {
		case !valid(name):
			r.fail("%s has a wrong name %s", field, Shown(name))
			continue
		case value[0] == '"':
			json.Unmarshal(value, &text) // ok: it was JSON before
		case value[0] == '{' || value[0] == '[' || value[0] == 'n':
			r.fail("%s.%s is not a text", field, name)
			continue
		}
		values[name] = r.expand(field+"."+name, text)
	}
	return values
}

// variableName reports whether name is a valid environment variable name.
func variableName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '=' || r >= 0x7f })
}

// headerName reports whether name is a valid header name.
func headerName(name string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return name != ""
}

// times parses the call timeout, in milliseconds.
func (r *reader) times() {
	raw := r.take("timeout")
	if raw == nil {
		return
	}
	var ms float64
	if json.Unmarshal(raw, &ms) != nil || !(ms >= 1) || ms > math.MaxInt32 {
		r.Warnings = append(r.Warnings, "timeout is not a positive number of milliseconds, and is ignored")
		return
	}
	r.Timeout = time.Duration(ms * float64(time.Millisecond))
}

// signIn parses the entry's sign-in options.
func (r *reader) signIn() {
	raw := r.take("oauth")
	if raw == nil {
		return
	}
	if string(raw) == "false" || string(raw) == "true" { // others write this: sign-in is tried in any case
		return
	}
	var o OAuth
	if err := json.Unmarshal(raw, &o); err != nil {
		r.fail("oauth is not an object with clientId, clientSecret, callbackPort, authServerMetadataUrl or scopes")
		return
	}
	o.ClientID, o.ClientSecret = r.expand("oauth.clientId", o.ClientID), r.expand("oauth.clientSecret", o.ClientSecret)
	o.MetadataURL = r.expand("oauth.authServerMetadataUrl", o.MetadataURL)
	switch u, err := url.Parse(o.MetadataURL); {
	case o.CallbackPort < 0 || o.CallbackPort > 65535:
		r.fail("oauth.callbackPort is not a port")
	case o.MetadataURL != "" && (err != nil || u.Hostname() == "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname()))):
		r.fail("oauth.authServerMetadataUrl is not an https:// address")
	case len(o.Scopes) > maxItems:
		r.fail("oauth.scopes has more than %d items", maxItems)
	}
	r.OAuth = &o
}

// base returns a program's name without its directory.
func base(command string) string { return filepath.Base(command) }
