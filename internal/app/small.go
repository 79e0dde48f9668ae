package app

import "fmt"

// defaultSmall is asked small questions if nobody says otherwise.
const defaultSmall = "haiku"

// smallModel returns the id of the model for small questions beside the conversation. One that is not known
// is reported once, and the main model is asked instead.
func (b *builder) smallModel() string {
	name := b.settings.Text("ADZE_SMALL_MODEL")
	switch {
	case name == "" && b.backend != nil && b.backend.scripted:
		return scriptedModel
	case name == "":
		name = defaultSmall
	}
	m, err := b.table.Resolve(name)
	if err == nil && m.Known {
		return m.ID
	}
	b.noteSmall.Do(func() {
		b.env.say(fmt.Sprintf("the small model %s is not known; %s is asked instead", name, b.model))
	})
	main, _ := b.resolve(b.model) // ok: it was chosen
	return main.ID
}
