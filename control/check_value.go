package control

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// values decodes every argument, in declared order so that the refusal does
// not depend on the order of the call.
func (c checker) values(args []Arg, fields []Field, place string) (Args, *Refused) {
	out := Args{values: make(map[string]value, len(fields))}
	for _, a := range args {
		for _, f := range fields {
			if f.Name != a.Name {
				continue
			}
			v, r := c.value(a, f.Raw, place+a.Name)
			if r != nil {
				return Args{}, r
			}
			out.values[a.Name] = v
		}
	}
	return out, nil
}

// value decodes one argument. raw is valid JSON without spaces around it.
func (c checker) value(a Arg, raw json.RawMessage, place string) (value, *Refused) {
	wrong := func() (value, *Refused) {
		return value{}, c.refuse("%s must be %s, got %s", quote(place), expected(a), kindOf(raw))
	}
	v := value{raw: raw}
	switch a.Type {
	case String:
		if raw[0] != '"' {
			return wrong()
		}
		text, ok := textOf(raw)
		if !ok {
			return v, c.refuse("%s holds half of a surrogate pair, which is not a character", quote(place))
		}
		v.text = text
		for _, e := range a.Enum {
			if text == e {
				return v, nil
			}
		}
		if len(a.Enum) > 0 {
			return v, c.refuse("%s must be %s, got %s", quote(place), expected(a), quote(text))
		}
	case Bool:
		if raw[0] != 't' && raw[0] != 'f' {
			return wrong()
		}
		v.truth = raw[0] == 't'
	case Number:
		if !isNumber(raw) {
			return wrong()
		}
		return c.number(a, raw, place)
	case NumberOrString:
		if isNumber(raw) {
			v, r := c.number(Arg{Name: a.Name, Type: Number, Whole: true}, raw, place)
			v.text = strconv.FormatInt(v.whole, 10)
			return v, r
		}
		if raw[0] != '"' {
			return wrong()
		}
		text, ok := textOf(raw)
		if !ok {
			return v, c.refuse("%s holds half of a surrogate pair, which is not a character", quote(place))
		}
		v.text = text
	case Strings:
		var items []json.RawMessage
		if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
			return wrong()
		}
		v.list = make([]string, len(items))
		for i, item := range items {
			text, ok := textOf(item)
			if item[0] != '"' || !ok {
				return v, c.refuse("%s must be a string, got %s", quote(place+"["+strconv.Itoa(i)+"]"), kindOf(item))
			}
			v.list[i] = text
		}
	case Object:
		if raw[0] != '{' {
			return wrong()
		}
		fields, r := c.values(a.Fields, Fields(raw), place+".")
		if r != nil {
			return v, r
		}
		v.fields = fields
	case Anything:
		if raw[0] != '{' {
			return wrong()
		}
	}
	return v, nil
}

// number decodes a number without losing a digit of a whole one.
func (c checker) number(a Arg, raw json.RawMessage, place string) (value, *Refused) {
	v := value{raw: raw}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return v, c.refuse("%s is too large a number, got %s", quote(place), shown(raw))
	}
	v.number = f
	if a.Whole {
		n, whole, fits := wholeOf(string(raw))
		switch {
		case !whole:
			return v, c.refuse("%s must be %s, got %s", quote(place), expected(a), shown(raw))
		case !fits:
			return v, c.refuse("%s is too large a number, got %s", quote(place), shown(raw))
		}
		v.whole = n
	} else if n, whole, fits := wholeOf(string(raw)); whole && fits {
		v.whole = n
	} else {
		v.whole = int64(math.Max(math.Min(f, 1<<62), -1<<62))
	}
	if a.Max > a.Min && (f < a.Min || f > a.Max) {
		return v, c.refuse("%s must be from %s to %s, got %s", quote(place), plain(a.Min), plain(a.Max), shown(raw))
	}
	return v, nil
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// wholeOf reads a JSON number exactly: 3, 3.0 and 30e-1 are whole, 0.5 and
// 1e-400 are not, whatever a float64 makes of them. fits is false beyond int64.
func wholeOf(s string) (n int64, whole, fits bool) {
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil { // out of range: clamp, the sign still decides
			e = math.MaxInt32
			if s[i+1] == '-' {
				e = -e
			}
		}
		exp, s = max(min(e, math.MaxInt32), -math.MaxInt32), s[:i]
	}
	digits, fraction, _ := strings.Cut(s, ".")
	digits, exp = digits+fraction, exp-len(fraction)
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return 0, true, true
	}
	kept := strings.TrimRight(digits, "0")
	exp += len(digits) - len(kept)
	if exp < 0 {
		return 0, false, true
	}
	if len(kept)+exp > 19 { // more than int64 holds
		return 0, true, false
	}
	u, err := strconv.ParseUint(kept+strings.Repeat("0", exp), 10, 64)
	switch {
	case err != nil, u > math.MaxInt64 && !neg, u > 1<<63:
		return 0, true, false
	case neg:
		return -int64(u), true, true
	}
	return int64(u), true, true
}

func isNumber(raw json.RawMessage) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }

// textOf decodes a JSON string. It reports false for half a surrogate pair,
// which a plain decode turns into another character.
func textOf(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		r := hex4(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if i+6 >= len(raw) || raw[i+1] != '\\' || raw[i+2] != 'u' || utf16.DecodeRune(r, hex4(raw[i+3:])) == '\uFFFD' {
			return "", false
		}
		i += 6
	}
	return s, true
}

func hex4(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(n)
}

// expected says in words what an argument must be.
func expected(a Arg) string {
	switch a.Type {
	case String:
		if len(a.Enum) > 0 {
			return "one of " + strings.Join(a.Enum, ", ")
		}
		return "a string"
	case Bool:
		return "true or false"
	case Number:
		if a.Whole {
			return "an integer"
		}
		return "a number"
	case NumberOrString:
		return "an integer or a string"
	case Strings:
		return "an array of strings"
	}
	return "an object"
}

// kindOf says in words what the caller sent. A string is said back only when
// it reads as a number, true or false, which is then the likely slip.
func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			if _, err := strconv.ParseFloat(s, 64); err == nil && len(s) <= maxShown || s == "true" || s == "false" {
				return "the string " + quote(s) + "; send it without quotes"
			}
		}
		return "a string"
	case 'n':
		return "null; leave it out instead"
	case 't', 'f':
		return string(raw)
	}
	return "the number " + shown(raw)
}

// shown is a number literal, cut to a sane length.
func shown(raw json.RawMessage) string {
	if len(raw) > maxShown {
		return string(raw[:maxShown]) + "..."
	}
	return string(raw)
}
