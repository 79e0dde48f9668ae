package headless

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"adze/internal/msg"
)

// An object is a JSON object being written, on one line. Members appear in the order in which they
// are added, and whatever is added, the object stays valid JSON.
type object struct{ buf []byte }

func (o *object) name(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = msg.AppendString(o.buf, name)
	o.buf = append(o.buf, ':')
}

func (o *object) str(name, value string) {
	o.name(name)
	o.buf = msg.AppendString(o.buf, value)
}

// strOrNull writes an empty value as null.
func (o *object) strOrNull(name, value string) {
	if value == "" {
		o.null(name)
		return
	}
	o.str(name, value)
}

// strIf leaves out an empty value.
func (o *object) strIf(name, value string) {
	if value != "" {
		o.str(name, value)
	}
}

func (o *object) null(name string) {
	o.name(name)
	o.buf = append(o.buf, "null"...)
}

func (o *object) bool(name string, value bool) {
	o.name(name)
	o.buf = strconv.AppendBool(o.buf, value)
}

func (o *object) int(name string, value int64) {
	o.name(name)
	o.buf = strconv.AppendInt(o.buf, value, 10)
}

// float writes what is not a number as the text that says so.
func (o *object) float(name string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		o.str(name, strconv.FormatFloat(value, 'g', -1, 64))
		return
	}
	o.name(name)
	o.buf = strconv.AppendFloat(o.buf, value, 'f', -1, 64)
}

func (o *object) strs(name string, values []string) {
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

// raw writes JSON of another origin. What is not JSON is replaced by the error.
func (o *object) raw(name string, value json.RawMessage) {
	o.name(name)
	b := bytes.NewBuffer(o.buf)
	if err := json.Compact(b, value); err != nil {
		o.buf = msg.AppendString(o.buf, "not valid JSON: "+err.Error())
		return
	}
	o.buf = b.Bytes()
}

// raws writes an array of JSON that was written here.
func (o *object) raws(name string, values []json.RawMessage) {
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

// value writes v as it encodes itself.
func (o *object) value(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = msg.AppendString(nil, err.Error())
	}
	o.raw(name, data)
}

// object writes what fill adds.
func (o *object) object(name string, fill func(*object)) {
	o.name(name)
	var inner object
	fill(&inner)
	o.buf = append(o.buf, inner.bytes()...)
}

// list writes an array of what each yields for 0 to n-1.
func (o *object) list(name string, n int, each func(i int, item *object)) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i := range n {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		var item object
		each(i, &item)
		o.buf = append(o.buf, item.bytes()...)
	}
	o.buf = append(o.buf, ']')
}

func (o *object) parts(name string, parts ...msg.Part) {
	o.name(name)
	o.buf = msg.AppendParts(o.buf, parts)
}

func (o *object) bytes() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}
