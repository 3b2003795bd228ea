package keychain

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskvnc/viewer"
)

// The bounds of what can be saved.
const (
	MaxName      = 128      // characters of a name
	MaxUser      = 256      // characters of a user or domain
	MaxNotes     = 64 << 10 // bytes of notes
	MaxTags      = 64
	MaxTag       = 64 // characters
	MaxHops      = 8
	MaxEncodings = 32
	MaxTunnels   = 64
	MaxPath      = 4096 // bytes of a path or command
	MinZoom      = 10   // percent
	MaxZoom      = 800
)

func bad(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Checked returns the host as it is to be saved, in normal form, or says what
// cannot be saved. What needs the rest of the library (a group, a hop, a
// login that is not there) is not looked at.
func (h Host) Checked() (Host, error) {
	steps := []func() error{
		func() error { return checkName(&h.Name) },
		h.checkAddress,
		func() error { return checkLine("user", &h.User, MaxUser) },
		func() error { return checkLine("domain", &h.Domain, MaxUser) },
		h.checkTags, h.checkNotes, h.checkWords, h.checkPaths, h.checkProxy, h.checkRepeater, h.checkVia, h.checkWake,
		h.Terminal.check, h.SSH.check, h.RDP.check,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return h, &Error{Op: "check host", Kind: Invalid, Err: err}
		}
	}
	return h, nil
}

// checkName trims a name and refuses what cannot be shown as one.
func checkName(name *string) error {
	*name = strings.TrimSpace(*name)
	if *name == "" {
		return errors.New("the name is missing: give one, for example lab01")
	}
	return checkLine("name", name, MaxName)
}

// checkLine refuses text that is no single line of at most most characters.
func checkLine(what string, s *string, most int) error {
	if !utf8.ValidString(*s) {
		return bad("the %s is not UTF-8 text", what)
	}
	if n := utf8.RuneCountInString(*s); n > most {
		return bad("the %s has %d characters, more than %d", what, n, most)
	}
	for _, r := range *s {
		// Some that are not called control characters turn the text around.
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return bad("the %s contains the control character %q: leave it out", what, r)
		}
	}
	return nil
}

func (h *Host) checkAddress() error {
	if !slices.Contains(viewer.Protocols, h.Protocol) {
		return bad("%q is not a protocol this viewer speaks: use vnc, rdp or ssh", string(h.Protocol))
	}
	a := strings.TrimSpace(h.Address)
	if strings.HasPrefix(a, "/") || strings.HasPrefix(a, "unix:") {
		return h.checkSocket(strings.TrimPrefix(a, "unix:"))
	}
	if a = viewer.Normalize(a); strings.ContainsAny(a, "[]/@") {
		return bad("%q is more than an address: give the host name or IP address alone, and the port and user in their own fields", h.Address)
	}
	t, err := viewer.ParseTarget("["+a+"]", h.Protocol)
	if err != nil {
		return errors.New(viewer.Reason(err))
	}
	h.Address = t.Address
	if h.Port == 0 {
		h.Port = h.Protocol.DefaultPort()
	}
	if h.Port < 1 || h.Port > 65535 {
		return bad("port %d cannot be connected to: use a number from 1 to 65535", h.Port)
	}
	return nil
}

// checkSocket takes the path of a socket of this computer. It has no port.
func (h *Host) checkSocket(path string) error {
	if h.Protocol != viewer.VNC {
		return errors.New("a socket of this computer is reached over vnc only")
	}
	t, err := viewer.ParseTarget("unix:"+path, viewer.VNC)
	if err != nil {
		return errors.New(viewer.Reason(err))
	}
	h.Address, h.Port = t.Address, 0
	return nil
}

func (h *Host) checkTags() error {
	var tags []string
	for _, tag := range h.Tags {
		tag = strings.TrimSpace(tag)
		if tag == "" || slices.Contains(tags, tag) {
			continue
		}
		if err := checkLine("tag", &tag, MaxTag); err != nil {
			return err
		}
		if strings.Contains(tag, ",") {
			return bad("the tag %q contains a comma: make it two tags", tag)
		}
		tags = append(tags, tag)
	}
	if len(tags) > MaxTags {
		return bad("%d tags are more than %d", len(tags), MaxTags)
	}
	h.Tags = tags
	return nil
}

