package jsonscan_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"adze/internal/platform/text/jsonscan"
)

func TestObject(t *testing.T) {
	const data = ` {"a" : "x\n\u00e9\ud83d\ude00\ud800z" , "b\u0062":[1, {"c":"]}"}], "n":-12.5e3,"t":true,"z":null} `
	var names, values []string
	err := jsonscan.Object([]byte(data), func(name, value []byte) error {
		names, values = append(names, string(name)), append(values, string(value))
		return nil
	})
	if err != nil || !slices.Equal(names, []string{"a", "bb", "n", "t", "z"}) {
		t.Fatalf("names %q, error %v", names, err)
	}
	if want := []string{`"x\n\u00e9\ud83d\ude00\ud800z"`, `[1, {"c":"]}"}]`, "-12.5e3", "true", "null"}; !slices.Equal(values, want) {
		t.Errorf("values %q", values)
	}
	if s, ok := jsonscan.String([]byte(values[0])); !ok || s != "x\né😀\ufffdz" {
		t.Errorf("string %q", s)
	}
	if got := jsonscan.Append([]byte("+"), []byte(values[0])); string(got) != "+x\né😀\ufffdz" {
		t.Errorf("appended %q", got)
	}
	if n, ok := jsonscan.Int([]byte(values[2])); !ok || n != -12500 {
		t.Errorf("number %d", n)
	}
	for _, v := range []string{"", `"1"`, "1.5", "1e400", "99999999999999999999", "null", "-"} {
		if n, ok := jsonscan.Int([]byte(v)); ok {
			t.Errorf("%q is %d", v, n)
		}
	}
	if !jsonscan.Is([]byte(`"ab"`), "ab") || jsonscan.Is([]byte(`"ab"`), "a") || jsonscan.Is([]byte("ab"), "ab") {
		t.Error("strings are not compared")
	}
}

// TestAllocations checks that reading a delta only allocates the string.
func TestAllocations(t *testing.T) {
	data := []byte(`{"type":"delta","index":3,"logprobs":[],"delta":"some words and a few more of them"}`)
	got := testing.AllocsPerRun(100, func() {
		err := jsonscan.Object(data, func(name, value []byte) error {
			if string(name) == "delta" {
				text, _ := jsonscan.String(value)
				sink = text
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if got > 1 {
		t.Errorf("%v allocations", got)
	}
}

var sink string

// agree checks that data is read as by encoding/json.
func agree(t *testing.T, data []byte) {
	var object map[string]json.RawMessage
	wantErr := json.Unmarshal(data, &object)
	got := map[string]string{}
	err := jsonscan.Object(data, func(name, value []byte) error {
		got[string(name)] = string(value)
		var want string
		if json.Unmarshal(value, &want) == nil && string(value) != "null" {
			if s, ok := jsonscan.String(value); !ok || s != want {
				t.Errorf("%s is %q, want %q", value, s, want)
			}
		}
		return nil
	})
	if strings.TrimSpace(string(data)) == "null" {
		return // encoding/json accepts it as an object
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: error %v, want %v", data, err, wantErr)
	}
	if err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want, ok := object[strings.ToValidUTF8(name, "\ufffd")]; ok && string(want) != got[name] && len(object) == len(got) {
			t.Errorf("%q: %q is %s, want %s", data, name, got[name], want)
		}
	}
	if list := append(append([]byte("["), data...), ']'); jsonscan.List(list, func([]byte) error { return nil }) != nil {
		t.Errorf("%q is not a list", list)
	}
}

var samples = []string{
	`{}`, `{"a":1}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":1e}`, `{"a":1e+5}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"` + "\n" + `"}`,
	`{"a":tru}`, `{"a":true,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":[1,]}`, `{"a":[}`, `{"a":{"b":[{}]}}`, `{"a":1}x`, `[]`, ``, `"a"`, `{"a":"\ud83dA"}`,
	`{"a":"` + "\xff" + `"}`, `{"a":nul`, `{"a":"x`, `{"a":"\`, `{"a":"\u0`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, ` { } `,
}

func TestAgrees(t *testing.T) {
	for _, s := range samples {
		agree(t, []byte(s))
	}
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	if err := jsonscan.Object([]byte(deep), func(_, _ []byte) error { return nil }); err == nil {
		t.Error("endless nesting is read")
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
