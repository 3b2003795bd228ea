package sample

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sample/tree"
)

const (
	// ShellID is the id of the machine with a shell, and ShellName its name.
	ShellID   = "sample-shell"
	ShellName = "Sample shell"
	// shellUser is who logs in there.
	shellUser = "sample"

	// maxLogins bounds the connections to the shell, and maxChannels what runs
	// in one of them.
	maxLogins   = 16
	maxChannels = 16
)

// A shellHost is the machine with a shell. All of its logins see the same
// files.
type shellHost struct {
	m      *Machines
	config *ssh.ServerConfig
	files  func() *tree.Tree // made at the first login
	places chan struct{}     // one taken by each connection
}

// startShell serves the machine with a shell. Its key is a new one, which the
// target carries, so that it is believed there and nowhere else.
func (m *Machines) startShell() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("sample: host key: %w", err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return fmt.Errorf("sample: host key: %w", err)
	}
	h := &shellHost{
		m: m, files: sync.OnceValue(tree.Sample), places: make(chan struct{}, maxLogins),
		config: &ssh.ServerConfig{NoClientAuth: true, ServerVersion: "SSH-2.0-DeskVNC_sample"},
	}
	h.config.AddHostKey(key)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("sample: listen: %w", err)
	}
	m.listens = append(m.listens, l)
	m.targets = append(m.targets, viewer.Target{
		Protocol: viewer.SSH, Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: shellUser,
		HostID: ShellID, Name: ShellName,
		SSH: &viewer.SSHSettings{HostKey: ssh.FingerprintSHA256(key.PublicKey()), NoConfig: true, NoAgent: true},
	})
	m.wg.Go(func() { m.accept(l, h.serve) })
	return nil
}

// serve is one connection from its first byte to its last.
func (h *shellHost) serve(conn net.Conn) {
	defer conn.Close()
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	default:
		return
	}
	conn.SetDeadline(time.Now().Add(helloTime))
	login, channels, requests, err := ssh.NewServerConn(conn, h.config)
	if err != nil {
		return
	}
	conn.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { ssh.DiscardRequests(requests) }) // keep-alive is answered, ports are not forwarded to here
	places := make(chan struct{}, maxChannels)
	for c := range channels {
		select {
		case places <- struct{}{}:
		default:
			c.Reject(ssh.ResourceShortage, fmt.Sprintf("there can be %d at once", maxChannels))
			continue
		}
		work.Go(func() {
			defer func() { <-places }()
			switch c.ChannelType() {
			case "session":
				h.session(ctx, c)
			case "direct-tcpip":
				h.tunnel(ctx, c)
			default:
				c.Reject(ssh.UnknownChannelType, "not known here")
			}
		})
	}
	cancel()
	login.Close()
	work.Wait()
}

// tunnel leads to one of the sample desktops, by the port it listens at or by
// 5900 for the first, 5901 for the second and so on. It leads nowhere else.
func (h *shellHost) tunnel(ctx context.Context, c ssh.NewChannel) {
	var to struct {
		Host     string
		Port     uint32
		From     string
		FromPort uint32
	}
	if ssh.Unmarshal(c.ExtraData(), &to) != nil {
		c.Reject(ssh.ConnectionFailed, "the request cannot be read")
		return
	}
	port := h.desktopPort(to.Host, to.Port)
	if port == 0 {
		c.Reject(ssh.Prohibited, "tunnels lead to the sample desktop only: localhost:5900")
		return
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		c.Reject(ssh.ConnectionFailed, "the sample desktop is not there any more")
		return
	}
	defer conn.Close()
	ch, requests, err := c.Accept()
	if err != nil {
		return
	}
	var work sync.WaitGroup
	work.Go(func() { ssh.DiscardRequests(requests) })
	work.Go(func() {
		pipe(conn, ch)
		conn.(*net.TCPConn).CloseWrite()
	})
	pipe(ch, conn)
	ch.Close() // a desktop that has ended takes nothing more
	conn.Close()
	work.Wait()
}

// desktopPort is where the desktop listens that a tunnel may lead to, or 0.
func (h *shellHost) desktopPort(host string, port uint32) int {
	desktops := h.m.targets[:len(h.m.desktops)]
	local := slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, host)
	for i, t := range desktops {
		if local && (int(port) == t.Port || int(port) == 5900+i) || host == t.Name && (port == 5900 || int(port) == t.Port) {
			return t.Port
		}
	}
	return 0
}
