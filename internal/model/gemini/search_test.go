package gemini_test

import (
	. "adze/internal/model/gemini"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// TestSearch checks that search results come with the answer and that searches are counted.
//
// Proves WSR-05.
func TestSearch(t *testing.T) {
	body, err := Dialect{}.NewEncoder().EncodeBody(&model.Request{
		Model: "gemini-3", MaxTokens: 100, Messages: []msg.Message{msg.UserText("go")}, Search: &model.Search{Most: 8},
	}, nil)
	if err != nil || !strings.Contains(string(body.Bytes()), `"tools":[{"googleSearch":{}}]`) {
		t.Errorf("%v\n%s", err, body.Bytes())
	}
	const stream = `data: {"responseId":"r","modelVersion":"m","candidates":[{"content":{"parts":[{"text":"Go is a language."}]},"finishReason":"STOP",` +
		`"groundingMetadata":{"webSearchQueries":["go"],"groundingChunks":[{"web":{"uri":"https://redirect.example/1","title":"go.dev"}}],` +
		`"groundingSupports":[{"segment":{"text":"Go is a language."},"groundingChunkIndices":[0,7]}]}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}` + "\n\n"
	var got []model.Event
	var a model.Accumulator
	for e, err := range wire.ReadStream(context.Background(), Dialect{}, io.NopCloser(strings.NewReader(stream)), wire.StreamOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		a.Add(e)
		switch e.(type) {
		case model.SearchQuery, model.SearchResult:
			got = append(got, e)
		}
	}
	want := []model.Event{model.SearchQuery{Query: "go"}, model.SearchResult{Query: "go", Found: []model.Page{
		{Title: "go.dev", URL: "https://redirect.example/1", Site: "go.dev", Snippet: "Go is a language."},
	}}}
	if diff := cmp.Diff(want, got); diff != "" || a.Usage().WebSearches != 1 {
		t.Errorf("usage %+v, events (-want +got):\n%s", a.Usage(), diff)
	}
}
