package auth

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// noVNCClient has noVNC's own login methods speak to a port: it greets, takes
// the one type that is offered, and calls the method until it is done.
const noVNCClient = `
const [root, port, method, user, password] = process.argv.slice(2);
globalThis.window = globalThis;
if (!globalThis.navigator) globalThis.navigator = { userAgent: '', platform: '', language: 'en' };
globalThis.addEventListener = globalThis.removeEventListener = () => {};
const anything = new Proxy(function () {}, { get: (_, k) => k === Symbol.toPrimitive ? () => 0 : anything, set: () => true, apply: () => anything, construct: () => anything });
Object.assign(globalThis, { document: anything, MutationObserver: anything, localStorage: anything, Image: anything, WebSocket: anything });
const RFB = require(root + '/lib/rfb.js').default;
const c = require('net').connect(Number(port), '127.0.0.1');
let buf = Buffer.alloc(0), out = [], step = 0;
const take = n => { const b = buf.subarray(0, n); buf = buf.subarray(n); return new Uint8Array(b); };
const sock = {
	rQwait: (_, n) => buf.length < n,
	rQshiftBytes: take,
	rQshift16: () => { const b = take(2); return b[0] << 8 | b[1]; },
	sQpushBytes: b => out.push(Buffer.from(b)),
	sQpush8: n => out.push(Buffer.from([n])),
	flush: () => { c.write(Buffer.concat(out)); out = []; },
};
const self = Object.create(RFB.prototype, {
	_sock: { value: sock }, _rfbCredentials: { value: { username: user, password }, writable: true },
	_rfbInitState: { value: '', writable: true }, _resumeAuthentication: { value: () => {} },
});
self._fail = why => { console.log('failed: ' + why); process.exit(1); };
c.on('data', d => {
	buf = Buffer.concat([buf, d]);
	if (step === 0 && buf.length >= 12) { take(12); c.write('RFB 003.008\n'); step = 1; }
	if (step === 1 && buf.length >= 2) { c.write(take(2).subarray(1)); step = 2; }
	if (step === 2) self[method]();
});
c.on('close', () => process.exit(0));
`

// noVNC, which others wrote, logs in to the machine that stands in for real
// ones in these tests: both have read the documents in the same way.
func TestNoVNCLogsIn(t *testing.T) {
	root := os.Getenv("DESKVNC_NOVNC")
	if root == "" {
		t.Skip("SKIPPED: DESKVNC_NOVNC names no folder with the package @novnc/novnc")
	}
	node := need(t, "node")
	script := filepath.Join(t.TempDir(), "client.js")
	if err := os.WriteFile(script, []byte(noVNCClient), 0o600); err != nil {
		t.Fatal(err)
	}
	const user, password = "jürgen", "pässword"
	for _, c := range []struct {
		typ    uint8
		method string
		login  func(check func(user, password string) error) func(*machine) error
	}{
		{TypeMSLogonII, "_negotiateMSLogonIIAuth", msLogonServer},
	} {
		t.Run(Name(c.typ), func(t *testing.T) {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			start(t, exec.Command(node, script, root, strconv.Itoa(l.Addr().(*net.TCPAddr).Port), c.method, user, password))
			if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(hang)); err != nil {
				t.Fatal(err)
			}
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			if err := far.SetDeadline(time.Now().Add(hang)); err != nil {
				t.Fatal(err)
			}
			checked := false
			m := &machine{Conn: far, types: []byte{c.typ}, refuse: "this was all", login: c.login(func(u, p string) error {
				checked = true
				if u != user || p != password {
					return fmt.Errorf("got the user %q and the password %q", u, p)
				}
				return nil
			})}
			if err := m.serve(); err != nil || !checked {
				t.Errorf("got %v, checked %v", err, checked)
			}
		})
	}
}
