package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/net/transport"
)

// wantsNewer reports whether a server refused to initialize because it only supports the newest
// protocol.
func wantsNewer(err error) bool {
	var rpc *rpcError
	return errors.As(err, &rpc) && (rpc.code == jsonrpc.CodeMethodNotFound || rpc.code == sdk.CodeUnsupportedProtocolVersion)
}

// An rpcError is a server's error response.
type rpcError struct {
	code int64
	text string
}

func (e *rpcError) Error() string { return e.text }

// explain converts an SDK or transport error to a user-facing one, whose type tells callers how
// to react.
func (c *conn) explain(ctx context.Context, err error, q *requestState) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if auth := q.authError(err); auth != nil {
		return auth
	}
	_, status, below := q.outcome()
	var trust *transport.Error
	var unreadable *json.UnmarshalTypeError
	answer := q.refused()
	switch {
	case answer != nil:
		return c.refusal(answer, status)
	case errors.Is(err, sdk.ErrSessionMissing):
		return &mcp.GoneError{Err: errors.New("the server no longer knows the session")}
	case status >= 400:
		return c.statusError(status)
	case errors.As(below, &trust) && trust.Untrusted:
		return fmt.Errorf("%w. %s", trust, trust.Advice)
	case below != nil:
		return &mcp.LostError{Err: errors.New(text(below.Error(), textLimit))}
	case errors.As(err, &unreadable):
		return fmt.Errorf("the server violates the protocol: the field %q is %s", unreadable.Field, unreadable.Value)
	}
	if _, version, ok := strings.Cut(err.Error(), "unsupported protocol version: "); ok {
		return fmt.Errorf("the server speaks the protocol version %s; adze speaks %s", line(version, nameLimit), strings.Join(slices.Sorted(slices.Values(sdk.SupportedProtocolVersions())), ", "))
	}
	if c.link.broken != nil {
		if why := c.link.broken(); why != nil {
			err = why
		}
	}
	if why := c.Err(); why != nil && why != errClosed {
		err = why
	}
	if c.session == nil && c.link.stop == nil {
		return errors.New(text(err.Error(), textLimit))
	}
	return &mcp.LostError{Err: errors.New(text(err.Error(), textLimit))}
}

// refusal converts a server's error response.
func (c *conn) refusal(answer *jsonrpc.Error, status int) error {
	err := &rpcError{answer.Code, text(answer.Message, textLimit)}
	if err.text == "" {
		err.text = fmt.Sprintf("the server answers error %d", answer.Code)
	}
	switch {
	case status == http.StatusNotFound && c.session != nil && c.session.ID() != "":
		return &mcp.GoneError{Err: err}
	case answer.Code == sdk.CodeURLElicitationRequired:
		return &mcp.URLError{Elicitations: elicitations(answer.Data), Err: err}
	}
	return err
}

// elicitations returns the URLs for the user to open.
func elicitations(data json.RawMessage) []mcp.Elicitation {
	var w struct {
		Elicitations []struct{ Message, URL, ElicitationID json.RawMessage }
	}
	json.Unmarshal(data, &w) // ok: unreadable data means none
	var list []mcp.Elicitation
	for _, e := range w.Elicitations[:min(len(w.Elicitations), 10)] {
		if u := line(str(e.URL), uriLimit); u != "" {
			list = append(list, mcp.Elicitation{Message: text(str(e.Message), textLimit), URL: u, ID: line(str(e.ElicitationID), uriLimit)})
		}
	}
	return list
}

// statusError returns the error for a response without a message.
func (c *conn) statusError(status int) error {
	err := fmt.Errorf("the server answers HTTP %d (%s)", status, http.StatusText(status))
	switch {
	case status == http.StatusNotFound && c.session != nil && c.session.ID() != "":
		return &mcp.GoneError{Err: err}
	case c.session == nil && c.entry.Type == roster.HTTP && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
		return fmt.Errorf("%w; check the URL, and if the server speaks the older transport, set the type to sse", err)
	}
	return err
}
