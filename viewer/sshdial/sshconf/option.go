package sshconf

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// kind says how the values of an option come together.
type kind byte

const (
	once kind = iota + 1 // the first one stands
	list                 // the first line stands, with all its words
	adds                 // every line adds one
)

// options are those that are followed.
var options = map[string]kind{
	"hostname": once, "user": once, "port": once, "identityfile": adds, "certificatefile": adds, "identitiesonly": once,
	"identityagent": once, "proxyjump": once, "proxycommand": once, "serveraliveinterval": once, "serveralivecountmax": once,
	"connecttimeout": once, "hostkeyalgorithms": once, "kexalgorithms": once, "ciphers": once, "macs": once,
	"pubkeyacceptedalgorithms": once, "hostkeyalias": once, "userknownhostsfile": list, "globalknownhostsfile": list,
	"stricthostkeychecking": once, "hashknownhosts": once, "revokedhostkeys": once, "pubkeyauthentication": once,
	"passwordauthentication": once, "kbdinteractiveauthentication": once,
}

// aliases are older names of options.
var aliases = map[string]string{
	"pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms", "challengeresponseauthentication": "kbdinteractiveauthentication",
	"skeyauthentication": "kbdinteractiveauthentication", "tisauthentication": "kbdinteractiveauthentication",
	"dsaauthentication": "pubkeyauthentication", "identityfile2": "identityfile", "userknownhostsfile2": "", "globalknownhostsfile2": "",
}

// changesWay are options that lead elsewhere, or judge otherwise, when they are
// not followed. The value is the one that asks for nothing.
var changesWay = map[string]string{
	"canonicalizehostname": "no", "knownhostscommand": "none", "pkcs11provider": "none", "bindaddress": "", "bindinterface": "",
	"proxyusefdpass": "no", "addressfamily": "any", "preferredauthentications": "", "securitykeyprovider": "internal",
	"verifyhostkeydns": "no", "casignaturealgorithms": "", "requiredrsasize": "1024",
}

