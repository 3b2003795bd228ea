package keychain

import (
	"reflect"
	"strings"
	"time"

	"deskvnc/viewer"
)

// A Host is a saved machine and how to connect to it. The zero value of each
// setting is its default, and each is one of the words listed with its type.
// The forms of JSON are those of an export: names there never change meaning.
type Host struct {
	// ID is "h_" and random letters, given by the library, and never changes.
	// Limbs, secrets and pins go by it.
	ID string `json:"id"`
	// Revision grows with every change; an update must carry the one that
	// was read.
	Revision int64 `json:"revision"`

	Name     string          `json:"name"`
	Protocol viewer.Protocol `json:"protocol"`
	// Address is in the form of viewer.Normalize; the whole path of a socket of
	// this computer, which has the port 0.
	Address string `json:"address"`
	Port    int    `json:"port"`
	User    string `json:"user,omitempty"`
	Domain  string `json:"domain,omitempty"` // of the user, for RDP
	// Login is the id of a shared login whose user, domain, key and secrets
	// are used instead of the host's own.
	Login string `json:"login,omitempty"`

	Group     string   `json:"group,omitempty"` // id of a group
	Tags      []string `json:"tags,omitempty"`
	Notes     string   `json:"notes,omitempty"`
	Favourite bool     `json:"favourite,omitempty"`

	ViewOnly  bool         `json:"viewOnly,omitempty"`
	Exclusive bool         `json:"exclusive,omitempty"` // throws out other viewers
	Sessions  SessionCount `json:"sessions,omitempty"`

	Encryption      Encryption `json:"encryption,omitempty"`
	KeyFile         string     `json:"keyFile,omitempty"`         // private key, for SSH
	CertificateFile string     `json:"certificateFile,omitempty"` // authorities to trust, for TLS; client certificate, for SSH

	Proxy string   `json:"proxy,omitempty"` // socks5://user@host:port or http://user@host:port
	Via   []string `json:"via,omitempty"`   // ids of SSH hosts, the first hop first
	// Repeater is how the machine is known at a VNC repeater, when the address
	// is a repeater's: ID:number, or host:port behind it.
	Repeater string `json:"repeater,omitempty"`

	Quality      viewer.Quality `json:"quality,omitempty"`
	Encodings    []string       `json:"encodings,omitempty"` // in order; none: the driver's own order
	Colors       viewer.Colors  `json:"colors,omitempty"`
	Scaling      Scaling        `json:"scaling,omitempty"`
	Zoom         int            `json:"zoom,omitempty"` // percent, with ScaleZoom
	RemoteResize SizePolicy     `json:"remoteResize,omitempty"`
	Clipboard    Sharing        `json:"clipboard,omitempty"`
	Keyboard     KeyboardWay    `json:"keyboard,omitempty"`
	LastPicture  bool           `json:"lastPicture,omitempty"` // keep the last picture, to show it in the library

	MAC           string `json:"mac,omitempty"`           // for Wake-on-LAN
	WakeBroadcast string `json:"wakeBroadcast,omitempty"` // where to send it; empty: the local network

	SharedFolder string `json:"sharedFolder,omitempty"` // local folder that the machine may use

	Terminal Terminal `json:"terminal,omitzero"`
	SSH      SSH      `json:"ssh,omitzero"`
	RDP      RDP      `json:"rdp,omitzero"`

	Created time.Time `json:"created"`
	Changed time.Time `json:"changed"`
}

// Target is the host as something to connect to. A shared login's user is not
// looked up here.
func (h Host) Target() viewer.Target {
	keys := viewer.KeysAuto
	switch h.Keyboard {
	case KeyboardSymbols:
		keys = viewer.KeysBySymbol
	case KeyboardScancode:
		keys = viewer.KeysByPosition
	}
	return viewer.Target{
		Protocol: h.Protocol, Address: h.Address, Port: h.Port, User: h.User,
		HostID: h.ID, Name: h.Name, Exclusive: h.Exclusive,
		RequireEncryption: h.Encryption == EncryptionRequired, Keys: keys, Proxy: h.Proxy, RepeaterID: h.Repeater,
		Picture: viewer.Picture{Quality: h.Quality, Colors: h.Colors, Encodings: strings.Join(h.Encodings, ",")},
		SSH:     h.settings(),
	}
}

// settings are what logins over SSH need; nil for the usual. The machines on
// the way are not looked up here.
func (h Host) settings() *viewer.SSHSettings {
	s := viewer.SSHSettings{
		KeyFile: h.KeyFile, NoAgent: h.SSH.NoAgent, NoConfig: h.SSH.NoConfig, ForwardAgent: h.SSH.ForwardAgent,
		KeepAlive: time.Duration(h.SSH.KeepAlive) * time.Second,
		Term:      h.Terminal.Type, Command: h.Terminal.Command, Scrollback: h.Terminal.Scrollback, Encoding: h.Terminal.Encoding,
	}
	if h.Protocol == viewer.SSH { // of others it is of authorities
		s.CertificateFile = h.CertificateFile
	}
	for _, t := range h.SSH.Tunnels {
		s.Tunnels = append(s.Tunnels, viewer.Tunnel{Direction: viewer.Direction(t.Direction), Listen: t.Listen, To: t.Target})
	}
	if reflect.DeepEqual(s, viewer.SSHSettings{}) {
		return nil
	}
	return &s
}

// A SessionCount says whether connecting twice makes two sessions.
type SessionCount string

