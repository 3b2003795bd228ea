package control

import (
	"slices"
	"sync"
)

// ToolCount is the number of tools of the desk toolset.
const ToolCount = 25

// rows are all tools in the order in which every face shows them.
var rows = sync.OnceValue(func() []Row {
	return slices.Concat(sessionRows(), desktopRows(), terminalRows(), fileRows(), groupRows(), signalRows())
})

// Rows returns the desk tools in declared order. The slice is the caller's;
// what the rows point to is shared and must not be changed.
func Rows() []Row { return slices.Clone(rows()) }

// RowByName finds a tool by its name.
func RowByName(name string) (Row, bool) {
	for _, r := range rows() {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

// selector is the trio that picks one limb; the same on every tool that acts
// on a single limb.
var selector = []Arg{
	{Name: "limbId", Type: String,
		Doc: "The limb, as dvv_limbs or dvv_open gave its id. May be left out when exactly one limb is attached."},
	{Name: "groupId", Type: String,
		Doc: "A group from dvv_group_open; member then picks one of its limbs. Ignored when limbId is given."},
	{Name: "member", Type: NumberOrString,
		Doc: "With groupId: the member's index in the group, or its limb id."},
}

// Arguments are all arguments that the tool takes, the selector trio first.
func (r Row) Arguments() []Arg {
	if !r.Selector {
		return r.Args
	}
	return slices.Concat(selector, r.Args)
}

// The arguments that several tools share.
func timeoutArg(doc string, required bool) Arg {
	return Arg{Name: "timeoutMs", Type: Number, Whole: true, Required: required, Min: minTimeout(required), Max: maxTimeoutMs, Doc: doc}
}

// maxTimeoutMs bounds what a caller may ask a tool to wait for: one day.
const maxTimeoutMs = 24 * 60 * 60 * 1000

// minTimeout is 1 where there is no default, since 0 would mean "at once".
func minTimeout(required bool) float64 {
	if required {
		return 1
	}
	return 0
}

func protocolArg(doc string) Arg {
	return Arg{Name: "protocol", Type: String, Enum: []string{"vnc", "rdp", "ssh"}, Doc: doc}
}