// harmless are the options that say nothing about a login, or weaken or speed
// up what is done here in its own way.
var harmless = words(`addkeystoagent batchmode canonicaldomains canonicalizefallbacklocal canonicalizemaxdots
canonicalizepermittedcnames channeltimeout checkhostip clearallforwardings compression compressionlevel connectionattempts
controlmaster controlpath controlpersist dynamicforward enableescapecommandline enablesshkeysign escapechar exitonforwardfailure
fingerprinthash forkafterauthentication forwardagent forwardx11 forwardx11timeout forwardx11trusted gatewayports
gssapiauthentication gssapidelegatecredentials gssapiclientidentity gssapikexalgorithms gssapikeyexchange gssapirenewalforcesrekey
gssapiserveridentity gssapitrustdns hostbasedacceptedalgorithms hostbasedkeytypes hostbasedauthentication ignoreunknown ipqos
localcommand localforward loglevel logverbose nohostauthenticationforlocalhost numberofpasswordprompts obscurekeystroketiming
permitlocalcommand permitremoteopen rekeylimit remotecommand remoteforward requesttty sendenv sessiontype setenv
stdinnull streamlocalbindmask streamlocalbindunlink syslogfacility tag tcpkeepalive tunnel tunneldevice updatehostkeys useprivilegedport
useroaming visualhostkey xauthlocation warnweakcrypto versionaddendum refuseconnection
cipher compressionlevel fallbacktorsh globalknownhostsfile2 keepalive keychainintegration usekeychain protocol rhostsauthentication
rhostsrsaauthentication rsaauthentication smartcarddevice usersh userknownhostsfile2 afstokenpassing kerberosauthentication kerberostgtpassing`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// option takes one line that counts.
func (r *reader) option(key, word string, args []string, at string) {
	if a, ok := aliases[key]; ok {
		key = a
	}
	if nothing, ok := changesWay[key]; ok {
		if r.where[key] == "" {
			r.where[key] = at
			if !strings.EqualFold(args[0], nothing) {
				r.notice("%s (%s) is not followed", word, at)
			}
		}
		return
	}
	k := options[key]
	switch {
	case k == 0:
		if key != "" && !harmless[key] {
			r.notice("%s (%s) is not known and was passed over", word, at)
		}
		return
	case k == adds:
		if len(r.set[key]) < maxList && !contains(r.set[key], args[0]) {
			r.set[key] = append(r.set[key], args[0])
		}
		return
	case r.set[key] != nil:
		return
	case k == once:
		args = args[:1]
	}
	// ProxyJump and ProxyCommand are one choice: the first of them stands.
	if key == "proxyjump" && r.set["proxycommand"] != nil || key == "proxycommand" && r.set["proxyjump"] != nil {
		return
	}
	r.set[key], r.where[key] = args[:min(len(args), maxList)], at
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

// settings gives the options their types.
func (r *reader) settings() (s Settings, err error) {
	bad := func(key string, cause any) {
		if err == nil {
			err = fmt.Errorf("%s: %s %s: %v", r.where[key], key, r.first(key), cause)
		}
	}
	yes := func(key string) (on, off bool) {
		switch strings.ToLower(r.first(key)) {
		case "":
		case "yes", "true", "on":
			return true, false
		case "no", "false", "off":
			return false, true
		default:
			if key != "pubkeyauthentication" { // which has more values
				bad(key, "use yes or no")
			}
		}
		return false, false
	}
	duration := func(key string) time.Duration {
		if v := r.first(key); v != "" && !strings.EqualFold(v, "none") {
			d, derr := seconds(v)
			if derr != nil {
				bad(key, "this is not a time")
			}
			return d
		}
		return 0
	}
	s = Settings{
		HostName: r.hostName(), User: r.first("user"), IdentityAgent: r.first("identityagent"),
		ProxyJump: r.first("proxyjump"), ProxyCommand: r.first("proxycommand"),
		HostKeyAlgorithms: r.first("hostkeyalgorithms"), KexAlgorithms: r.first("kexalgorithms"), Ciphers: r.first("ciphers"),
		MACs: r.first("macs"), PubkeyAcceptedAlgorithms: r.first("pubkeyacceptedalgorithms"),
		HostKeyAlias: r.first("hostkeyalias"), StrictHostKeyChecking: strings.ToLower(r.first("stricthostkeychecking")),
		ServerAliveInterval: duration("serveraliveinterval"), ConnectTimeout: duration("connecttimeout"), Notices: r.notes,
	}
	if v := r.first("port"); v != "" {
		if s.Port, err = port(v); err != nil {
			return s, fmt.Errorf("%s: %w", r.where["port"], err)
		}
	}
	if v := r.first("serveralivecountmax"); v != "" {
		n, nerr := strconv.ParseUint(v, 10, 16)
		if nerr != nil {
			bad("serveralivecountmax", "this is not a number")
		}
		s.ServerAliveCountMax = int(n)
	}
	s.IdentitiesOnly, _ = yes("identitiesonly")
	s.HashKnownHosts, _ = yes("hashknownhosts")
	_, s.NoPubkey = yes("pubkeyauthentication")
	_, s.NoPassword = yes("passwordauthentication")
	_, s.NoKbdInteractive = yes("kbdinteractiveauthentication")
	t := r.tokens()
	paths := func(key string) (all []string) {
		if r.set[key] != nil {
			all = []string{} // set, perhaps to none
		}
		for _, p := range r.set[key] {
			if !strings.EqualFold(p, "none") {
				all = append(all, r.path(p, t))
			}
		}
		return all
	}
	s.IdentityFiles, s.CertificateFiles = paths("identityfile"), paths("certificatefile")
	s.UserKnownHostsFiles, s.GlobalKnownHostFiles = paths("userknownhostsfile"), paths("globalknownhostsfile")
	if v := paths("revokedhostkeys"); len(v) > 0 {
		s.RevokedHostKeys = v[0]
	}
	if v := s.IdentityAgent; v != "" && v != "none" && v != "SSH_AUTH_SOCK" && !strings.HasPrefix(v, "$") {
		s.IdentityAgent = r.path(v, t)
	}
	route := map[byte]string{'h': t['h'], 'n': t['n'], 'p': t['p'], 'r': t['r']}
	s.ProxyJump, s.ProxyCommand = expand(s.ProxyJump, route), expand(s.ProxyCommand, route)
	if strings.EqualFold(s.ProxyJump, "none") {
		s.ProxyJump = ""
	}
	if strings.EqualFold(s.ProxyCommand, "none") {
		s.ProxyCommand = ""
	}
	return s, err
}

// path gives a file its full name: ~, ${VARIABLE} and tokens.
func (r *reader) path(p string, tokens map[byte]string) string {
	for range maxList {
		at := strings.Index(p, "${")
		if at < 0 {
			break
		}
		end := strings.IndexByte(p[at:], '}')
		if end < 0 {
			break
		}
		p = p[:at] + os.Getenv(p[at+2:at+end]) + p[at+end+1:]
	}
	return expand(r.home(p), tokens)
}
