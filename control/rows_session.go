package control

// maxSlot is the largest session number that fits a limb id.
const maxSlot = 65535

// sessionRows are the tools that find, open and steer sessions.
func sessionRows() []Row {
	return []Row{
		{
			Name:  "dvv_hosts",
			Title: "List machines",
			Doc: "Lists the machines that may be opened: the saved ones, or, with discovered true, the ones that network discovery has seen. " +
				"Each has a host_id for dvv_open, a label, address, port, protocol and whether a credential is stored; the reply never carries a user name or a secret. " +
				"Refuses with POLICY_DENIED when the grant lacks hosts.read, so an empty list means that there are none.",
			Args: []Arg{
				{Name: "discovered", Type: Bool, Doc: "true to list what discovery has seen instead of the saved machines. Default false."},
			},
			Output:     schemaObject("hosts", `"hosts":`+schemaArray(schemaHost)),
			Capability: "hosts.read",
			Deadline:   Short,
			Hints:      Hints{ReadOnly: true, Idempotent: true},
			CLI:        CLI{Verb: "hosts"},
		},
		{
			Name:  "dvv_limbs",
			Title: "List sessions",
			Doc: "Call this first. Lists every limb (one live session to a machine) that you can act on: id, protocol, address, state, size, what it offers and what you are allowed, and who holds the lease. " +
				"Sessions that the program has open and you have not attached are listed under available; using one of those limbIds in any tool attaches it on the way in.",
			Output:   schemaObject("limbs,available", `"limbs":`+schemaArray(schemaCard)+`,"available":`+schemaArray(schemaLive)),
			Deadline: Short,
			Hints:    Hints{ReadOnly: true, Idempotent: true},
			CLI:      CLI{Verb: "limbs"},
		},
		{
			Name:  "dvv_open",
			Title: "Open a session",
			Doc: "Opens a limb on a saved machine (hostId) or on an address with a protocol. It returns as soon as the session is started, not when it is connected: call dvv_wait with until connected next. " +
				"Credentials are read by the program and never pass through this tool; when a person has to give one, the call refuses with CREDENTIALS_REQUIRED or the limb stays in state authenticating. " +
				"perceive true is needed for dvv_screen and for waits on the picture. Refuses with BAD_REQUEST for a protocol that this build has no driver for, SLOT_REFUSED when the protocol gives no such session, RATE_LIMITED when too many limbs are attached.",
			Args: []Arg{
				{Name: "hostId", Type: String, Doc: "A saved machine: host_id or label from dvv_hosts. Give this or address, not both."},
				{Name: "address", Type: String, Doc: "Host name or IP address of a machine that is not saved; protocol is then required."},
				{Name: "port", Type: Number, Whole: true, Min: 1, Max: 65535, Doc: "TCP port. Default 5900 for vnc, 3389 for rdp, 22 for ssh."},
				protocolArg("Required with address; refused with hostId, which knows its own."),
				{Name: "slot", Type: Number, Whole: true, Min: 0, Max: maxSlot, Doc: "0 (default) attaches to the session that is already live, else opens one; above 0 asks for a further session."},
				{Name: "perceive", Type: Bool, Doc: "true to receive the picture of the machine, so that dvv_screen has something to read. Default false."},
			},
			Output:     schemaObject("limb", `"limb":`+schemaCard),
			Capability: "open",
			Deadline:   Short,
			Hints:      Hints{Idempotent: true, OpenWorld: true},
			CLI:        CLI{Verb: "open", Positionals: []string{"hostId"}, Flags: map[string]string{"hostId": "host-id"}},
		},
		{
			Name:  "dvv_close",
			Title: "Close a session",
			Doc: "Lets go of a limb: calls that still run on it are withdrawn and settled, keys and buttons that you hold down are released, the lease is given back. " +
				"The session itself ends when you opened it and nobody else uses it; sessionEnded says so. Closing a limb that is already gone is an ordinary success.",
			Args: []Arg{
				{Name: "limbId", Type: String, Required: true, Doc: "The limb to let go of."},
			},
			Output:     schemaObject("limbId,closed", `"limbId":`+schemaString+`,"closed":`+schemaBool+`,"sessionEnded":`+schemaBool),
			Capability: "close",
			Deadline:   Short,
			Hints:      Hints{Destructive: true, Idempotent: true, OpenWorld: true},
			CLI:        CLI{Verb: "close", Positionals: []string{"limbId"}},
		},
		{
			Name:  "dvv_reconnect",
			Title: "Reconnect a session",
			Doc: "Drops the connection of a limb, dials the machine again with the credential it was opened with, and waits for it to come back. connected tells whether it did in time; false is an ordinary result. " +
				"The geometry generation moves, so call dvv_screen before the next click. Refuses with LEASE_NOT_HELD while a person is driving.",
			Selector:   true,
			Args:       []Arg{timeoutArg("How long to wait for the machine, in milliseconds. Default 20000; more than 25000 counts as 25000.", false)},
			Output:     schemaObject("limbId,connected", `"limbId":`+schemaString+`,"connected":`+schemaBool+`,"state":`+schemaState),
			Capability: "view",
			Deadline:   Own,
			Hints:      Hints{Destructive: true, OpenWorld: true},
			CLI:        CLI{Verb: "reconnect", Positionals: []string{"limbId"}, Flags: timeoutFlag},
		},
		{
			Name:  "dvv_status",
			Title: "Status of a session",
			Doc: "State, size, geometry generation, lease holder and signals of one limb, as a dvv.observation.v1 object. The cheapest call there is; make it as often as you like. " +
				"It reads no pixels, so it does not clear the typing fence, and it uses up no damage. After LEASE_REVOKED read lease.human_took_over here: true means that a person is driving, so stop and tell the user.",
			Selector:   true,
			Output:     schemaObservation,
			Capability: "view",
			Deadline:   Short,
			Hints:      Hints{ReadOnly: true, Idempotent: true, OpenWorld: true},
			CLI:        CLI{Verb: "status", Positionals: []string{"limbId"}},
		},
		{
			Name:  "dvv_control",
			Title: "Take or give back the wheel",
			Doc: "Takes, gives back or looks at the lease of a limb: the right to click and type there. Acquire it with a reason before you act; give it back when you are done. " +
				"A person can take it from you at any time; control_yield.human_took_over true then means stop and tell the user. The lease ends by itself after about a minute without use. " +
				"Refuses acquire with LEASE_NOT_HELD when somebody else holds it or a person has just stopped you, and with LEASE_REVOKED after a take-over until the person hands the machine back.",
			Selector: true,
			Args: []Arg{
				{Name: "action", Type: String, Required: true, Enum: []string{"acquire", "release", "status", "yield", "yield_status"},
					Doc: "acquire takes the lease; release and yield give it back, yield with a reason; status and yield_status only look."},
				{Name: "reason", Type: String, Doc: "Shown to the person on acquire, recorded on yield. Say what you are about to do."},
				{Name: "waitMs", Type: Number, Whole: true, Min: 0, Max: maxTimeoutMs,
					Doc: "Acquire only: how long to wait for the holder to finish, in milliseconds, at most 25000. 0 fails at once."},
			},
			Output:   schemaControl,
			Actions:  map[string]string{"acquire": "control", "release": "", "status": "", "yield": "", "yield_status": ""},
			Deadline: Short,
			Hints:    Hints{Idempotent: true, OpenWorld: true},
			CLI:      CLI{Verb: "control", Positionals: []string{"action", "limbId"}, Flags: map[string]string{"waitMs": "wait-ms"}},
		},
	}
}

// signalRows stand last in the declared order.
func signalRows() []Row {
	return []Row{{
		Name:  "dvv_signals",
		Title: "Signals of a session",
		Doc: "Which signals this connection carries, and what each absence means. Every entry is live, absent or unknown with a reason, never a default: absent means that the far side does not do it for as long as this session lasts, unknown that nothing has arrived yet. " +
			"Look at led_state before you type a password: without it nobody knows the remote Caps Lock. window_structure is always absent, since these protocols carry no windows.",
		Selector:   true,
		Output:     schemaObject("limbId,signals", `"limbId":`+schemaString+`,"signals":`+schemaSignals),
		Capability: "view",
		Deadline:   Short,
		Hints:      Hints{ReadOnly: true, Idempotent: true, OpenWorld: true},
		CLI:        CLI{Verb: "signals", Positionals: []string{"limbId"}},
	}}
}

// timeoutFlag is the spelling of timeoutMs on the command line.
var timeoutFlag = map[string]string{"timeoutMs": "timeout"}
