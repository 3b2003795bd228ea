package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Check decodes the arguments of a call from their raw bytes and compares them
// with the row: the one check of all faces. Missing arguments and null count
// as none. Doubled keys are refused first, then names that the tool does not
// have (in alphabetical order), then missing required ones, then wrong types;
// nothing is ever converted, rounded or dropped. The refusal's code is
// BAD_REQUEST.
func Check(row Row, raw json.RawMessage) (Args, *Refused) {
	c := checker{tool: row.Name}
	raw = bytes.Trim(raw, " \t\r\n")
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	switch {
	case !utf8.Valid(raw):
		return Args{}, c.refuse("the arguments are not valid UTF-8")
	case !json.Valid(raw):
		return Args{}, c.refuse("the arguments are not valid JSON")
	case raw[0] != '{':
		return Args{}, c.refuse("the arguments must be an object, got %s", kindOf(raw))
	}
	if name, ok := doubledKey(raw); ok {
		return Args{}, c.refuse("argument %s is given twice", quote(name))
	}
	args := row.Arguments()
	fields := Fields(raw)
	if r := c.unknown(args, fields); r != nil {
		return Args{}, r
	}
	if r := c.required(args, fields, ""); r != nil {
		return Args{}, r
	}
	return c.values(args, fields, "")
}

// doubledKey finds a key that one object of raw, at any depth, has twice:
// decoders silently keep one of the two, and not all the same.
func doubledKey(raw json.RawMessage) (string, bool) {
	type level struct {
		seen  map[string]bool // nil in an array
		value bool            // a value comes next, not a key
	}
	var stack []level
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return "", false
		}
		if delim, ok := tok.(json.Delim); ok && (delim == '}' || delim == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].seen != nil {
			top := &stack[n-1]
			if top.value = !top.value; top.value {
				name, _ := tok.(string)
				if top.seen[name] {
					return name, true
				}
				top.seen[name] = true
				continue
			}
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, level{seen: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, level{})
		}
	}
}

type checker struct{ tool string }

func (c checker) refuse(format string, a ...any) *Refused {
	return Refuse(BadRequest, c.tool+": "+fmt.Sprintf(format, a...))
}

// unknown refuses the alphabetically first name that no argument has. Names
// inside an argument that is itself an object carry their place.
func (c checker) unknown(args []Arg, fields []Field) *Refused {
	type stray struct {
		place string
		among []Arg
	}
	var strays []stray
	var walk func(args []Arg, fields []Field, place string)
	walk = func(args []Arg, fields []Field, place string) {
		for _, f := range fields {
			a, ok := argNamed(args, f.Name)
			switch {
			case !ok:
				strays = append(strays, stray{place + f.Name, args})
			case a.Type == Object && f.Raw[0] == '{':
				walk(a.Fields, Fields(f.Raw), place+f.Name+".")
			}
		}
	}
	walk(args, fields, "")
	if len(strays) == 0 {
		return nil
	}
	first := slices.MinFunc(strays, func(a, b stray) int { return strings.Compare(a.place, b.place) })
	r := c.refuse("unknown argument %s (expected: %s)", quote(first.place), names(first.among))
	if credentialNames[first.place] {
		r.Hint = "Credentials never pass through a tool: the program reads them from the keychain, or asks the person. Call again without it."
	}
	return r
}

// credentialNames are names under which callers try to hand over a secret.
var credentialNames = map[string]bool{
	"password": true, "passphrase": true, "username": true, "user": true, "domain": true, "privateKey": true,
	"private_key": true, "credential": true, "credentials": true, "secret": true, "keyPath": true,
}

// names lists what a tool takes, in alphabetical order.
func names(args []Arg) string {
	if len(args) == 0 {
		return "none"
	}
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = a.Name
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// required refuses the first argument in declared order that is missing.
func (c checker) required(args []Arg, fields []Field, place string) *Refused {
	for _, a := range args {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == a.Name })
		switch {
		case i < 0 && a.Required:
			return c.refuse("%s is required (%s)", quote(place+a.Name), expected(a))
		case i >= 0 && a.Type == Object && fields[i].Raw[0] == '{':
			if r := c.required(a.Fields, Fields(fields[i].Raw), place+a.Name+"."); r != nil {
				return r
			}
		}
	}
	return nil
}

func argNamed(args []Arg, name string) (Arg, bool) {
	for _, a := range args {
		if a.Name == name {
			return a, true
		}
	}
	return Arg{}, false
}

// maxShown bounds how much of what a caller sent is said back.
const maxShown = 64

// quote shows a caller's text in a message, cut to a sane length.
func quote(s string) string {
	if len(s) > maxShown {
		n := maxShown
		for !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "..."
	}
	return strconv.Quote(s)
}