func (h *Host) checkNotes() error {
	if len(h.Notes) > MaxNotes {
		return bad("the notes have %d bytes, more than %d", len(h.Notes), MaxNotes)
	}
	if !utf8.ValidString(h.Notes) || strings.ContainsRune(h.Notes, 0) {
		return errors.New("the notes are not UTF-8 text")
	}
	return nil
}

// word refuses a setting that is not one of the words it can be.
func word[T ~string](what string, v T, can ...T) error {
	if slices.Contains(can, v) {
		return nil
	}
	var names []string
	for _, c := range can {
		if c == "" {
			names = append(names, "empty")
		} else {
			names = append(names, string(c))
		}
	}
	return bad("%q is no %s: use %s", string(v), what, strings.Join(names, ", "))
}

func (h *Host) checkWords() error {
	err := errors.Join(
		word("session count", h.Sessions, SessionsOne, SessionsMany),
		word("encryption", h.Encryption, EncryptionPreferred, EncryptionRequired),
		word("quality", h.Quality, viewer.Qualities...),
		word("choice of colors", h.Colors, viewer.AllColors...),
		word("scaling", h.Scaling, ScaleFit, ScaleActual, ScaleZoom),
		word("remote size", h.RemoteResize, SizeKeep, SizeOnce, SizeFollow),
		word("clipboard sharing", h.Clipboard, ShareBoth, ShareToRemote, ShareFromRemote, ShareOff),
		word("keyboard", h.Keyboard, KeyboardAuto, KeyboardSymbols, KeyboardScancode),
	)
	if err != nil {
		return err
	}
	if h.Scaling != ScaleZoom {
		h.Zoom = 0
	} else if h.Zoom < MinZoom || h.Zoom > MaxZoom {
		return bad("a zoom of %d percent is not possible: use %d to %d", h.Zoom, MinZoom, MaxZoom)
	}
	if len(h.Encodings) > MaxEncodings {
		return bad("%d encodings are more than %d", len(h.Encodings), MaxEncodings)
	}
	var encodings []string
	for _, e := range h.Encodings {
		e = strings.ToLower(strings.TrimSpace(e))
		if !slices.Contains(viewer.EncodingNames, e) {
			return bad("%.40q is not the name of an encoding: use some of %s", e, strings.Join(viewer.EncodingNames, ", "))
		}
		if !slices.Contains(encodings, e) {
			encodings = append(encodings, e)
		}
	}
	h.Encodings = encodings
	return nil
}

func (h *Host) checkPaths() error {
	return errors.Join(
		checkPath("key file", h.KeyFile),
		checkPath("certificate file", h.CertificateFile),
		checkPath("shared folder", h.SharedFolder),
	)
}

// checkPath refuses what can be no path. Whether there is such a file may
// change any time and is found out when it is used.
func checkPath(what, p string) error {
	if len(p) > MaxPath {
		return bad("the %s is longer than %d bytes", what, MaxPath)
	}
	if strings.ContainsFunc(p, unicode.IsControl) {
		return bad("the path of the %s contains a control character", what)
	}
	if strings.Contains(p, "PRIVATE KEY-----") {
		return bad("the %s has to be the path of a file, not a key itself", what)
	}
	return nil
}

func (h *Host) checkProxy() error {
	h.Proxy = strings.TrimSpace(h.Proxy)
	if h.Proxy == "" {
		return nil
	}
	p, err := viewer.ParseProxy(h.Proxy)
	if err != nil {
		return errors.New(viewer.Reason(err))
	}
	if h.Target().Socket() {
		return errors.New("a proxy leads to other machines only: leave it out for a socket of this computer")
	}
	h.Proxy = p.String()
	return nil
}

func (h *Host) checkRepeater() error {
	h.Repeater = strings.TrimSpace(h.Repeater)
	if h.Repeater == "" {
		return nil
	}
	name, err := viewer.ParseRepeater(h.Repeater)
	if err != nil {
		return errors.New(viewer.Reason(err))
	}
	h.Repeater = name
	return nil
}

func (h *Host) checkVia() error {
	if len(h.Via) > MaxHops {
		return bad("%d hops are more than %d", len(h.Via), MaxHops)
	}
	for i, id := range h.Via {
		if id == "" {
			return errors.New("a hop is missing: choose an SSH host, or take it out")
		}
		if id == h.ID {
			return errors.New("a host cannot be reached through itself")
		}
		if slices.Contains(h.Via[:i], id) {
			return errors.New("the same hop is there twice")
		}
	}
	return nil
}

