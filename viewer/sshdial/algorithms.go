package sshdial

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"deskvnc/viewer"
	"deskvnc/viewer/sshdial/knownhosts"
)

// hostKeyOrder is the order in which a new machine is asked for its key, the
// same as OpenSSH's, so that both file the same one.
var hostKeyOrder = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
}

// certificateOf is the algorithm of a certificate for each of a key.
var certificateOf = map[string]string{
	ssh.KeyAlgoED25519: ssh.CertAlgoED25519v01, ssh.KeyAlgoECDSA256: ssh.CertAlgoECDSA256v01, ssh.KeyAlgoECDSA384: ssh.CertAlgoECDSA384v01,
	ssh.KeyAlgoECDSA521: ssh.CertAlgoECDSA521v01, ssh.KeyAlgoRSASHA512: ssh.CertAlgoRSASHA512v01, ssh.KeyAlgoRSASHA256: ssh.CertAlgoRSASHA256v01,
}

// algorithms sets what is offered to a machine: what is safe, and what the SSH
// configuration names for it.
func algorithms(c *ssh.ClientConfig, h *hop) error {
	good, weak := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	var err error
	pick := func(what, list string, good, weak []string) []string {
		got, perr := choose(list, good, slices.Concat(good, weak))
		if perr != nil && err == nil {
			err = invalid("the SSH configuration: %s %s: %w", what, list, perr)
		}
		return got
	}
	c.KeyExchanges = pick("KexAlgorithms", h.conf.KexAlgorithms, good.KeyExchanges, weak.KeyExchanges)
	c.Ciphers = pick("Ciphers", h.conf.Ciphers, good.Ciphers, weak.Ciphers)
	c.MACs = pick("MACs", h.conf.MACs, good.MACs, weak.MACs)
	c.HostKeyAlgorithms = pick("HostKeyAlgorithms", h.conf.HostKeyAlgorithms, hostKeyOrder, slices.Concat(good.HostKeys, weak.HostKeys))
	return err
}

// spellings of algorithms in OpenSSH that are others here.
var spellings = map[string]string{"curve25519-sha256@libssh.org": ssh.KeyExchangeCurve25519}

// choose reads a list of the SSH configuration: a whole list, or one that is
// added (+), put first (^) or taken out (-) (ssh_config(5), Ciphers).
func choose(list string, usual, known []string) ([]string, error) {
	if list == "" {
		return slices.Clone(usual), nil
	}
	mode := list[0]
	if strings.IndexByte("+-^", mode) >= 0 {
		list = list[1:]
	} else {
		mode = 0
	}
	if mode == '-' {
		left := slices.DeleteFunc(slices.Clone(usual), func(a string) bool { return knownhosts.MatchList(a, list) })
		if len(left) == 0 {
			return nil, errors.New("nothing is left")
		}
		return left, nil
	}
	var named []string
	for n := range strings.SplitSeq(list, ",") {
		if s, ok := spellings[n]; ok {
			n = s
		}
		for _, k := range known {
			if knownhosts.Match(k, n) && !slices.Contains(named, k) {
				named = append(named, k)
			}
		}
	}
	rest := slices.DeleteFunc(slices.Clone(usual), func(a string) bool { return slices.Contains(named, a) })
	switch mode {
	case '+':
		return slices.Concat(rest, named), nil
	case '^':
		return slices.Concat(named, rest), nil
	}
	if len(named) == 0 {
		return nil, errors.New("none of these is known here")
	}
	return named, nil
}

// namesAlgorithm reports whether a list of the SSH configuration allows a weak
// algorithm by its name.
func namesAlgorithm(list, name string) bool {
	if list == "" || list[0] == '-' {
		return false
	}
	return slices.Contains(strings.Split(strings.TrimLeft(list, "+^"), ","), name)
}

