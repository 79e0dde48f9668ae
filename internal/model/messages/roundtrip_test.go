package messages

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/msg"
)

// text draws a text that a server accepts and that does not name another dialect.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return "X" + rapid.String().Draw(t, "text") })
}

func media() *rapid.Generator[msg.Part] {
	return rapid.Custom(func(t *rapid.T) msg.Part {
		data := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "data")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return &msg.Image{MediaType: "image/png", Data: data}
		case 1:
			return &msg.Document{MediaType: "application/pdf", Title: rapid.String().Draw(t, "title"), Data: data}
		}
		return &msg.Text{Text: text().Draw(t, "text")}
	})
}

// conversation draws a well-formed conversation that ends with the user.
func conversation() *rapid.Generator[[]msg.Message] {
	return rapid.Custom(func(t *rapid.T) []msg.Message {
		var results []msg.Part
		var all []msg.Message
		ids := 0
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			all = append(all, msg.Message{Role: msg.User, Parts: append(results, media().Draw(t, "prompt"))})
			results = nil
			var said []msg.Part
			if rapid.Bool().Draw(t, "thinks") {
				said = append(said, &msg.Thinking{Text: rapid.String().Draw(t, "thought"), Signature: text().Draw(t, "sig")})
				said = append(said, &msg.Redacted{Data: text().Draw(t, "redacted")})
			}
			said = append(said, &msg.Text{Text: text().Draw(t, "said")})
			uses := rapid.SampledFrom([]int{0, 1, 2, 3, 12}).Draw(t, "uses") // 12 uses keep an older mark
			for range uses {
				ids++
				id := fmt.Sprintf("toolu_%d", ids)
				in, _ := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
				said = append(said, msg.NewToolUse(id, "Read", string(in)))
				results = append(results, &msg.ToolResult{
					ID: id, IsError: rapid.Bool().Draw(t, "error"),
					Parts: rapid.SliceOfN(media(), 1, 3).Draw(t, "result"),
				})
			}
			all = append(all, msg.Message{Role: msg.Assistant, Parts: said})
		}
		return append(all, msg.Message{Role: msg.User, Parts: append(results, &msg.Text{Text: "end"})})
	})
}

// TestRoundTrip checks that a conversation survives the wire, that every request is valid, and
// that none has more than four marks.
//
// Proves PROV-10, CTX-15.
func TestRoundTrip(t *testing.T) {
	places := rapid.Custom(func(t *rapid.T) model.Mark {
		return model.Mark{
			Place: model.Place(rapid.IntRange(0, 2).Draw(t, "place")),
			Index: rapid.IntRange(-1, 6).Draw(t, "index"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := request(0)
		for range 5 {
			r.System = append(r.System, &msg.Text{Text: "more"})
		}
		r.Messages = conversation().Draw(t, "messages")
		r.Cache = rapid.SliceOfN(places, 0, 12).Draw(t, "marks")
		var e Encoder
		body, err := e.Encode(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(body); err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		var back struct{ Messages []msg.Message }
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Messages, back.Messages); diff != "" {
			t.Fatalf("messages (-sent +parsed):\n%s", diff)
		}
	})
}
