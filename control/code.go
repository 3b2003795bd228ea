package control

// A Code says why a tool refused. Callers match codes, never messages.
type Code string

// The codes, in the words of the tool contract.
const (
	LimbGone            Code = "LIMB_GONE"
	GeometryChanged     Code = "GEOMETRY_CHANGED"
	ScreenChanged       Code = "SCREEN_CHANGED"
	LeaseRevoked        Code = "LEASE_REVOKED"
	LeaseNotHeld        Code = "LEASE_NOT_HELD"
	Unfenced            Code = "UNFENCED"
	OutOfBounds         Code = "OUT_OF_BOUNDS"
	UnknownKey          Code = "UNKNOWN_KEY"
	NotExpressible      Code = "NOT_EXPRESSIBLE"
	WrongProtocol       Code = "WRONG_PROTOCOL"
	NotSupported        Code = "NOT_SUPPORTED"
	NotImplemented      Code = "NOT_IMPLEMENTED"
	NotReady            Code = "NOT_READY"
	NotConnected        Code = "NOT_CONNECTED"
	Timeout             Code = "TIMEOUT"
	PolicyDenied        Code = "POLICY_DENIED"
	HostNotInGrant      Code = "HOST_NOT_IN_GRANT"
	CredentialsRequired Code = "CREDENTIALS_REQUIRED"
	BadRequest          Code = "BAD_REQUEST"
	SlotRefused         Code = "SLOT_REFUSED"
	RateLimited         Code = "RATE_LIMITED"
	IntentInFlight      Code = "INTENT_IN_FLIGHT"
	IntentBlocked       Code = "INTENT_BLOCKED"
	FilesUnavailable    Code = "FILES_UNAVAILABLE"
	FilesFailed         Code = "FILES_FAILED"
	FilesTimeout        Code = "FILES_TIMEOUT"
	BudgetRefused       Code = "BUDGET_REFUSED"
	ImageTooLarge       Code = "IMAGE_TOO_LARGE"
	StaleRegion         Code = "STALE_REGION"
	// Internal is a fault of ours; the call may or may not have acted.
	Internal Code = "INTERNAL"
)

// Exit is the exit code of the command line for a refusal.
func (c Code) Exit() int {
	switch c {
	case BadRequest:
		return 2
	case PolicyDenied, HostNotInGrant:
		return 3
	case LeaseRevoked, LeaseNotHeld:
		return 4
	case Timeout:
		return 5
	}
	return 1
}

// Hint is what to do next after a refusal, for callers that give none of
// their own. It is an instruction, never the code said again.
func (c Code) Hint() string {
	switch c {
	case LimbGone:
		return "Call dvv_limbs for the current ids; open the machine again with dvv_open if it is not listed."
	case GeometryChanged:
		return "Call dvv_screen and work the coordinate out again on the new picture."
	case ScreenChanged:
		return "Call dvv_screen, look at what has the focus, and only then type."
	case LeaseRevoked:
		return "Call dvv_control with action yield_status. If human_took_over is true, stop and tell the user; do not acquire again."
	case LeaseNotHeld:
		return "Call dvv_control with action acquire and a reason, then repeat the call."
	case Unfenced:
		return "Call dvv_screen or dvv_status first and pass its geometry generation."
	case OutOfBounds:
		return "Use framebuffer pixels: 0 <= x < width and 0 <= y < height of the last observation."
	case UnknownKey:
		return "Use a key name such as Enter, Escape, Tab, F4, ArrowLeft, or a chord such as ctrl+c; use dvv_type for text."
	case NotExpressible:
		return "The connection cannot carry this; use another action."
	case WrongProtocol:
		return "This tool is for another kind of machine: dvv_click and dvv_clipboard for desktops, dvv_run, dvv_term_read and dvv_term_send for terminals."
	case NotSupported:
		return "Open the machine again with dvv_open and perceive true."
	case NotImplemented:
		return "This build does not serve it; do not try again."
	case NotReady:
		return "Call dvv_wait with until connected, then try again."
	case NotConnected:
		return "Call dvv_wait with until connected; if it does not settle, call dvv_status for the reason."
	case Timeout:
		return "Look with dvv_screen, then wait again."
	case PolicyDenied, HostNotInGrant:
		return "Tell the user: a person has to allow this."
	case CredentialsRequired:
		return "The machine asks for credentials that only a person can give; tell the user."
	case BadRequest:
		return "Correct the arguments and call again."
	case SlotRefused:
		return "Use slot 0, the session that is open already."
	case RateLimited:
		return "Close a limb you no longer need with dvv_close, then try again."
	case IntentInFlight:
		return "Wait for the call that is running on this limb, then try again."
	case IntentBlocked:
		return "The machine is not taking input: wait a moment and try again."
	case FilesUnavailable:
		return "File transfer needs an SSH login to this machine; tell the user."
	case FilesFailed:
		return "Check the path with dvv_files list and try again."
	case FilesTimeout:
		return "Call dvv_files list to see what was written before trying again."
	case BudgetRefused, ImageTooLarge:
		return "Ask for less: a region or a smaller scale."
	case StaleRegion:
		return "Call dvv_reconnect, then dvv_screen."
	}
	return "Call dvv_status to see the state before trying again."
}

// A Refused is the error of a tool that did not do what was asked.
type Refused struct {
	Code    Code
	Message string // what was refused and why; never a secret
	Hint    string // what to do next; empty means Code.Hint
	// Settlement is the settled intent, for refusals of an act.
	Settlement any
}

// Error gives the code and the message.
func (r *Refused) Error() string { return string(r.Code) + ": " + r.Message }

// Refuse makes a Refused with the code's own hint.
func Refuse(code Code, message string) *Refused { return &Refused{Code: code, Message: message} }
