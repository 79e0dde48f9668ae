package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxDepth limits the nesting of inputs and schemas, and with it the recursion over them.
const maxDepth = 64

// A kind is the JSON type of a value, or a set of types as a bit mask.
type kind uint8

const (
	null kind = 1 << iota
	boolean
	integer // a number without a fraction; only schemas ask for it
	number
	text
	array
	object
)

// names lists the JSON Schema names of the kinds, in bit order.
func names() []string {
	return []string{"null", "boolean", "integer", "number", "string", "array", "object"}
}

func (k kind) String() string {
	var list []string
	for i, name := range names() {
		if k&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, " or ")
}

// A value is a JSON value with its position in the text.
type value struct {
	kind       kind
	start, end int
	text       string  // decoded string, or a number or boolean as written
	items      []value // array elements
	fields     []field // object fields
}

type field struct {
	key string
	value
	repeated bool // an earlier field has the same key
}

// read parses data, which must be one JSON value.
func read(data []byte) (value, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return value{}, fmt.Errorf("not JSON: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := reader{dec: dec, data: data}
	return r.value(0)
}

type reader struct {
	dec  *json.Decoder
	data []byte
}

func (r *reader) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	v := value{start: r.next()}
	token, err := r.dec.Token()
	if err != nil {
		return value{}, err
	}
	switch token := token.(type) {
	case nil:
		v.kind = null
	case bool:
		v.kind, v.text = boolean, strconv.FormatBool(token)
	case json.Number:
		v.kind, v.text = number, token.String()
	case string:
		v.kind, v.text = text, token
	case json.Delim:
		if token == '[' {
			v.kind, err = array, r.items(&v, depth)
		} else {
			v.kind, err = object, r.fields(&v, depth)
		}
	}
	v.end = int(r.dec.InputOffset())
	return v, err
}

func (r *reader) items(v *value, depth int) error {
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, err := r.dec.Token()
	return err
}

func (r *reader) fields(v *value, depth int) error {
	seen := make(map[string]bool)
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string) // ok: the decoder accepts nothing else here
		field := field{key: key, repeated: seen[key]}
		seen[key] = true
		if field.value, err = r.value(depth + 1); err != nil {
			return err
		}
		v.fields = append(v.fields, field)
	}
	_, err := r.dec.Token()
	return err
}

// next returns the start of the next value, skipping separators.
func (r *reader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

func (v value) raw(data []byte) []byte { return data[v.start:v.end] }

// field returns the last field of v with the key.
func (v value) field(key string) (value, bool) {
	for _, f := range slices.Backward(v.fields) {
		if f.key == key {
			return f.value, true
		}
	}
	return value{}, false
}

// equal reports whether v and w are the same JSON value.
func (v value) equal(w value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case null:
		return true
	case boolean, text:
		return v.text == w.text
	case number:
		return v.text == w.text || v.float() == w.float()
	case array:
		return slices.EqualFunc(v.items, w.items, value.equal)
	}
	return len(v.fields) == len(w.fields) && !slices.ContainsFunc(v.fields, func(f field) bool {
		g, ok := w.field(f.key)
		return !ok || !f.equal(g)
	})
}

func (v value) float() float64 {
	f, _ := strconv.ParseFloat(v.text, 64) // ok: out of range is an infinity, which compares as it should
	return f
}

// maxDigits limits the number of digits for an extreme literal.
const maxDigits = 64

// asInteger returns the number literal lit as an int64 literal, if that loses nothing.
func asInteger(lit string) (string, bool) {
	if _, err := strconv.ParseInt(lit, 10, 64); err == nil {
		return lit, true
	}
	if len(lit) > maxDigits {
		return "", false
	}
	mantissa, exponent := lit, 0
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(lit[i+1:]); err != nil || exponent < -maxDigits || exponent > maxDigits {
			return "", false
		}
		mantissa = lit[:i]
	}
	r, ok := new(big.Rat).SetString(fmt.Sprintf("%se%d", mantissa, exponent))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return "", false
	}
	return r.Num().String(), true
}
