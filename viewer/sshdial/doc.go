// Package sshdial makes one SSH login: it finds the way to a machine, over
// proxies and jump hosts, checks that each machine is the one it was, logs in,
// and gives a [Client] through which terminals, files and tunnels run.
//
// It follows OpenSSH where people expect it: ~/.ssh/config, known_hosts, key
// files, certificates and the agent. What is set here wins over the
// configuration, except that nothing there makes a login less safe: an unknown
// host key is always a question, a changed one always a stop.
//
// Everything a machine sends is hostile until its key has been checked, and
// bounded afterwards too. Each step has a deadline, which stands still while a
// person is asked.
package sshdial
