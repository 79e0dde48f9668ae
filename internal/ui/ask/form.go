package ask

import (
	"fmt"
	"strings"

	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// Hint describes the input a field expects.
func Hint(f session.Field) string {
	hint := string(f.Type)
	switch {
	case f.Type == session.BooleanField:
		hint = "yes or no"
	case f.Type == session.ChoiceField:
		hint = "number"
	case f.Type == session.ListField:
		hint = "numbers separated by commas"
	case f.Format != "":
		hint = string(f.Format)
	case f.Type == session.TextField:
		hint = "text"
	}
	if rest := Unfilled(f); rest != "" {
		hint += ", " + rest
	}
	return hint
}

// Unfilled describes the effect of leaving a field empty. It returns "" if the field is
// required.
func Unfilled(f session.Field) string {
	switch {
	case f.Default != nil:
		return "default " + tool.OneLine(spelled(f.Default), MaxAbout)
	case !f.Required:
		return "optional"
	}
	return ""
}

// spelled formats a value as the user would type it.
func spelled(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ", ")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return fmt.Sprint(v)
}

// Fill parses the user's input for a field and stores its value in values. If the input is
// invalid, it returns the reason as a sentence, otherwise "".
func Fill(f session.Field, text string, values map[string]any) string {
	switch {
	case text == "" && f.Default != nil:
		values[f.Name] = f.Default
	case text == "" && f.Required:
		return "A value is required."
	case text != "":
		v, err := f.Parse(text)
		if err != nil {
			return "Invalid value: " + tool.OneLine(err.Error(), MaxAbout) + "."
		}
		values[f.Name] = v
	}
	return ""
}

// Preview returns an option's preview, to be shown below the option.
func Preview(o session.Option) []draw.Row {
	if strings.TrimSpace(o.Preview) == "" {
		return nil
	}
	var rows []draw.Row
	lines := strings.Split(strings.Trim(o.Preview, "\n"), "\n")
	for _, line := range lines[:min(len(lines), MaxPreview)] {
		rows = append(rows, draw.Line(draw.Text, "     | "+draw.Clean(line)))
	}
	if left := len(lines) - MaxPreview; left > 0 {
		rows = append(rows, draw.Line(draw.Text, "     | and "+amount.Of(left, "more line", "more lines")))
	}
	return rows
}
