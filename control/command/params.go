package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Params are the checked parameters of one call, by name. Values are string,
// int and bool.
type Params map[string]any

// Has reports whether a parameter was given.
func (p Params) Has(name string) bool { _, ok := p[name]; return ok }

// Text is a string parameter, or "".
func (p Params) Text(name string) string { s, _ := p[name].(string); return s }

// Int is a whole number parameter, or 0.
func (p Params) Int(name string) int { n, _ := p[name].(int); return n }

// Bool is a yes-or-no parameter, or the given value when it was not passed.
func (p Params) Bool(name string, missing bool) bool {
	if b, ok := p[name].(bool); ok {
		return b
	}
	return missing
}

// signature is the parameters on one line for a person.
func (c *Command) signature() string {
	var parts []string
	for _, p := range c.Params {
		s := p.Name
		if !p.Required {
			s += "?"
		}
		switch {
		case len(p.Enum) > 0:
			s += ": " + strings.Join(p.Enum, "|")
		case p.Type == Integer:
			s += ": int"
		case p.Type == Bool:
			s += ": bool"
		}
		if p.Default != nil {
			s += fmt.Sprintf("=%v", p.Default)
		}
		parts = append(parts, s)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// parse checks the parameters of one call from their JSON. Nothing and null
// mean none; an unknown name is refused, so that a slip cannot be lost.
func (c *Command) parse(raw json.RawMessage) (Params, error) {
	out := Params{}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return out, c.complete(out)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s: the parameters are not a JSON object; pass for example %s", c.ID, c.example())
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, c.notJSON(err)
		}
		name := t.(string)
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, c.notJSON(err)
		}
		if out.Has(name) {
			return nil, fmt.Errorf("%s: parameter %q is given twice", c.ID, name)
		}
		if v == nil { // as if it had not been given, if there is such a one
			if _, err := c.param(name); err != nil {
				return nil, err
			}
			continue
		}
		if out[name], err = c.value(name, v); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, c.notJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is something after the parameters' closing brace", c.ID)
	}
	return out, c.complete(out)
}

// check checks parameters that are values already.
func (c *Command) check(p Params) error {
	for name, v := range p {
		if _, err := c.value(name, v); err != nil {
			return err
		}
	}
	return c.complete(p)
}

func (c *Command) notJSON(err error) error {
	return fmt.Errorf("%s: the parameters are not valid JSON: %w", c.ID, err)
}

func (c *Command) param(name string) (Param, error) {
	i := slices.IndexFunc(c.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, fmt.Errorf("%s: unknown parameter %q; it takes %s", c.ID, name, c.signature())
	}
	return c.Params[i], nil
}

// value checks one value and gives it its Go type.
func (c *Command) value(name string, v any) (any, error) {
	p, err := c.param(name)
	if err != nil {
		return nil, err
	}
	wrong := func(want string) error {
		return fmt.Errorf("%s: parameter %q must be %s", c.ID, name, want)
	}
	switch p.Type {
	case String:
		s, ok := v.(string)
		if !ok {
			return nil, wrong("a text")
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
			return nil, wrong("one of " + strings.Join(p.Enum, ", "))
		}
		return s, nil
	case Integer:
		switch n := v.(type) {
		case int:
			return n, nil
		case json.Number:
			f, err := n.Float64()
			if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
				return nil, wrong("a whole number")
			}
			return int(f), nil
		}
		return nil, wrong("a whole number, without quotes")
	case Bool:
		b, ok := v.(bool)
		if !ok {
			return nil, wrong("true or false, without quotes")
		}
		return b, nil
	}
	return nil, fmt.Errorf("%s: parameter %q has the unknown type %q", c.ID, name, p.Type)
}

// complete reports a required parameter that is missing.
func (c *Command) complete(p Params) error {
	for _, q := range c.Params {
		if q.Required && !p.Has(q.Name) {
			return fmt.Errorf("%s: parameter %q is missing; it takes %s", c.ID, q.Name, c.signature())
		}
	}
	return nil
}

// example is an object that the command would take.
func (c *Command) example() string {
	var parts []string
	for _, p := range c.Params {
		v := `"..."`
		switch {
		case len(p.Enum) > 0:
			v = `"` + p.Enum[0] + `"`
		case p.Type == Integer:
			v = "1"
		case p.Type == Bool:
			v = "true"
		}
		parts = append(parts, `"`+p.Name+`": `+v)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
