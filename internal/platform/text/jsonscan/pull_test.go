package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// value decodes the next value like encoding/json.
func value(s *Scanner) any {
	switch s.Kind() {
	case '{':
		m := map[string]any{}
		for name := range s.Members {
			key := string(name)
			m[key] = value(s)
		}
		return m
	case '[':
		list := []any{}
		for range s.Elements {
			list = append(list, value(s))
		}
		return list
	case '"':
		return string(s.Text())
	case '0':
		n, _ := s.Number()
		return n
	case 't', 'f':
		return s.Bool()
	}
	s.Skip()
	return nil
}

// FuzzScanner checks that a text is accepted if and only if it is valid JSON, and that the
// values agree with encoding/json.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,true,false,null,"x\u00e9\ud83d\ude00\n\"\\"],"b":{}}`, `[]`, `{"a":1,}`, `[,1]`, `[1 2]`, `{"a" 1}`, `{1:2}`,
		`"\ud83d"`, `"\ud83dx"`, "\"\xff\"", "\"a\xffé\\n\"", "\"\x01\"", `01`, `1.`, `-`, `1e`, `nul`, `tru`, ``, ` `, `"a`, `"\x"`, `"\u12"`, `{"a":1}x`, "\x00", "1\x00", `[1,"a",{}]`, `1e999`,
		`12345678901234567890`, `-0`, `"` + strings.Repeat("é\\t", 50) + `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var s Scanner
		s.Reset([]byte(in))
		got := value(&s)
		err := s.End()
		if json.Valid([]byte(in)) != (err == nil) {
			t.Fatalf("%q: error %v, encoding/json finds it valid: %v", in, err, err != nil)
		}
		var want any // a number out of range is valid, but has no value
		if e := json.Unmarshal([]byte(in), &want); e == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", in, got, want)
		}
		s.Reset([]byte(in))
		raw := s.Raw()
		if e := s.End(); (e == nil) != (err == nil) {
			t.Fatalf("%q: skipping says %v, reading %v", in, e, err)
		} else if e == nil && want != nil && string(raw) != strings.TrimSpace(in) {
			t.Fatalf("%q: raw %q", in, raw)
		}
	})
}

func TestWrongType(t *testing.T) {
	for in, read := range map[string]func(*Scanner){
		`"x"`: func(s *Scanner) { s.Object() }, `{}`: func(s *Scanner) { s.Array() }, `[1]`: func(s *Scanner) { s.Text() },
		`true`: func(s *Scanner) { s.Number() }, `12`: func(s *Scanner) { s.Bool() },
	} {
		var s Scanner
		s.Reset([]byte(in))
		read(&s)
		if err := s.End(); !IsWrongType(err) {
			t.Errorf("%s: error %v", in, err)
		}
		s.Reset([]byte(strings.TrimRight(in, `"]}e2`)))
		if read(&s); IsWrongType(s.End()) && in != `12` {
			t.Errorf("%s, cut off: a wrong type", in)
		}
		s.Reset([]byte(`null`))
		if read(&s); s.End() != nil {
			t.Errorf("null for %s: %v", in, s.End())
		}
	}
}

// TestTextStays checks that text stays valid until Reset, even if later text has escapes.
func TestTextStays(t *testing.T) {
	var s Scanner
	s.Reset([]byte(`["a\n","b\n","` + strings.Repeat(`c\n`, 100) + `"]`))
	var all [][]byte
	for s.Array(); s.Element(); {
		all = append(all, s.Text())
	}
	if err := s.End(); err != nil || string(bytes.Join(all[:2], nil)) != "a\nb\n" {
		t.Errorf("got %q, %v", all[:2], err)
	}
}

func TestDeep(t *testing.T) {
	var s Scanner
	s.Reset([]byte(strings.Repeat("[", 1e6)))
	if s.Skip(); s.End() == nil {
		t.Error("a million brackets are a value")
	}
}

func TestAllocations(t *testing.T) {
	data := []byte(`{"candidates":[{"content":{"parts":[{"text":"one \"two\" three"}],"role":"model"},"index":0}],"n":123,"f":false}`)
	var s Scanner
	s.Reset(data)
	s.Skip()
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(data)
		for name := range s.Members {
			if string(name) == "n" {
				s.Number()
			} else {
				s.Skip()
			}
		}
	}); n > 0 || s.End() != nil {
		t.Errorf("%v allocations, %v", n, s.End())
	}
}
