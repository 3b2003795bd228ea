package callers

import (
	"fmt"
	"net/netip"
	"strings"

	"deskvnc/viewer"
)

// A From is a set of addresses that calls may come from.
type From []netip.Prefix

// ParseFrom reads addresses and networks, such as 192.168.1.5 and 10.0.0.0/8.
func ParseFrom(texts ...string) (From, error) {
	var f From
	for _, text := range texts {
		text = strings.TrimSpace(text)
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, aerr := netip.ParseAddr(text)
			if aerr != nil || a.Zone() != "" {
				return nil, fmt.Errorf("%.64q is neither an IP address nor a network: write 192.168.1.5 or 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		if p.Addr().Is4In6() {
			if p.Bits() < 96 {
				return nil, fmt.Errorf("%.64q is no network of IPv4 addresses: write it as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		f = append(f, p.Masked())
	}
	return f, nil
}

// Has reports whether a caller is one of them.
func (f From) Has(t viewer.Target) bool {
	a, err := netip.ParseAddr(t.Address)
	if err != nil {
		return false
	}
	a = a.Unmap().WithZone("")
	for _, p := range f {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
