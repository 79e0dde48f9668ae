package plain

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"adze/internal/session"
)

// Choices are numbered, and forms asked for field by field.
func TestDialogs(t *testing.T) {
	five := 5.0
	options := []session.Option{{Label: "red", Description: "like a rose"}, {Label: "blue"}}
	choices := session.Choices{Items: []session.Choice{
		{Header: "Colour", Text: "Which one?", Options: options},
		{Text: "What else?", Options: options, Multiple: true},
	}}
	form := session.Form{From: "weather", Message: "Where are you?", Fields: []session.Field{
		{Name: "city", Title: "City", Description: "The nearest one.", Type: session.TextField, Required: true},
		{Name: "mail", Type: session.TextField, Format: session.EmailFormat},
		{Name: "days", Title: "Days", Type: session.IntegerField, Max: &five, Default: int64(3)},
		{Name: "hourly", Type: session.BooleanField, Required: true},
		{Name: "colours", Type: session.ListField, Options: options},
	}}
	consent := session.Form{Message: "May it begin?"}
	tests := []struct {
		q     session.Question
		lines []string
		want  session.Reply
	}{
		{choices, []string{"", "2", "1, 2"}, session.Selection{Chosen: [][]string{{"blue"}, {"red", "blue"}}}},
		{choices, []string{"something green", "1, green"}, session.Selection{Chosen: [][]string{{"something green"}, {"1, green"}}}},
		{choices, []string{"1", "/skip"}, session.Selection{Declined: true}},
		{form, []string{"", "Lund", "", "9", "", "yes", "2"}, session.Filled{
			Action: session.Accept, Values: map[string]any{"city": "Lund", "days": int64(3), "hourly": true, "colours": []string{"blue"}},
		}},
		{form, []string{"Lund", "/skip"}, session.Filled{Action: session.Decline}},
		{consent, []string{"perhaps", "y"}, session.Filled{Action: session.Accept}},
		{consent, []string{"n"}, session.Filled{Action: session.Decline}},
	}
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say never", nil)
		for _, tt := range tests {
			replies := make(chan session.Reply, 1)
			go func() {
				r, err := c.sessions[0].Ask(t.Context(), tt.q)
				if err != nil {
					t.Error(err)
				}
				replies <- r
			}()
			synctest.Wait()
			for _, line := range tt.lines {
				c.enter(line + "\n")
			}
			if diff := cmp.Diff(tt.want, <-replies); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.lines, diff)
			}
		}
		c.close("dialogs")
	})
}
