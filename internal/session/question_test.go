package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
)

// asked returns the open question, or a zero Asked.
func (b *bench) asked() session.Asked {
	var open session.Asked
	for e := range b.Entries(b.t.Context(), 0, session.Latest) {
		switch ev := e.Event.(type) {
		case session.Asked:
			open = ev
		case session.Settled:
			open = session.Asked{}
		}
		if e.Seq == b.Last() {
			break
		}
	}
	return open
}

// Proves PERM-16.
func TestQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "say never", nil)
		ask := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() {
				a, err := b.AskPermission(ctx, permission.Question{ID: "use", Tool: "Bash"})
				if err == nil && a.Behavior != permission.Allow {
					err = errors.New("denied")
				}
				done <- err
			}()
			synctest.Wait()
			if q, ok := b.asked().Question.(session.Permission); !ok || q.Tool != "Bash" {
				t.Errorf("question %+v", q)
			}
			return done
		}

		done := ask(t.Context())
		id := b.asked().ID
		if err := b.Submit(t.Context(), session.Answer{ID: id, Reply: session.Selection{Declined: true}}); err == nil {
			t.Error("a reply of another kind was taken")
		}
		b.submit(session.Answer{ID: id, Reply: session.Decision{Answer: permission.Answer{Behavior: permission.Allow}}})
		if err := b.Submit(t.Context(), session.Answer{ID: id, Reply: session.Permission{}.Unanswered()}); err == nil {
			t.Error("a second answer was taken")
		}
		if err := <-done; err != nil {
			t.Errorf("the first answer did not count: %v", err)
		}

		ctx, interrupt := context.WithCancelCause(t.Context())
		done = ask(ctx)
		id = b.asked().ID
		interrupt(tool.AbortUser)
		if err := <-done; !errors.Is(err, tool.AbortUser) {
			t.Errorf("withdrawn with %v", err)
		}
		if err := b.Submit(t.Context(), session.Answer{ID: id, Reply: session.Permission{}.Unanswered()}); err == nil || b.asked().ID != "" {
			t.Error("a question that was withdrawn is still open")
		}

		b.Close()
		var settled []bool
		for e := range b.Entries(t.Context(), 0, session.Latest) {
			if s, ok := e.Event.(session.Settled); ok {
				settled = append(settled, s.Reply != nil)
			}
		}
		if len(settled) != 2 || !settled[0] || settled[1] {
			t.Errorf("settled: %v", settled)
		}
	})
}

// TestRepliesFitTheirQuestions checks that an invalid answer leaves the question open, and that
// the reply of Unanswered is valid for each type.
func TestRepliesFitTheirQuestions(t *testing.T) {
	two := 2.0
	options := []session.Option{{Label: "red"}, {Label: "blue"}}
	choices := session.Choices{Items: []session.Choice{{Text: "Which?", Options: options}, {Text: "What else?", Options: options, Multiple: true}}}
	form := session.Form{Fields: []session.Field{
		{Name: "name", Type: session.TextField, Required: true, Min: &two},
		{Name: "age", Type: session.IntegerField},
	}}
	tests := []struct {
		name  string
		q     session.Question
		wrong map[string]session.Reply
		right session.Reply
	}{
		{
			name: "permission", q: session.Permission{},
			wrong: map[string]session.Reply{"does not answer": session.Filled{Action: session.Cancel}},
			right: session.Decision{Answer: permission.Answer{Behavior: permission.Deny, By: permission.Headless}},
		},
		{
			name: "choices", q: choices,
			wrong: map[string]session.Reply{
				"does not answer": session.Decision{},
				"1 of 2":          session.Selection{Chosen: [][]string{{"red"}}},
				"has 2 answers":   session.Selection{Chosen: [][]string{{"red", "blue"}, {"red"}}},
			},
			right: session.Selection{Chosen: [][]string{{"green"}, {"red", "blue"}}},
		},
		{
			name: "form", q: form,
			wrong: map[string]session.Reply{
				"does not answer":     session.Selection{Declined: true},
				"accepted, declined":  session.Filled{},
				"a value is required": session.Filled{Action: session.Accept},
				"at least 2":          session.Filled{Action: session.Accept, Values: map[string]any{"name": "x"}},
				"not a value":         session.Filled{Action: session.Accept, Values: map[string]any{"name": "xx", "age": "old"}},
				"no field":            session.Filled{Action: session.Accept, Values: map[string]any{"name": "xx", "more": true}},
			},
			right: session.Filled{Action: session.Accept, Values: map[string]any{"name": "xx", "age": int64(3)}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, "say never", nil)
				defer b.Close()
				for _, right := range []session.Reply{tt.right, tt.q.Unanswered()} {
					replies := make(chan session.Reply, 1)
					go func() {
						r, err := b.Ask(t.Context(), tt.q)
						if err != nil {
							t.Error(err)
						}
						replies <- r
					}()
					synctest.Wait()
					id := b.asked().ID
					for want, r := range tt.wrong {
						if err := b.Submit(t.Context(), session.Answer{ID: id, Reply: r}); err == nil || !strings.Contains(err.Error(), want) {
							t.Errorf("%+v: %v, want %q", r, err, want)
						}
					}
					b.submit(session.Answer{ID: id, Reply: right})
					if diff := cmp.Diff(right, <-replies); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				}
			})
		})
	}
}