// The session counts.
const (
	SessionsOne  SessionCount = ""     // connecting again shows the session there is
	SessionsMany SessionCount = "many" // each time a new one
)

// Encryption is what a connection needs.
type Encryption string

// The encryptions.
const (
	EncryptionPreferred Encryption = ""
	EncryptionRequired  Encryption = "required"
)

// Scaling is how the remote screen is fitted into its pane.
type Scaling string

// The scalings.
const (
	ScaleFit    Scaling = ""
	ScaleActual Scaling = "actual" // one pixel is one pixel
	ScaleZoom   Scaling = "zoom"   // by Host.Zoom
)

// A SizePolicy says whether the remote screen takes the size of its pane.
type SizePolicy string

// The size policies.
const (
	SizeKeep   SizePolicy = ""       // the machine's own
	SizeOnce   SizePolicy = "once"   // the pane's, when connecting
	SizeFollow SizePolicy = "follow" // the pane's, always
)

// Sharing is which way the clipboard goes.
type Sharing string

// The ways.
const (
	ShareBoth       Sharing = ""
	ShareToRemote   Sharing = "to-remote"
	ShareFromRemote Sharing = "from-remote"
	ShareOff        Sharing = "off"
)

// A KeyboardWay is how keys are sent.
type KeyboardWay string

// The keyboard ways.
const (
	KeyboardAuto     KeyboardWay = ""
	KeyboardSymbols  KeyboardWay = "symbols"  // what a key means here
	KeyboardScancode KeyboardWay = "scancode" // where a key is, the machine decides what it means
)

// Terminal is how a terminal looks and starts.
type Terminal struct {
	Type       string `json:"type,omitempty"`       // TERM; empty: xterm-256color
	Command    string `json:"command,omitempty"`    // run instead of a login shell
	FontSize   int    `json:"fontSize,omitempty"`   // points; 0: the preference
	Scrollback int    `json:"scrollback,omitempty"` // lines; 0: the preference
	Scheme     string `json:"scheme,omitempty"`     // name of a colour scheme
	Encoding   string `json:"encoding,omitempty"`   // empty: UTF-8
	Bell       string `json:"bell,omitempty"`       // "", "visible" or "off"
}

// SSH is what only SSH has.
type SSH struct {
	ForwardAgent bool     `json:"forwardAgent,omitempty"`
	NoAgent      bool     `json:"noAgent,omitempty"`   // do not offer the keys of the SSH agent
	NoConfig     bool     `json:"noConfig,omitempty"`  // do not read ~/.ssh/config
	KeepAlive    int      `json:"keepAlive,omitempty"` // seconds; 0: the default
	Tunnels      []Tunnel `json:"tunnels,omitempty"`
}

// A Tunnel is a port that is forwarded while connected.
type Tunnel struct {
	Direction TunnelDirection `json:"direction"`
	Listen    string          `json:"listen"`           // [host:]port
	Target    string          `json:"target,omitempty"` // host:port; none for TunnelSOCKS
}

// A TunnelDirection says at which end a tunnel listens.
type TunnelDirection string

// The directions.
const (
	TunnelLocal  TunnelDirection = "local"
	TunnelRemote TunnelDirection = "remote"
	TunnelSOCKS  TunnelDirection = "socks"
)

// RDP is what only RDP has.
type RDP struct {
	Gateway      string `json:"gateway,omitempty"` // host[:port]
	GatewayLogin string `json:"gatewayLogin,omitempty"`
	Security     string `json:"security,omitempty"` // "", "nla", "tls" or "rdp"
	Admin        bool   `json:"admin,omitempty"`    // the administrative session
	LoadBalance  string `json:"loadBalance,omitempty"`
	Program      string `json:"program,omitempty"` // run instead of the desktop
	Audio        string `json:"audio,omitempty"`   // "", "here" or "remote"
	Microphone   bool   `json:"microphone,omitempty"`
	Printers     bool   `json:"printers,omitempty"`
	AllScreens   bool   `json:"allScreens,omitempty"`
}

// A Group is a folder of hosts.
type Group struct {
	ID       string `json:"id"` // "g_" and random letters
	Revision int64  `json:"revision"`
	Name     string `json:"name"`
	Parent   string `json:"parent,omitempty"` // id of the group it is in
}

// A Login is a user that several hosts share. Its secrets are kept under its
// id.
type Login struct {
	ID       string    `json:"id"` // "l_" and random letters
	Revision int64     `json:"revision"`
	Name     string    `json:"name"`
	User     string    `json:"user,omitempty"`
	Domain   string    `json:"domain,omitempty"`
	KeyFile  string    `json:"keyFile,omitempty"`
	Created  time.Time `json:"created"`
	Changed  time.Time `json:"changed"`
}

// A Change is one change of a host, as the library remembers it.
type Change struct {
	At   time.Time
	What string // "add", "update", "delete" or "restore"
	// Before is the host as it was; nil for an added one.
	Before *Host
}

// A Placement is where a window was.
type Placement struct {
	X          int    `json:"x"`
	Y          int    `json:"y"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Maximized  bool   `json:"maximized,omitempty"`
	Fullscreen bool   `json:"fullscreen,omitempty"`
	Monitor    string `json:"monitor,omitempty"`
}

// A Tab is a session that was open in a window.
type Tab struct {
	HostID string `json:"hostId,omitempty"` // of a saved host, or
	Target string `json:"target,omitempty"` // a URL such as vnc://10.0.0.5:5901
	Slot   int    `json:"slot,omitempty"`
	Active bool   `json:"active,omitempty"`
}