func (h *Host) checkWake() error {
	if h.MAC = strings.TrimSpace(h.MAC); h.MAC != "" {
		m, err := net.ParseMAC(h.MAC)
		if err != nil || len(m) != 6 {
			return bad("%q is no hardware address: write it as 52:54:00:12:34:56", h.MAC)
		}
		h.MAC = m.String()
	}
	if h.WakeBroadcast = strings.TrimSpace(h.WakeBroadcast); h.WakeBroadcast != "" {
		ip := net.ParseIP(h.WakeBroadcast)
		if ip == nil {
			return bad("%q is no IP address to send the wake-up call to", h.WakeBroadcast)
		}
		h.WakeBroadcast = ip.String()
	}
	return nil
}

func (t *Terminal) check() error {
	if t.FontSize != 0 && (t.FontSize < 4 || t.FontSize > 96) {
		return bad("a font of %d points is not possible: use 4 to 96", t.FontSize)
	}
	if t.Scrollback < 0 || t.Scrollback > 1_000_000 {
		return bad("%d lines of scrollback are not possible: use up to 1000000", t.Scrollback)
	}
	return errors.Join(
		checkLine("terminal type", &t.Type, 64),
		checkLine("command", &t.Command, MaxPath),
		checkLine("colour scheme", &t.Scheme, MaxName),
		checkLine("text encoding", &t.Encoding, 64),
		word("bell", t.Bell, "", "visible", "off"),
	)
}

func (s *SSH) check() error {
	if s.KeepAlive < 0 || s.KeepAlive > 86400 {
		return bad("a keep-alive of %d seconds is not possible: use up to 86400", s.KeepAlive)
	}
	if len(s.Tunnels) > MaxTunnels {
		return bad("%d tunnels are more than %d", len(s.Tunnels), MaxTunnels)
	}
	for i := range s.Tunnels {
		if err := s.Tunnels[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tunnel) check() error {
	if err := word("direction of a tunnel", t.Direction, TunnelLocal, TunnelRemote, TunnelSOCKS); err != nil {
		return err
	}
	if err := checkEnd(t.Listen, true); err != nil {
		return bad("a tunnel cannot listen on %q: write a port, or host:port", t.Listen)
	}
	if t.Direction == TunnelSOCKS {
		if t.Target != "" {
			return errors.New("a SOCKS tunnel has no target")
		}
		return nil
	}
	if err := checkEnd(t.Target, false); err != nil {
		return bad("a tunnel cannot lead to %q: write host:port", t.Target)
	}
	return nil
}

// checkEnd refuses what is no host:port, or no port alone where that will do.
func checkEnd(s string, bare bool) error {
	if bare && !strings.Contains(s, ":") {
		s = "localhost:" + s
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("no port")
	}
	if host == "" && bare {
		return nil
	}
	_, err = viewer.ParseTarget("["+viewer.Normalize(host)+"]", viewer.SSH)
	return err
}

func (r *RDP) check() error {
	if r.Gateway != "" {
		if _, err := viewer.ParseTarget(r.Gateway, viewer.RDP); err != nil {
			return bad("the gateway: %s", viewer.Reason(err))
		}
	}
	return errors.Join(
		word("RDP security", r.Security, "", "nla", "tls", "rdp"),
		word("audio", r.Audio, "", "here", "remote"),
		checkLine("load balancing", &r.LoadBalance, 512),
		checkLine("program", &r.Program, MaxPath),
		checkLine("login of the gateway", &r.GatewayLogin, MaxUser),
	)
}

// Checked returns the group as it is to be saved, or says what cannot be.
func (g Group) Checked() (Group, error) {
	if err := checkName(&g.Name); err != nil {
		return g, &Error{Op: "check group", Kind: Invalid, Err: err}
	}
	return g, nil
}

// Checked returns the login as it is to be saved, or says what cannot be.
func (l Login) Checked() (Login, error) {
	err := checkName(&l.Name)
	if err == nil {
		err = errors.Join(checkLine("user", &l.User, MaxUser), checkLine("domain", &l.Domain, MaxUser), checkPath("key file", l.KeyFile))
	}
	if err != nil {
		return l, &Error{Op: "check login", Kind: Invalid, Err: err}
	}
	return l, nil
}
