package library

import (
	"fmt"
	"strings"

	"deskvnc/keychain"
)

// tunnelLines are tunnels as they are typed, one a line.
func tunnelLines(tunnels []keychain.Tunnel) string {
	var out []string
	for _, t := range tunnels {
		out = append(out, strings.TrimSpace(string(t.Direction)+" "+t.Listen+" "+t.Target))
	}
	return strings.Join(out, "\n")
}

// parseTunnels reads tunnels, one a line: "local 8080 web:80", "remote 9000
// localhost:3000", "socks 1080", or as ssh takes them: "-L 8080:web:80".
func parseTunnels(text string) (out []keychain.Tunnel, err error) {
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		t, err := parseTunnel(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// directions are the first words of a tunnel.
var directions = map[string]keychain.TunnelDirection{
	"local": keychain.TunnelLocal, "-l": keychain.TunnelLocal, "l": keychain.TunnelLocal,
	"remote": keychain.TunnelRemote, "-r": keychain.TunnelRemote, "r": keychain.TunnelRemote,
	"socks": keychain.TunnelSOCKS, "-d": keychain.TunnelSOCKS, "d": keychain.TunnelSOCKS, "dynamic": keychain.TunnelSOCKS,
}

func parseTunnel(words []string) (t keychain.Tunnel, err error) {
	direction, ok := directions[strings.ToLower(words[0])]
	if !ok {
		return t, fmt.Errorf("a tunnel begins with local, remote or socks, not with %q", words[0])
	}
	t.Direction = direction
	switch {
	case direction == keychain.TunnelSOCKS && len(words) == 2:
		t.Listen = words[1]
	case direction == keychain.TunnelSOCKS:
		return t, fmt.Errorf("a SOCKS tunnel is written as %q", "socks 1080")
	case len(words) == 3:
		t.Listen, t.Target = words[1], words[2]
	case len(words) == 2 && splitsInTwo(words[1], &t):
	default:
		return t, fmt.Errorf("a tunnel is written as %q", string(direction)+" 8080 web:80")
	}
	return t, nil
}

// splitsInTwo reads [host:]port:host:port, in which a host with colons stands
// in brackets.
func splitsInTwo(s string, t *keychain.Tunnel) bool {
	var parts []string
	depth, from := 0, 0
	for i, r := range s {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case ':':
			if depth == 0 {
				parts = append(parts, s[from:i])
				from = i + 1
			}
		}
	}
	parts = append(parts, s[from:])
	if len(parts) < 3 || len(parts) > 4 {
		return false
	}
	end := len(parts) - 2
	t.Listen, t.Target = strings.Join(parts[:end], ":"), strings.Join(parts[end:], ":")
	return true
}
