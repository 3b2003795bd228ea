package control

import (
	"encoding/json"
	"slices"
)

// Args are the arguments of one call after [Check]. A getter gives the zero
// value for an argument that was left out; Has tells the difference.
type Args struct{ values map[string]value }

// A value is one decoded argument; which fields are set depends on its type.
type value struct {
	raw    json.RawMessage
	text   string
	number float64
	whole  int64
	truth  bool
	list   []string
	fields Args
}

// Has reports whether the argument was given.
func (a Args) Has(name string) bool {
	_, ok := a.values[name]
	return ok
}

// Text is a string argument. Of a [NumberOrString] it is the string, or the
// number in decimal.
func (a Args) Text(name string) string { return a.values[name].text }

// Number is a number argument.
func (a Args) Number(name string) float64 { return a.values[name].number }

// Int is a whole number argument, exact. Of a number with a fraction it is the
// part before the point.
func (a Args) Int(name string) int { return int(a.values[name].whole) }

// Bool is a boolean argument.
func (a Args) Bool(name string) bool { return a.values[name].truth }

// Strings is a list argument; the slice is the caller's.
func (a Args) Strings(name string) []string { return slices.Clone(a.values[name].list) }

// Object is an argument with fields of its own.
func (a Args) Object(name string) Args { return a.values[name].fields }

// Raw is an argument as the caller sent it, or nil.
func (a Args) Raw(name string) json.RawMessage { return a.values[name].raw }
