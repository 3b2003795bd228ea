package control

import "deskvnc/viewer"

// ObservationSchema names the observation's form.
const ObservationSchema = "dvv.observation.v1"

// An Observation is what an agent is told of a limb: never a default, always
// live, absent or unknown with a reason.
type Observation struct {
	Schema      string                                  `json:"schema"`
	LimbID      string                                  `json:"limb_id"`
	Protocol    viewer.Protocol                         `json:"protocol"`
	CapturedAt  int64                                   `json:"captured_at"` // unix ms
	State       State                                   `json:"state"`
	Geometry    Geometry                                `json:"geometry"`
	Frame       *FrameInfo                              `json:"frame,omitempty"`
	Locks       Envelope[LockKeys]                      `json:"locks"`
	Damage      Envelope[DamageInfo]                    `json:"damage"`
	DesktopName Envelope[string]                        `json:"desktop_name"`
	Session     *SessionInfo                            `json:"session,omitempty"`
	Terminal    *TerminalInfo                           `json:"terminal,omitempty"`
	LastError   Envelope[LastError]                     `json:"last_error"`
	Lease       LeaseInfo                               `json:"lease"`
	Signals     map[viewer.SignalName]Envelope[Nothing] `json:"signals"`
	Untrusted   bool                                    `json:"untrusted"` // always true
}

// An Envelope is a value that may not be there. Value is present only when
// Availability is live, Reason only when it is not.
type Envelope[T any] struct {
	Availability viewer.Availability `json:"availability"`
	Value        *T                  `json:"value,omitempty"`
	Reason       string              `json:"reason,omitempty"`
}

// Nothing is the value of an envelope that carries none.
type Nothing struct{}

// LiveValue is an envelope with a value.
func LiveValue[T any](v T) Envelope[T] {
	return Envelope[T]{Availability: viewer.Live, Value: &v}
}

// AbsentValue says the far side does not do it.
func AbsentValue[T any](reason string) Envelope[T] {
	return Envelope[T]{Availability: viewer.Absent, Reason: reason}
}

// UnknownValue says that nothing has arrived yet.
func UnknownValue[T any](reason string) Envelope[T] {
	return Envelope[T]{Availability: viewer.Unknown, Reason: reason}
}

// State is the state of a limb's session.
type State struct {
	State       viewer.Phase `json:"state"`
	Method      string       `json:"method,omitempty"`        // authenticating
	Attempt     int          `json:"attempt,omitempty"`       // reconnecting
	NextRetryMs int64        `json:"next_retry_ms,omitempty"` // reconnecting
	Reason      string       `json:"reason,omitempty"`
	CanRetry    *bool        `json:"can_retry,omitempty"` // disconnected
	Symbol      string       `json:"symbol,omitempty"`
}

// Geometry is the coordinate space of a limb.
type Geometry struct {
	Generation   uint32       `json:"generation"`
	Space        Space        `json:"space"`
	Screens      []ScreenInfo `json:"screens"` // empty: one display
	PrimaryKnown bool         `json:"primary_known"`
}

// Space is a width and height in pixels or cells.
type Space struct {
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Unit   string `json:"unit"` // pixels or cells
}

// ScreenInfo is one monitor of a remote desktop.
type ScreenInfo struct {
	ID      uint32 `json:"id"`
	X       int    `json:"x"`
	Y       int    `json:"y"`
	W       int    `json:"w"`
	H       int    `json:"h"`
	Primary bool   `json:"primary"`
}

// Rect is a rectangle in framebuffer pixels.
type Rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// FrameInfo describes the picture that came with an observation.
type FrameInfo struct {
	Form       string  `json:"form"`
	SpaceRect  Rect    `json:"space_rect"`
	Scale      float64 `json:"scale"`
	Coverage   string  `json:"coverage"` // complete or partial
	Generation uint32  `json:"generation"`
	Bytes      int     `json:"bytes"`
}

// LockKeys are the remote lock keys.
type LockKeys struct {
	Caps   bool `json:"caps"`
	Num    bool `json:"num"`
	Scroll bool `json:"scroll"`
}

