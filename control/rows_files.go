package control

// fileRows are the tools for files on the remote machine.
func fileRows() []Row {
	return []Row{
		{
			Name:  "dvv_files",
			Title: "Remote files",
			Doc: "Lists, fetches and stores files on the machine over SSH, beside what the limb shows and for any kind of limb. A get or put moves the whole file inside the call, within 120 seconds. Paths are from the remote home unless they begin with /; ~ is the home itself. " +
				"list, home and get need files.read; put, mkdir, remove and rename need files.write; neither implies the other (POLICY_DENIED). " +
				"Refuses with FILES_UNAVAILABLE when the machine has no SSH login to use or its host key is not trusted yet; POLICY_DENIED for a local path outside the folders that were granted; FILES_FAILED names the path that went wrong; after FILES_TIMEOUT list first, since part may have been written.",
			Selector: true,
			Args: []Arg{
				{Name: "action", Type: String, Required: true, Enum: []string{"list", "get", "put", "mkdir", "remove", "rename", "home"}, Doc: "What to do."},
				{Name: "path", Type: String, Doc: "The remote path; list without one lists the home directory. For rename the existing name."},
				{Name: "to", Type: String, Doc: "rename: the new remote path. get: an absolute local path to save to; without it the content comes back, up to 262144 bytes."},
				{Name: "from", Type: String, Doc: "put only: an absolute local path of the file to store. Give this or contentBase64."},
				{Name: "contentBase64", Type: String, Doc: "put only: the bytes to store, in base64. An empty text makes an empty file."},
				{Name: "mode", Type: Number, Whole: true, Min: 0, Max: 0o7777, Doc: "put only: permission bits as a decimal number; 420 is 0644."},
				{Name: "recursive", Type: Bool, Doc: "remove only: true to remove a directory with all that is in it. Default false. Never the home directory, what is above it, or what is right below the top."},
			},
			Output: schemaFiles,
			Actions: map[string]string{
				"list": "files.read", "get": "files.read", "home": "files.read",
				"put": "files.write", "mkdir": "files.write", "remove": "files.write", "rename": "files.write",
			},
			Deadline: Stream,
			Hints:    Hints{Destructive: true, OpenWorld: true},
			CLI:      CLI{Verb: "files", Positionals: []string{"action", "limbId", "path"}, Flags: map[string]string{"contentBase64": "content-base64"}},
		},
		{
			Name:  "dvv_transfer",
			Title: "Transfers in progress",
			Doc: "Nothing to report, by design: dvv_files moves a whole file inside its own call, so there is no transfer id to ask about and nothing in flight to cancel. " +
				"Always refuses with NOT_IMPLEMENTED and names dvv_files. It is here so that a name you read somewhere does not leave you guessing.",
			Selector: true,
			Args: []Arg{
				{Name: "action", Type: String, Required: true, Enum: []string{"status", "cancel"}, Doc: "Neither finds anything."},
				{Name: "transferId", Type: String, Doc: "There are none."},
			},
			Output:   schemaObject("", ""),
			Deadline: Short,
			Hints:    Hints{ReadOnly: true, Idempotent: true},
			CLI:      CLI{Verb: "transfer", Positionals: []string{"action", "limbId"}, Flags: map[string]string{"transferId": "transfer-id"}},
		},
	}
}
