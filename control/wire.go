package control

import "encoding/json"

// MaxMessage bounds one message on every face, in bytes including its newline.
const MaxMessage = 16 << 20

// Protocol is the version of the control socket's methods.
const Protocol = 1

// DefaultPort is the port shown in help and hints; nothing listens on it
// unless asked.
const DefaultPort = 7990

// A Request is one line of the control socket.
type Request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Key    string          `json:"key,omitempty"`
}

// The methods of the control socket that carry the plane. A tool's refusal is
// an ok reply that holds the whole tool result; ok:false is for methods and
// transport.
const (
	// MethodAuth gives the key once for a connection: params {key}.
	MethodAuth = "auth"
	// MethodHello names the caller and starts or joins an attachment: params
	// [Hello], result [Welcome].
	MethodHello = "hello"
	// MethodTool calls a tool: params [ToolCall], result the tool's result.
	MethodTool = "tool.call"
	// MethodCancel cancels a running tool call of the same attachment from
	// another connection: params {id}, the call's own id.
	MethodCancel = "plane.cancel"
	// MethodVersion tells name, version and protocol.
	MethodVersion = "app.version"
)

// Hello starts an attachment, or joins one with the secret it was given.
type Hello struct {
	Client     string `json:"client"`               // who is asking, shown to the person
	Attachment string `json:"attachment,omitempty"` // to join
	Secret     string `json:"secret,omitempty"`     // to join
}

// Welcome answers Hello.
type Welcome struct {
	Protocol   int    `json:"protocol"`
	Version    string `json:"version"`
	Attachment string `json:"attachment"`
	Secret     string `json:"secret"`
}

// ToolCall is one tool call. Call is the caller's own name for it, by which
// it can be cancelled.
type ToolCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Call      string          `json:"call,omitempty"`
}
