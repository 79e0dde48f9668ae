package jsonscan

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLazy(t *testing.T) {
	c := Lazy([]byte(` {"skip" : {"a":[1,"]}\"",{}]}, "text":"x\né","yes":true,"list":[ 1 , "two",null,[3] ],"n":-7,"f":2.9,"raw":{"k":[true]},"none":null} `))
	got := map[string]any{}
	if !c.Object() {
		t.Fatal("no object")
	}
	for {
		key, ok := c.Member()
		if !ok {
			break
		}
		switch string(key) {
		case "text", "none":
			got[string(key)] = c.String()
		case "yes":
			got["yes"] = c.Bool()
		case "n", "f":
			got[string(key)] = c.Int()
		case "raw":
			got["raw"] = string(c.Value())
		case "list":
			var kinds []byte
			for c.Array(); c.Element(); c.Skip() {
				kinds = append(kinds, c.Kind())
			}
			got["list"] = string(kinds)
		default:
			got[string(key)] = string(c.Skip())
		}
	}
	want := map[string]any{"skip": `{"a":[1,"]}\"",{}]}`, "text": "x\né", "yes": true, "list": `0"n[`, "n": -7, "f": 2, "raw": `{"k":[true]}`, "none": ""}
	if diff := cmp.Diff(want, got); diff != "" || c.End() != nil {
		t.Error(diff, c.End())
	}
}

func TestLazyNumber(t *testing.T) {
	for text, want := range map[string]int{"7": 7, "-2.5e1": -25, "9007199254740991": 9007199254740991} {
		if c := Lazy([]byte(text)); c.Int() != want || c.End() != nil {
			t.Errorf("%s: %v", text, c.End())
		}
	}
	for _, text := range []string{"9007199254740993", "-9007199254740993", "1e300", "0x1p4", "1_0", "007", "1.", "+1", "Infinity"} {
		c := Lazy([]byte(text))
		if n := c.Int(); c.End() == nil {
			t.Errorf("%s is read as %d", text, n)
		}
	}
}

func TestLazyRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a" 1}`, `{a:1}`, `{"a":"x`, `{"a":"\u12"}`,
		"{\"a\":\"\x00\"}", `{"a":"\q"}`, `{"a":[1,2}`, `{"a":[}`, `{"a":}`, `[]`, "\x00\x00",
	} {
		c := Lazy([]byte(text))
		c.Object()
		for {
			_, ok := c.Member()
			if !ok {
				break
			}
			if c.Kind() == '"' {
				_ = c.String()
				continue
			}
			c.Value()
		}
		if c.Err() == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestStringIsThatOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{`a`, `\n`, `\"`, `\\`, `\/`, `\u00e9`, `é`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, "\xff", "\xc3", `\b\f\r\t`, ` `, `"`, `\u`, `\x`, "\x01", "\x7f"})
		text := `"` + string(bytes.Join(byteSlices(rapid.SliceOf(piece).Draw(t, "pieces")), nil)) + `"`
		compare(t, []byte(text))
	})
}

func byteSlices(in []string) [][]byte {
	out := make([][]byte, len(in))
	for i, s := range in {
		out[i] = []byte(s)
	}
	return out
}

type fataler interface{ Fatalf(string, ...any) }

func compare(t fataler, text []byte) {
	var want string
	err := json.Unmarshal(text, &want)
	c := Lazy(text)
	got := c.String()
	ok := c.End() == nil
	if (err == nil) != ok || ok && got != want {
		t.Fatalf("%q: got %q, %t; want %q, %v", text, got, ok, want, err)
	}
}

// FuzzLazy checks that a lazy scanner agrees with the standard library on strings and accepts all
// valid JSON.
func FuzzLazy(f *testing.F) {
	f.Add([]byte(`{"a":[1,2,{"b":"c\u00e9"}],"d":null}`))
	f.Add([]byte(`"x\ud83d\ude00"`))
	f.Add([]byte("[\"\xff\"]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Lazy(data)
		if c.Kind() == '"' {
			compare(t, data)
		}
		c = Lazy(data)
		c.Skip()
		if json.Valid(data) && c.End() != nil {
			t.Fatalf("%q is JSON", data)
		}
		c = Lazy(data)
		if !c.Object() {
			return
		}
		for {
			if _, ok := c.Member(); !ok {
				break
			}
			if s := c.String(); !utf8.ValidString(s) {
				t.Fatalf("%q", s)
			}
		}
	})
}
