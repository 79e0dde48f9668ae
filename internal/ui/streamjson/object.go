package streamjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"adze/internal/msg"
)

// An Object is a JSON object built member by member, in call order. It is always valid JSON on
// one line.
type Object struct{ buf []byte }

func (o *Object) name(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = msg.AppendString(o.buf, name)
	o.buf = append(o.buf, ':')
}

// Str adds a string.
func (o *Object) Str(name, value string) {
	o.name(name)
	o.buf = msg.AppendString(o.buf, value)
}

// StrOrNull adds a string, or null if it is empty.
func (o *Object) StrOrNull(name, value string) {
	if value == "" {
		o.Null(name)
		return
	}
	o.Str(name, value)
}

// StrIf adds a string unless it is empty.
func (o *Object) StrIf(name, value string) {
	if value != "" {
		o.Str(name, value)
	}
}

// Null adds a null.
func (o *Object) Null(name string) {
	o.name(name)
	o.buf = append(o.buf, "null"...)
}

// Bool adds a boolean.
func (o *Object) Bool(name string, value bool) {
	o.name(name)
	o.buf = strconv.AppendBool(o.buf, value)
}

// Int adds an integer.
func (o *Object) Int(name string, value int64) {
	o.name(name)
	o.buf = strconv.AppendInt(o.buf, value, 10)
}

// Float adds a number. Infinities and NaN, which JSON lacks, become strings.
func (o *Object) Float(name string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		o.Str(name, strconv.FormatFloat(value, 'g', -1, 64))
		return
	}
	o.name(name)
	o.buf = strconv.AppendFloat(o.buf, value, 'f', -1, 64)
}

// Strs adds an array of strings; nil is an empty array.
func (o *Object) Strs(name string, values []string) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = msg.AppendString(o.buf, v)
	}
	o.buf = append(o.buf, ']')
}

// Raw adds a JSON value without insignificant space. Invalid JSON becomes a string with a
// notice.
func (o *Object) Raw(name string, value json.RawMessage) {
	o.name(name)
	b := bytes.NewBuffer(o.buf)
	if err := json.Compact(b, value); err != nil {
		o.buf = msg.AppendString(o.buf, "not valid JSON: "+err.Error())
		return
	}
	o.buf = b.Bytes()
}

// Raws adds an array of JSON values, which must be valid and on one line.
func (o *Object) Raws(name string, values []json.RawMessage) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = append(o.buf, v...)
	}
	o.buf = append(o.buf, ']')
}

// Value adds v as encoding/json encodes it.
func (o *Object) Value(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = msg.AppendString(nil, err.Error())
	}
	o.Raw(name, data)
}

// Object adds an object with the members that fill adds.
func (o *Object) Object(name string, fill func(*Object)) {
	o.name(name)
	var inner Object
	fill(&inner)
	o.buf = append(o.buf, inner.Bytes()...)
}

// List adds an array of n objects, whose members fill adds.
func (o *Object) List(name string, n int, fill func(i int, item *Object)) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i := range n {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		var item Object
		fill(i, &item)
		o.buf = append(o.buf, item.Bytes()...)
	}
	o.buf = append(o.buf, ']')
}

// Parts adds an array of message parts.
func (o *Object) Parts(name string, parts ...msg.Part) {
	o.name(name)
	o.buf = msg.AppendParts(o.buf, parts)
}

// Bytes returns the object. Nothing can be added afterwards.
func (o *Object) Bytes() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

// Line returns the object as a line of its own.
func (o *Object) Line() []byte { return append(o.Bytes(), '\n') }

// Identified returns the object as a line of the stream, with its session and an ID.
func (o *Object) Identified(session, id string) []byte {
	o.Str("session_id", session)
	o.Str("uuid", id)
	return o.Line()
}

// System returns a line of type system, which describes the session and is not part of the
// conversation.
func System(subtype string) *Object {
	o := &Object{}
	o.Str("type", "system")
	o.Str("subtype", subtype)
	return o
}
