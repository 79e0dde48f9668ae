// Package notebook parses Jupyter notebooks and renders them cell by cell for the model. It
// does no I/O; images are passed through unchanged.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Notebook is the content of a notebook file.
type Notebook struct {
	Language string // programming language in lower case; defaults to python
	Cells    []Cell
}

// A Cell is a notebook cell. Outputs are in order of appearance.
type Cell struct {
	ID      string // its own ID, or cell-N, counted from 0
	Type    string // code, markdown or raw
	Source  string
	Outputs []Output
}

// An Output is text or an image.
type Output struct {
	Text      string
	MediaType string // media type of Data
	Data      []byte
}

// A SyntaxError describes why and where a file is not a valid notebook. Lines and columns are
// counted from 1.
type SyntaxError struct {
	Line, Column int
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// The relevant part of the file format.
type (
	file struct {
		Cells    *[]cell `json:"cells"`
		Metadata struct {
			KernelSpec struct {
				Language string `json:"language"`
			} `json:"kernelspec"`
			LanguageInfo struct {
				Name string `json:"name"`
			} `json:"language_info"`
		} `json:"metadata"`
	}
	cell struct {
		ID      string   `json:"id"`
		Type    string   `json:"cell_type"`
		Source  lines    `json:"source"`
		Outputs []output `json:"outputs"`
	}
	output struct {
		Type      string                     `json:"output_type"`
		Text      lines                      `json:"text"`
		Data      map[string]json.RawMessage `json:"data"`
		Name      string                     `json:"ename"`
		Value     string                     `json:"evalue"`
		Traceback []string                   `json:"traceback"`
	}
)

// lines is a text encoded as a string or a list of strings.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(l))
}

// Parse parses a notebook. Its errors are of type [*SyntaxError].
func Parse(data []byte) (*Notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, located(data, err)
	}
	if f.Cells == nil {
		return nil, at(data, 0, "no list of cells in it, so it is not a notebook of format 4")
	}
	n := &Notebook{Language: "python"}
	for _, language := range []string{f.Metadata.LanguageInfo.Name, f.Metadata.KernelSpec.Language} {
		if language != "" {
			n.Language = strings.ToLower(language)
			break
		}
	}
	for i, c := range *f.Cells {
		if c.ID == "" {
			c.ID = fmt.Sprintf("cell-%d", i)
		}
		rendered := Cell{ID: c.ID, Type: c.Type, Source: string(c.Source)}
		for _, o := range c.Outputs {
			rendered.Outputs = append(rendered.Outputs, o.outputs()...)
		}
		n.Cells = append(n.Cells, rendered)
	}
	return n, nil
}

// located adds a position to a decoder error.
func located(data []byte, err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return at(data, syntax.Offset, strings.TrimPrefix(syntax.Error(), "json: "))
	case errors.As(err, &mismatch):
		what := mismatch.Field
		if what == "" {
			what = "the file"
		}
		return at(data, mismatch.Offset, fmt.Sprintf("%s cannot be of the type %s", what, mismatch.Value))
	}
	return at(data, 0, err.Error())
}

// at returns the error for the offset-th byte, counted from 1.
func at(data []byte, offset int64, reason string) error {
	before := data[:max(0, min(int(offset)-1, len(data)))]
	line := bytes.Count(before, []byte("\n"))
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return &SyntaxError{Line: line + 1, Column: column + 1, Reason: reason}
}
