package control

import "time"

// A Row is all there is to know about one tool. MCP's tool list, the control
// methods, the command line and the documentation are generated from rows.
type Row struct {
	Name  string // dvv_click
	Title string // a few words for a person
	Doc   string // what it does, when to use it, what it refuses; for a model
	// Args in the order the documentation shows them.
	Args []Arg
	// Selector adds limbId, groupId and member to the arguments.
	Selector bool
	// Output is the JSON schema of structuredContent on success. Faces widen
	// it so that it admits a refusal too.
	Output string
	// Capability is what the caller's grant must hold; empty for none. Tools
	// whose actions differ say so per action in Actions.
	Capability string
	Actions    map[string]string // action -> capability
	Needs      Needs
	Deadline   Deadline
	Hints      Hints
	CLI        CLI
}

// An Arg is one argument of a tool.
type Arg struct {
	Name     string
	Type     ArgType
	Doc      string
	Required bool
	Enum     []string
	Fields   []Arg // of an object
	// Min and Max bound a number when Max > Min.
	Min, Max float64
	Whole    bool // a number without a fraction
}

// An ArgType is the JSON type of an argument.
type ArgType string

// The argument types.
const (
	String         ArgType = "string"
	Number         ArgType = "number"
	Bool           ArgType = "boolean"
	Strings        ArgType = "array of strings"
	Object         ArgType = "object"           // with Fields
	Anything       ArgType = "any object"       // checked by whoever it is passed to
	NumberOrString ArgType = "number or string" // the member selector
)

// Needs says which proofs a tool asks for.
type Needs struct {
	Lease    bool // the wheel of the limb
	Geometry bool // a geometry generation
	Content  bool // a look at the screen since it last changed
}

// A Deadline says how long the far side may take over a call.
type Deadline string

// The deadline classes.
const (
	// Short calls answer within [ShortDeadline].
	Short Deadline = "short"
	// Own calls answer within their timeoutMs plus [OwnSlack].
	Own Deadline = "own"
	// Stream calls have no deadline; a dead peer is noticed by keep-alive.
	Stream Deadline = "stream"
)

// The deadlines.
const (
	ShortDeadline = 90 * time.Second
	OwnSlack      = 30 * time.Second
)

// Hints are MCP's annotations; all four are always stated.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// CLI is how the tool is spelled on the command line: dvv VERB [SUB] args.
type CLI struct {
	Verb        string            // "click", "term send"
	Positionals []string          // argument names, in order
	Flags       map[string]string // argument name -> flag name, where they differ
}
