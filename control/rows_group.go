package control

// groupRows are the tools for several machines at once.
func groupRows() []Row {
	groupID := Arg{Name: "groupId", Type: String, Required: true, Doc: "A group from dvv_group_open."}
	hosts := []Arg{
		{Name: "hostIds", Type: Strings, Doc: "Saved machines: host_id or label from dvv_hosts."},
		{Name: "addresses", Type: Strings, Doc: "Addresses of machines that are not saved; protocol is then required."},
		protocolArg("Required with addresses."),
		{Name: "perceive", Type: Bool, Doc: "true to receive the picture of every member. Default false."},
	}
	closed := schemaObject("groupId,closed", `"groupId":`+schemaString+`,"closed":`+schemaArray(schemaString))
	return []Row{
		{
			Name:  "dvv_group_open",
			Title: "Open a group",
			Doc: "Opens several limbs at once and gives a groupId to address them together (dvv_group_run) or one at a time (groupId and member on any tool). " +
				"Every member is a real connection that stays open until dvv_group_close. When one fails, those that this call opened are closed again.",
			Args:       hosts,
			Output:     schemaObject("groupId,members", `"groupId":`+schemaString+`,"members":`+schemaArray(schemaCard)),
			Capability: "open",
			Deadline:   Short,
			Hints:      Hints{OpenWorld: true},
			CLI:        CLI{Verb: "group open", Flags: hostFlags},
		},
		{
			Name:  "dvv_group_list",
			Title: "List groups",
			Doc: "Lists the open groups, or one of them, with each member's index, limb id, host and state. Cheap and local: it asks no machine. " +
				"A group that does not exist is refused with BAD_REQUEST.",
			Args:     []Arg{{Name: "groupId", Type: String, Doc: "Only this group."}},
			Output:   schemaObject("groups", `"groups":`+schemaArray(schemaObject("groupId,members", `"groupId":`+schemaString+`,"members":`+schemaArray(schemaCard)))),
			Deadline: Short,
			Hints:    Hints{ReadOnly: true, Idempotent: true},
			CLI:      CLI{Verb: "group list", Positionals: []string{"groupId"}},
		},
		{
			Name:  "dvv_group_grow",
			Title: "Add to a group",
			Doc: "Opens more limbs and adds them to the end of a group. New members get the next indexes; the existing ones keep theirs. " +
				"When one fails, those that this call opened are closed again.",
			Args:       append([]Arg{groupID}, hosts...),
			Output:     schemaObject("groupId,added", `"groupId":`+schemaString+`,"added":`+schemaArray(schemaCard)),
			Capability: "open",
			Deadline:   Short,
			Hints:      Hints{OpenWorld: true},
			CLI:        CLI{Verb: "group grow", Positionals: []string{"groupId"}, Flags: hostFlags},
		},
		{
			Name:  "dvv_group_shrink",
			Title: "Take from a group",
			Doc: "Closes the n members that were added last and drops them from the group. Refuses with BAD_REQUEST, and closes nothing, when the group has fewer than n: " +
				"a smaller number in its place would turn close three into close everything.",
			Args: []Arg{groupID, {Name: "n", Type: Number, Whole: true, Required: true, Min: 1, Max: maxSlot,
				Doc: "How many members to close, from the end."}},
			Output:     closed,
			Capability: "close",
			Deadline:   Short,
			Hints:      Hints{Destructive: true, OpenWorld: true},
			CLI:        CLI{Verb: "group shrink", Positionals: []string{"groupId", "n"}},
		},
		{
			Name:  "dvv_group_close",
			Title: "Close a group",
			Doc: "Closes every limb of a group and forgets the group. A member that has gone already is no error, and a limb that another group holds stays open. " +
				"Refuses with BAD_REQUEST for a group that does not exist.",
			Args:       []Arg{groupID},
			Output:     closed,
			Capability: "close",
			Deadline:   Short,
			Hints:      Hints{Destructive: true, Idempotent: true, OpenWorld: true},
			CLI:        CLI{Verb: "group close", Positionals: []string{"groupId"}},
		},
		{
			Name:  "dvv_group_run",
			Title: "Act on a group",
			Doc: "Does one thing on every member of a group at the same time: every member starts before any finishes. One that fails is reported for that member and never stops the others; each needs its own lease and passes its own fences. " +
				"Leave generation out of a click, so that each member uses its own.",
			Args: []Arg{
				groupID,
				{Name: "action", Type: String, Required: true,
					Enum: []string{"wait", "screen", "status", "signals", "type", "key", "click", "run"}, Doc: "The tool to use, without its dvv_ in front."},
				{Name: "arguments", Type: Anything, Doc: "The arguments of that tool, without limbId, groupId and member."},
			},
			Output: schemaObject("groupId,results", `"groupId":`+schemaString+`,"results":`+
				schemaArray(schemaObject("limbId,result", `"limbId":`+schemaString+`,"result":`+schemaAnyObject))),
			Actions: map[string]string{
				"wait": "view", "screen": "capture", "status": "view", "signals": "view",
				"type": "control", "key": "control", "click": "control", "run": "exec",
			},
			Deadline: Stream,
			Hints:    Hints{Destructive: true, OpenWorld: true},
			CLI:      CLI{Verb: "group run", Positionals: []string{"groupId", "action"}},
		},
	}
}

// hostFlags are the spellings of the machine lists on the command line.
var hostFlags = map[string]string{"hostIds": "host", "addresses": "address"}