// DamageInfo sums up what changed since the caller last looked.
type DamageInfo struct {
	Union    Rect    `json:"union"`
	Rects    int     `json:"rects"`
	Coverage float64 `json:"coverage"` // summed area by the area of Union, at most 1
}

// SessionInfo are figures of the connection.
type SessionInfo struct {
	FPS             float64 `json:"fps"`
	RTTMs           float64 `json:"rtt_ms"`
	RTTSource       string  `json:"rtt_source"` // fence, probe, passive or none
	ServerDutyCycle float64 `json:"server_duty_cycle"`
	ThroughputBps   float64 `json:"throughput_bps"`
	DecodeMs        float64 `json:"decode_ms"`
	CurrentEncoding int32   `json:"current_encoding"`
	JPEGQuality     uint8   `json:"jpeg_quality"`
}

// TerminalInfo is the state of a terminal limb.
type TerminalInfo struct {
	Cols           int                  `json:"cols"`
	Rows           int                  `json:"rows"`
	AltScreen      Envelope[bool]       `json:"alt_screen"`
	BracketedPaste Envelope[bool]       `json:"bracketed_paste"`
	MouseReporting Envelope[bool]       `json:"mouse_reporting"`
	Cursor         Envelope[CursorInfo] `json:"cursor"`
	Title          Envelope[string]     `json:"title"` // the machine's words
}

// CursorInfo is where the cursor of a terminal is, in cells from 0.
type CursorInfo struct {
	X       int  `json:"x"`
	Y       int  `json:"y"`
	Visible bool `json:"visible"`
}

// LastError is the last thing that went wrong. Match Symbol, not Message.
type LastError struct {
	Code    uint32 `json:"code"`
	Symbol  string `json:"symbol"`
	Message string `json:"message"`
}

// LeaseInfo is who holds the wheel, as one attachment sees it.
type LeaseInfo struct {
	Held          bool    `json:"held"` // by this attachment
	Phase         string  `json:"phase"`
	HolderKind    *string `json:"holder_kind"`
	HolderLabel   *string `json:"holder_label"`
	QueueDepth    int     `json:"queue_depth"`
	QueuePosition *int    `json:"queue_position"`
	HumanTookOver bool    `json:"human_took_over"`
}

// A Card is a limb in a list.
type Card struct {
	LimbID     string          `json:"limb_id"`
	Protocol   viewer.Protocol `json:"protocol"`
	Host       string          `json:"host"`
	Slot       int             `json:"slot"`
	State      State           `json:"state"`
	Size       Size            `json:"size"`
	Grounding  string          `json:"grounding"` // pixels, cells or none
	Generation uint32          `json:"geometry_generation"`
	Offers     []string        `json:"offers"`
	Allows     []string        `json:"allows"`
	Lease      LeaseInfo       `json:"lease"`
	What       string          `json:"what"`
	SteerAway  *string         `json:"steer_away"`
	HasMirror  bool            `json:"has_mirror"`
	Index      *int            `json:"index,omitempty"` // in a group
}

// Size is a width and height.
type Size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// A LiveSession is a session that is open but not attached by the caller.
type LiveSession struct {
	LimbID            string          `json:"limb_id"`
	Host              string          `json:"host"`
	HostID            *string         `json:"host_id"`
	Port              int             `json:"port"`
	Protocol          viewer.Protocol `json:"protocol"`
	Slot              int             `json:"slot"`
	State             State           `json:"state"`
	AttachedElsewhere bool            `json:"attached_elsewhere"`
}

// A HostRecord is a machine that may be opened. No user name, no secret.
type HostRecord struct {
	HostID           string          `json:"host_id"`
	Label            string          `json:"label"`
	Address          string          `json:"address"`
	Port             int             `json:"port"`
	Protocol         viewer.Protocol `json:"protocol"`
	CredentialStored bool            `json:"credential_stored"`
	Discovered       bool            `json:"discovered"`
}
