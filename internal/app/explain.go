package app

import (
	"errors"
	"strings"

	"adze/internal/model"
)

// explain says what an error of the model means for a person.
func (b *builder) explain(err error, name string) string {
	var e *model.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if m, err := b.lookup(name); err == nil {
		name = m.ID
	}
	text := model.Explain(err, name)
	if near := b.table.Closest(name); e.Kind == model.NoModel && len(near) > 0 {
		text += " Similar names: " + strings.Join(near, ", ") + "."
	}
	return text
}
