package wire

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"adze/internal/model"
)

const (
	listTimeout = 4 * time.Second
	maxList     = 8 << 20
)

// A ListingDialect dialect has a request that lists the server's models.
type ListingDialect interface {
	// ListPath returns the path of the list, relative to the provider's address.
	ListPath() string
}

// Models returns the names of the server's models if the dialect is [ListingDialect]. It times out
// after four seconds.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	d, ok := p.service.Dialect.(ListingDialect)
	if !ok {
		return nil, &model.Error{Kind: model.Invalid, Message: "the provider does not list its models"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, errNoAnswer(listTimeout))
	defer cancel()
	res, err := p.client.send(ctx, httpRequest{method: http.MethodGet, path: d.ListPath(), accept: "application/json"})
	if err != nil {
		return nil, p.client.scrub(cause(ctx, err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	var list struct {
		Data   []struct{ ID string }   // OpenAI and Anthropic
		Models []struct{ Name string } // Google
	}
	if err != nil || json.Unmarshal(body, &list) != nil {
		return nil, &model.Error{Kind: model.Broken, Message: "the list of models cannot be read", Err: err}
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	for _, m := range list.Models {
		names = append(names, strings.TrimPrefix(m.Name, "models/"))
	}
	return names, nil
}