func TestFormFill(t *testing.T) {
	options := []session.Option{{Label: "red"}, {Label: "blue"}}
	form := session.Form{Fields: []session.Field{
		{Name: "n", Type: session.IntegerField, Required: true},
		{Name: "x", Type: session.NumberField, Default: 0.5},
		{Name: "s", Title: "Text", Type: session.TextField},
		{Name: "l", Type: session.ListField, Options: options},
	}}
	for _, tt := range []struct {
		content string
		want    map[string]any
		err     string
	}{
		{content: `{"n":3,"x":2,"s":"a","l":["blue"]}`, want: map[string]any{"n": int64(3), "x": 2.0, "s": "a", "l": []string{"blue"}}},
		{content: `{"n":3.0,"s":null}`, want: map[string]any{"n": int64(3), "x": 0.5}},
		{content: `{"n":1e3}`, want: map[string]any{"n": int64(1000), "x": 0.5}},
		{content: ``, err: "n: a value is required"},
		{content: `{}`, err: "n: a value is required"},
		{content: `[1]`, err: "the values are not a JSON object"},
		{content: `{"n":1.5}`, err: "n: 1.5 is not a value of the type integer"},
		{content: `{"n":1e400}`, err: "n: 1e400 is not a value of the type integer"},
		{content: `{"n":"1","s":2,"l":[1],"y":1}`, err: "n: 1 is not a value of the type integer\nText: 2 is not a value of the type string\nl: 1 is not an option\nthe form has no field \"y\""},
		{content: `{"n":1,"l":["green"]}`, err: `l: "green" is not an option`},
		{content: `{"n":1,"s":{"a":1}}`, err: "Text: map[a:1] is not a value of the type string"},
	} {
		got, err := form.Fill([]byte(tt.content))
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v, want %s", tt.content, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.content, err, diff)
		}
	}
}

func TestFieldParse(t *testing.T) {
	one, three := 1.0, 3.0
	options := []session.Option{{Label: "red"}, {Label: "blue"}}
	tests := []struct {
		field session.Field
		text  string
		want  any
		err   string
	}{
		{field: session.Field{Type: session.TextField}, text: "x", want: "x"},
		{field: session.Field{Type: session.TextField, Max: &three}, text: "übel", err: "at most 3 characters"},
		{field: session.Field{Type: session.TextField, Format: session.EmailFormat}, text: "a@b.example", want: "a@b.example"},
		{field: session.Field{Type: session.TextField, Format: session.EmailFormat}, text: "A <a@b.example>", err: "format email"},
		{field: session.Field{Type: session.TextField, Format: session.URIFormat}, text: "b.example", err: "format uri"},
		{field: session.Field{Type: session.TextField, Format: session.DateFormat}, text: "2026-02-30", err: "format date"},
		{field: session.Field{Type: session.TextField, Format: session.DateTimeFormat}, text: "2026-02-03T04:05:06Z", want: "2026-02-03T04:05:06Z"},
		{field: session.Field{Type: session.NumberField, Min: &one}, text: "0.5", err: "at least 1"},
		{field: session.Field{Type: session.NumberField}, text: "0.5", want: 0.5},
		{field: session.Field{Type: session.NumberField}, text: "NaN", err: "number"},
		{field: session.Field{Type: session.NumberField}, text: "inf", err: "number"},
		{field: session.Field{Type: session.IntegerField}, text: "0.5", err: "integer"},
		{field: session.Field{Type: session.IntegerField}, text: "-5", want: int64(-5)},
		{field: session.Field{Type: session.BooleanField}, text: "Yes", want: true},
		{field: session.Field{Type: session.BooleanField}, text: "no", want: false},
		{field: session.Field{Type: session.BooleanField}, text: "maybe", err: "yes or no"},
		{field: session.Field{Type: session.ChoiceField, Options: options}, text: "2", want: "blue"},
		{field: session.Field{Type: session.ChoiceField, Options: options}, text: "3", err: `"3" is not an option`},
		{field: session.Field{Type: session.ListField, Options: options, Min: &one}, text: "1, blue", want: []string{"red", "blue"}},
		{field: session.Field{Type: session.ListField, Options: options}, text: "green", err: "not an option"},
	}
	for _, tt := range tests {
		got, err := tt.field.Parse(tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %q: %v, want %q", tt.field.Type, tt.text, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s %q: %v (-want +got):\n%s", tt.field.Type, tt.text, err, diff)
		}
	}
}
