// Package command holds the command model of the window: everything a person
// can do there has an id, a label, a place in the menu, a shortcut, typed
// parameters and a reason when it cannot be done now. Menus, buttons, keys and
// the control socket are built from one [Registry], so that none of them can
// do what the others cannot.
//
// It knows no window: what a command does is a function it was given.
package command

import "context"

// A Kind says what a command changes.
type Kind string

// The kinds.
const (
	Query  Kind = "query"  // changes nothing
	Edit   Kind = "edit"   // changes saved things
	Action Kind = "action" // changes sessions or the window
)

// A Type is the JSON type of a parameter.
type Type string

// The parameter types.
const (
	String  Type = "string"
	Integer Type = "integer"
	Bool    Type = "boolean"
)

// A Param is one parameter of a command.
type Param struct {
	Name     string
	Type     Type
	Required bool
	Default  any      // what a missing one means, for the documentation
	Enum     []string // of a string: the only values
	Doc      string
}

// A Shortcut is a chord that runs a command, see [ParseChord]; Params are the
// parameters it is run with.
type Shortcut struct {
	Chord  string
	Params Params
}

// A Command is one thing that can be done.
type Command struct {
	ID    string // area.verb, stable for ever
	Label string
	Doc   string // a sentence
	// Menu is the menu the command is in; empty for a command that is only
	// reached by buttons, keys and the socket.
	Menu       []string
	Shortcuts  []Shortcut
	Params     []Param
	Kind       Kind
	Capability string // what the caller of the socket must hold; empty for none
	Window     bool   // needs the window
	Confirm    bool   // a person is asked first
	// Person says that only a person may: it acts on a machine or on the
	// wheel in their name. Agents have tools for it, which pass the wheel.
	Person bool
	// Enabled says why the command cannot run now, given the parameters; nil
	// means always. It runs on the registry's home goroutine.
	Enabled func(Params) error
	// On tells whether what the command switches is on now; nil for a command
	// that is no switch. It runs at home.
	On func() bool
	// Run does it, on the registry's home goroutine, and must not wait. A
	// result of type [Later] is waited for elsewhere. The result becomes JSON.
	Run func(context.Context, Params) (any, error)
}

// Later is the rest of a command that takes time.
type Later func(context.Context) (any, error)

// Record is what is told about a command over the socket.
type Record struct {
	ID             string   `json:"id"`
	Label          string   `json:"label"`
	Doc            string   `json:"doc,omitempty"`
	Menu           []string `json:"menu"`
	Shortcut       *string  `json:"shortcut"`
	Params         string   `json:"params"`
	ParamList      []Field  `json:"paramList"`
	Enabled        bool     `json:"enabled"`
	DisabledReason string   `json:"disabled_reason,omitempty"`
	Kind           Kind     `json:"kind"`
	Window         bool     `json:"ui"`
	Confirm        bool     `json:"confirm"`
	Capability     string   `json:"capability,omitempty"`
}

// A Field is one parameter in a [Record].
type Field struct {
	Name     string   `json:"name"`
	Type     Type     `json:"type"`
	Required bool     `json:"required"`
	Default  any      `json:"default,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	Doc      string   `json:"doc"`
	Access   string   `json:"access"`
}

// record makes the record of c, without its enabled state.
func (c *Command) record() Record {
	r := Record{
		ID: c.ID, Label: c.Label, Doc: c.Doc, Menu: c.Menu, Params: c.signature(), ParamList: []Field{},
		Kind: c.Kind, Window: c.Window, Confirm: c.Confirm, Capability: c.Capability,
	}
	if r.Menu == nil {
		r.Menu = []string{}
	}
	if len(c.Shortcuts) > 0 {
		if chord, err := ParseChord(c.Shortcuts[0].Chord); err == nil {
			text := chord.String()
			r.Shortcut = &text
		}
	}
	for _, p := range c.Params {
		r.ParamList = append(r.ParamList, Field{Name: p.Name, Type: p.Type, Required: p.Required, Default: p.Default, Enum: p.Enum, Doc: p.Doc, Access: "none"})
	}
	return r
}

// Bare reports whether the command runs without parameters: a menu can have it.
func (c *Command) Bare() bool {
	for _, p := range c.Params {
		if p.Required {
			return false
		}
	}
	return true
}
