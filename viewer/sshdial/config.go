package sshdial

import (
	"time"

	"deskvnc/viewer"
)

// A Method is a way to log in that a person has chosen for a machine.
type Method string

// The methods. They say what is offered first and which keys are left out; a
// machine that wants more afterwards gets it.
const (
	// Auto offers what there is: the named keys, those of the agent, the usual
	// key files, and then asks.
	Auto Method = ""
	// Key offers the named keys and no others.
	Key Method = "key"
	// Agent offers the keys of the agent and no files.
	Agent Method = "agent"
	// Password offers no keys.
	Password Method = "password"
)

// A Login says how to log in to one machine.
type Login struct {
	Method Method
	// KeyFile is the private key to offer first; it has to exist and to open.
	KeyFile string
	// CertificateFile is the certificate of that key; empty: the file beside it
	// whose name ends in -cert.pub, when there is one.
	CertificateFile string
	// IdentitiesOnly leaves out keys of the agent that are not named.
	IdentitiesOnly bool
	// NoAgent uses no agent at all.
	NoAgent bool
}

// A Hop is a machine on the way.
type Hop struct {
	Target viewer.Target
	Login
}

// A Config says where to log in and how. Of the target's fields Address, Port,
// User, Proxy and the HostKey of its SSH settings count. Port 22 stands for
// what the SSH configuration says.
type Config struct {
	Target viewer.Target
	Login
	// Via are the machines that lead to the target, the nearest first. With
	// none the SSH configuration decides. The target's proxy leads to the first
	// of them.
	Via []Hop
	// Unattended says that an agent opens this: no commands are run that the SSH
	// configuration holds.
	Unattended bool

	// NoConfig reads no SSH configuration.
	NoConfig bool
	// ConfigFiles are read in the place of ~/.ssh/config and
	// /etc/ssh/ssh_config.
	ConfigFiles []string
	// KnownHostsFiles are read in the place of those that the SSH configuration
	// names; the first is written.
	KnownHostsFiles []string
	// Accepted remembers keys that were accepted and not filed; nil forgets
	// them.
	Accepted *Accepted
	// Home is the person's folder; empty: that of this process.
	Home string

	// KeepAlive says when a silent machine is asked whether it is there. Zero
	// fields stand for the SSH configuration, then for the usual.
	KeepAlive KeepAlive
	// Limits bound the steps of a login; zero fields stand for the usual.
	Limits Limits
}

// A KeepAlive notices that a machine is gone: after Every without a word from
// it it is asked, and after Count times Every without an answer given up.
type KeepAlive struct {
	Every time.Duration
	Count int
}

// The usual keep-alive: a machine that is gone is noticed within 45 s.
const (
	keepAliveEvery = 15 * time.Second
	keepAliveCount = 2
)

func (k KeepAlive) within(other KeepAlive) KeepAlive {
	if k.Every <= 0 {
		k.Every = other.Every
	}
	if k.Count <= 0 {
		k.Count = other.Count
	}
	return k
}

// Limits bound how long a machine may take over each step of a login.
type Limits struct {
	// Greeting is from the connection to the machine's SSH greeting.
	Greeting time.Duration
	// Keys is from the greeting to the proof of who the machine is.
	Keys time.Duration
	// Step is each step of the login itself.
	Step time.Duration
}

// usualLimits are generous: a machine may look names up, or run from a slow
// disk, before it answers.
var usualLimits = Limits{Greeting: 20 * time.Second, Keys: 20 * time.Second, Step: 30 * time.Second}

func (l Limits) within(other Limits) Limits {
	or := func(a, b time.Duration) time.Duration {
		if a > 0 {
			return a
		}
		return b
	}
	return Limits{or(l.Greeting, other.Greeting), or(l.Keys, other.Keys), or(l.Step, other.Step)}
}
