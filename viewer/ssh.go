package viewer

import (
	"context"
	"net"
	"time"
)

// SSHSettings say how a machine is logged in to over SSH, and what is done there.
// Of machines of other protocols it is the login beside them, for files and
// for the way to them. It is not changed once a [Target] has it.
type SSHSettings struct {
	// Port is that of the login beside a session of another protocol; 0: 22.
	Port int
	// Via are the machines on the way, the nearest first, each with its own
	// login. Their own Via is not looked at.
	Via []Target

	KeyFile         string // private key to offer first
	CertificateFile string // of that key
	NoAgent         bool   // use no SSH agent
	NoConfig        bool   // do not read the SSH configuration
	ForwardAgent    bool   // let the machine use the SSH agent
	KeepAlive       time.Duration
	// Unattended says that nobody sits here: no commands of the SSH
	// configuration are run.
	Unattended bool
	// HostKey is the SHA-256 fingerprint of the one key that the machine may
	// show, as in SHA256:...; empty: the known hosts decide.
	HostKey string
	// NoShell opens no terminal: the login is for what runs through it.
	NoShell bool

	Term       string // TERM; empty: xterm-256color
	Command    string // run instead of a login shell
	Scrollback int    // lines; 0: the usual, below 0: none
	Encoding   string // of the text; empty: UTF-8
	Tunnels    []Tunnel
}

// Settings are the target's SSH settings; zero ones when it has none.
func (t Target) Settings() SSHSettings {
	if t.SSH == nil {
		return SSHSettings{}
	}
	return *t.SSH
}

// Through are the machines on the way to the target, the nearest first.
func (t Target) Through() []Target { return t.Settings().Via }

// A Direction says at which end a tunnel listens.
type Direction string

// The directions.
const (
	TunnelLocal  Direction = "local"  // here, and leads on from the machine
	TunnelRemote Direction = "remote" // at the machine, and leads on from here
	TunnelSOCKS  Direction = "socks"  // here, for programs that name where to go
)

// A Tunnel is a port that is forwarded while connected.
type Tunnel struct {
	Direction Direction
	Listen    string // [host:]port; without a host on loopback only
	To        string // host:port; none for TunnelSOCKS
}

// A TunnelState is a tunnel of a session as it is now.
type TunnelState struct {
	ID int // in its session
	Tunnel
	Address     string // where it listens; empty when it does not
	Open        int    // connections now
	Connections int64  // all of them
	// Sent went in at the listening end, and Received came out of it, in bytes.
	Sent, Received int64
	Err            error // why it does not listen, or its last connection failed
}

// A Login is an SSH login that other things run through: files, tunnels, the
// way to another machine.
type Login interface {
	// Done is closed when the login has ended and all of it has stopped. Err
	// then tells why; nil means that Close was called.
	Done() <-chan struct{}
	Err() error
	Close() error
	// DialThrough has the machine connect to host:port over "tcp", or to a
	// socket of it over "unix".
	DialThrough(ctx context.Context, network, address string) (net.Conn, error)
	// Listen has the machine listen.
	Listen(ctx context.Context, network, address string) (net.Listener, error)
	// Subsystem starts a subsystem of the machine, such as sftp.
	Subsystem(ctx context.Context, name string) (net.Conn, error)
}

// A LoginOpener is a Driver that can log in for what runs beside a session.
type LoginOpener interface {
	// Login logs in. Of env Ask, Emit and Dial are used. The login outlives ctx.
	Login(ctx context.Context, t Target, env Env) (Login, error)
}

// A Carrier is a Session with a login that other things may run through. They
// end with it.
type Carrier interface{ Carrier() Login }
