package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Kind is the type of a key's value.
type Kind uint8

// Kinds.
const (
	Bool Kind = iota
	Int
	Float
	Text
	List   // strings, comma-separated in a variable; lists from several files are concatenated
	Object // any object, decoded by the caller; objects from several files are merged
	Rules  // permission rules, see [Settings.Rules]; the last part of the name is their behavior
	Dirs   // directories, see [Settings.Directories]
	Vars   // variables, see [Settings.Env]
)

// A Key declares a setting.
type Key struct {
	// Name is the setting's path in a file, separated by dots. It is empty if only the
	// environment can provide the setting.
	Name string
	// Aliases are other programs' names for the setting.
	Aliases []string
	// Env lists environment variables for the setting. The first one set wins.
	Env  []string
	Kind Kind
	// Default is the default value, written as in a variable; empty means none.
	Default string
	// Min and Max limit a number, unless both are zero. OrZero also allows 0.
	Min, Max float64
	OrZero   bool
	// Choices are the accepted values; empty means any.
	Choices []string
	// Accepted describes the accepted values for users. If empty, the description is derived
	// from the fields above.
	Accepted string
	// Personal means that a workspace cannot set the key, even if trusted. Managed means that
	// the key only takes effect in managed settings. Tighten, if not empty, lists the only
	// values a workspace can set; NotLocal lists values that no file in the workspace can set,
	// not even the user's own. Values are written as in a variable.
	Personal, Managed bool
	Tighten, NotLocal []string
	// Endpoint means that the key determines where provider requests go, or whom they trust. No file in a
	// workspace can set its variables.
	Endpoint bool
	// Secret means that the value is not shown.
	Secret bool
	// Effect classifies how the key affects the user's permissions if a project sets it. Keys
	// that no project can set have none.
	Effect Effect
	// Doc is a phrase for the reference. Requirement is the requirement that calls for the
	// setting.
	Doc, Requirement string
}

// ID identifies the key in the program: its name, or else its first variable.
func (k *Key) ID() string {
	if k.Name == "" && len(k.Env) > 0 {
		return k.Env[0]
	}
	return k.Name
}

// mustDefault returns the default. It panics if the key's declaration is invalid.
func (k *Key) mustDefault() any {
	if k.ID() == "" {
		panic("config: a key has neither a name nor a variable")
	}
	if k.Default == "" {
		return k.zero()
	}
	v, err := k.parse(k.Default)
	if err != nil {
		panic(fmt.Sprintf("config: default of %s: %v", k.ID(), err))
	}
	return v
}

func (k *Key) zero() any {
	switch k.Kind {
	case Bool:
		return false
	case Int:
		return 0
	case Float:
		return 0.0
	case Text:
		return ""
	case List, Rules, Dirs:
		return []string(nil)
	default:
		return json.RawMessage(nil)
	}
}

// Encode converts a value to JSON. The value is written as in a variable, or as JSON if it is a
// list or object.
func (k *Key) Encode(text string) (json.RawMessage, error) {
	if t := strings.TrimSpace(text); k.Kind >= List && (strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{")) {
		if !json.Valid([]byte(t)) {
			return nil, errors.New("is not JSON")
		}
		return json.RawMessage(t), nil
	}
	v, err := k.parse(text)
	if err != nil {
		return nil, err
	}
	return marshal(v), nil
}

// decode parses a value from a file.
func (k *Key) decode(raw json.RawMessage) (any, error) {
	switch k.Kind {
	case Text:
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, errors.New("is not a text")
		}
		return s, k.choose(s)
	case List, Rules, Dirs:
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, errors.New("is not a list of texts")
		}
		return list, k.choose(list...)
	case Bool:
		if s := string(raw); s != "true" && s != "false" {
			return nil, errors.New("is not true or false")
		}
		return string(raw) == "true", nil
	}
	return k.parse(string(raw))
}

// parse parses a value from a variable.
func (k *Key) parse(text string) (any, error) {
	switch k.Kind {
	case Bool:
		switch strings.ToLower(text) {
		case "1", "true", "yes", "on":
			return true, nil
		case "0", "false", "no", "off":
			return false, nil
		}
		return nil, errors.New("is not true or false")
	case Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, errors.New("is not a whole number")
		}
		return n, k.within(float64(n))
	case Float:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errors.New("is not a number")
		}
		return x, k.within(x)
	case Text:
		return text, k.choose(text)
	case List, Rules, Dirs:
		var list []string
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		return list, k.choose(list...)
	default:
		if !json.Valid([]byte(text)) {
			return nil, errors.New("is not JSON")
		}
		return json.RawMessage(text), nil
	}
}

func (k *Key) within(x float64) error {
	if k.Min == 0 && k.Max == 0 || k.OrZero && x == 0 || x >= k.Min && x <= k.Max {
		return nil
	}
	return errors.New("is out of range")
}

// errChoice is returned for a value that is not among the choices.
var errChoice = errors.New("is not one of the choices")

// Wrong describes the problem with a value and lists the accepted values.
func (k *Key) Wrong(err error) error {
	if errors.Is(err, errChoice) {
		return errors.New("is not one of " + strings.ReplaceAll(k.Accepts(), "`", ""))
	}
	return fmt.Errorf("%w (accepted: %s)", err, k.Accepts())
}

func (k *Key) choose(texts ...string) error {
	for _, s := range texts {
		if len(k.Choices) > 0 && !slices.Contains(k.Choices, s) {
			return errChoice
		}
	}
	return nil
}

// Accepts describes the accepted values for users.
func (k *Key) Accepts() string {
	if k.Accepted != "" {
		return k.Accepted
	}
	if len(k.Choices) > 0 {
		return "`" + strings.Join(k.Choices, "`, `") + "`"
	}
	bounds := ""
	if k.Min != 0 || k.Max != 0 {
		bounds = number(k.Min) + " to " + number(k.Max)
		if k.OrZero {
			bounds = "0, or " + bounds
		}
	}
	switch k.Kind {
	case Bool:
		return "true or false"
	case Int:
		if bounds == "" {
			return "a whole number"
		}
		return bounds
	case Float:
		if bounds == "" {
			return "a number"
		}
		return bounds
	case Text:
		return "text"
	case List:
		return "a list of texts"
	case Rules:
		return "a list of rules"
	case Dirs:
		return "a list of directories"
	case Vars:
		return "an object of texts"
	default:
		return "an object"
	}
}

// complaint describes the problem with a value, the accepted values and the consequence.
func (k *Key) complaint(name, text string, problem error) string {
	return fmt.Sprintf("%s is set to %s, which %v (accepted: %s); the value is ignored", name, shortened(text), problem, k.Accepts())
}

// number formats x with thousands separators.
func number(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	whole, rest, fraction := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction {
		return whole + "." + rest
	}
	return whole
}