// preferKnown puts the kinds of host key first that are filed for the machine,
// so that it shows the one that can be compared, and asks for certificates only
// where an authority is filed.
func preferKnown(order []string, entries []knownhosts.Entry) []string {
	var certs, first, rest []string
	authority := slices.ContainsFunc(entries, func(e knownhosts.Entry) bool { return e.Marker == knownhosts.Authority })
	for _, a := range order {
		if c, ok := certificateOf[a]; ok && authority {
			certs = append(certs, c)
		}
		if slices.Contains(certificateAlgorithms, a) {
			if authority {
				certs = append(certs, a)
			}
			continue
		}
		if slices.ContainsFunc(entries, func(e knownhosts.Entry) bool {
			return e.Marker == knownhosts.Plain && e.Key.Type() == formatOf(a)
		}) {
			first = append(first, a)
		} else {
			rest = append(rest, a)
		}
	}
	return slices.Concat(compact(certs), first, rest)
}

var certificateAlgorithms = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.CertAlgoRSAv01, "ssh-dss-cert-v01@openssh.com",
	ssh.CertAlgoSKED25519v01, ssh.CertAlgoSKECDSA256v01,
}

// formatOf is the kind of key that an algorithm signs with (RFC 8332 3).
func formatOf(algorithm string) string {
	if algorithm == ssh.KeyAlgoRSASHA256 || algorithm == ssh.KeyAlgoRSASHA512 {
		return ssh.KeyAlgoRSA
	}
	return algorithm
}

func compact(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// optionOf names what in the SSH configuration speaks of each part that is
// agreed on.
var optionOf = map[string]string{"key exchange": "KexAlgorithms", "host key": "HostKeyAlgorithms", "cipher": "Ciphers", "MAC": "MACs"}

// noCommon explains that both sides have nothing in common.
func noCommon(h *hop, e *ssh.AlgorithmNegotiationError) error {
	what, option := e.What, "KexAlgorithms"
	for part, o := range optionOf {
		if strings.Contains(strings.ToLower(e.What), strings.ToLower(part)) {
			what, option = part, o
		}
	}
	weak := ssh.InsecureAlgorithms()
	var could string
	for _, theirs := range e.RequestedAlgorithms {
		if slices.Contains(slices.Concat(weak.KeyExchanges, weak.Ciphers, weak.MACs, weak.HostKeys), theirs) {
			could = theirs
			break
		}
	}
	advice := "it cannot be reached by this viewer until it is updated"
	if could != "" {
		advice = fmt.Sprintf("update it, or accept for this machine alone what is no longer safe: a line \"%s +%s\" below \"Host %s\" in ~/.ssh/config", option, could, h.target.Address)
	}
	return &viewer.Error{Op: "ssh", Kind: viewer.Unsupported, Err: fmt.Errorf("%s and this viewer have no %s in common; it offers %s; this viewer takes %s; %s",
		h.target.Label(), what, cleanLine(strings.Join(e.RequestedAlgorithms, ", "), maxLine), strings.Join(e.SupportedAlgorithms, ", "), advice)}
}

// weakAlgorithms tells a person what of a connection is not safe.
func weakAlgorithms(h *hop, a ssh.NegotiatedAlgorithms) string {
	weak := ssh.InsecureAlgorithms()
	var list []string
	for _, x := range []struct {
		name string
		of   []string
	}{{a.KeyExchange, weak.KeyExchanges}, {a.HostKey, weak.HostKeys}, {a.Read.Cipher, weak.Ciphers}, {a.Write.Cipher, weak.Ciphers}, {a.Read.MAC, weak.MACs}, {a.Write.MAC, weak.MACs}} {
		if slices.Contains(x.of, x.name) && !slices.Contains(list, x.name) {
			list = append(list, x.name)
		}
	}
	if list == nil {
		return ""
	}
	return fmt.Sprintf("the connection to %s uses %s, which is no longer safe; the SSH configuration allows it", h.target.Label(), strings.Join(list, ", "))
}
