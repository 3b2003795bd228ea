package auth

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"deskvnc/viewer"
	"deskvnc/viewer/conn"
	"deskvnc/viewer/trust"
)

// A scripted connection reads what it was made of and swallows what is
// written.
type scripted struct {
	io.Reader
	written int
}

func (s *scripted) Write(p []byte) (int, error)    { s.written += len(p); return len(p), nil }
func (*scripted) Close() error                     { return nil }
func (*scripted) LocalAddr() net.Addr              { return nil }
func (*scripted) RemoteAddr() net.Addr             { return nil }
func (*scripted) SetDeadline(time.Time) error      { return nil }
func (*scripted) SetReadDeadline(time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(time.Time) error { return nil }

// maxSent is more than any login sends.
const maxSent = 1 << 16

// fuzz feeds a method whatever the fuzzer makes up.
func fuzz(f *testing.F, method func(*Login) Method, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		cl := newClient("secretpassword")
		cl.user, cl.consent = "user", true
		l := cl.login(viewer.Target{Protocol: viewer.VNC, Address: "desk.example", Port: 5900})
		s := &scripted{Reader: bytes.NewReader(in)}
		c := conn.New(s)
		err := method(l).Login(c)
		if s.written > maxSent || c.Received() > uint64(len(in)) {
			t.Errorf("sent %d bytes, read %d of %d", s.written, c.Received(), len(in))
		}
		if err != nil && bytes.Contains([]byte(err.Error()), []byte("secretpassword")) {
			t.Error("the error holds the password")
		}
	})
}

func FuzzVeNCrypt(f *testing.F) {
	fuzz(f, func(l *Login) Method { return veNCrypt{l} },
		[]byte{0, 2, 0, 2, 0, 0, 1, 2, 0, 0, 1, 5, 1}, []byte{0, 2, 0, 1, 0, 0, 1, 0}, []byte{0, 2, 0, 1, 0, 0, 1, 2, 1, 22, 3, 3, 0, 4, 2, 0, 0, 0})
}

func FuzzTLS(f *testing.F) {
	fuzz(f, func(l *Login) Method { return anonTLS{l} }, []byte{22, 3, 3, 0, 4, 2, 0, 0, 0})
}

func FuzzAppleDH(f *testing.F) {
	fuzz(f, func(l *Login) Method { return appleDH{l} }, append([]byte{0, 5, 0, 64}, bytes.Repeat([]byte{200}, 128)...))
}

func FuzzMSLogonII(f *testing.F) {
	fuzz(f, func(l *Login) Method { return msLogon{l} }, []byte{0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 127, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 99})
}

func FuzzTight(f *testing.F) {
	fuzz(f, func(l *Login) Method { return &tight{l: l} }, append(capabilities(tightNoTunnel), capabilities(tightVNC, tightUnix)...), append(capabilities(), append(capabilities(tightVeNCrypt), 0, 2, 0, 1, 0, 0, 1, 0)...))
}

func FuzzUltraVNC(f *testing.F) {
	fuzz(f, func(l *Login) Method { return ultraVNC{l} }, []byte{255, 255, 255, 255, 1, 1, 255, 255, 255, 255, 2, 2, 113}, []byte{0, 0, 0, 0})
}

func FuzzAppleRSA(f *testing.F) {
	fuzz(f, func(l *Login) Method { return appleRSA{l} }, []byte{0, 0, 0, 8, 0, 1, 0, 0, 0, 2, 48, 0})
}

func FuzzAppleSRP(f *testing.F) {
	fuzz(f, func(l *Login) Method { return appleSRP{l} }, []byte{0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 1, 255})
}

// The client's RSA key costs too much to be made for each input: the parts
// that read are fuzzed by themselves.
func FuzzRSAAES(f *testing.F) {
	f.Add(append(u32(1024), bytes.Repeat([]byte{255}, 256)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		if k, wire, err := takeRSAKey(conn.New(&scripted{Reader: bytes.NewReader(in)})); err == nil {
			if len(wire) > len(in) || k.N.BitLen() > maxRSABits {
				t.Errorf("got %d bytes of %d, %d bits", len(wire), len(in), k.N.BitLen())
			}
			if b, err := encryptPKCS1(k, make([]byte, 32)); err != nil || len(b) != k.Size() {
				t.Errorf("encrypting: %d bytes, %v", len(b), err)
			}
			_ = trust.RSAKey(k.N.BitLen(), wire, "").Fingerprint()
		}
		in1, err := newEAXHalf(make([]byte, 16))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, &eaxConn{Conn: &scripted{Reader: bytes.NewReader(in)}, in: in1}); n > 0 {
			t.Errorf("read %d bytes that nobody sealed, %v", n, err)
		}
	})
}

func FuzzSRPChallenge(f *testing.F) {
	f.Add([]byte{0, 0, 1, 7, 0, 1, 5, 1, 1, 0, 1, 9, 0, 0, 0, 0, 0, 0, 9, 9, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		if ch, err := parseSRPChallenge(in); err == nil && (ch.iterations > maxSRPIterations || len(ch.options) > maxSRPOptions) {
			t.Errorf("got %d iterations and %d bytes of options", ch.iterations, len(ch.options))
		}
		_, _ = inner(in)
		_, _, _ = parseAppleKey(in)
		_ = (&srpProof{theirs: make([]byte, srpHashBytes)}).check(in, "desk")
	})
}

func FuzzAbilities(f *testing.F) {
	f.Add(make([]byte, 8))
	f.Fuzz(func(t *testing.T, in []byte) {
		_ = DiscardAbilities(conn.New(&scripted{Reader: bytes.NewReader(in)}))
	})
}

// What was sealed arrives in pieces of any size; a change ends it.
func TestEAXConn(t *testing.T) {
	half := func() *eaxHalf {
		h, err := newEAXHalf(make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want := bytes.Repeat([]byte("0123456789"), (3*eaxChunk+77)/10)
	var wire bytes.Buffer
	w := &eaxConn{Conn: &recorder{scripted: scripted{}, to: &wire}, out: half()}
	if n, err := w.Write(want); n != len(want) || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	for _, piece := range []int{1, 1000, 100000} {
		r := &eaxConn{Conn: &scripted{Reader: bytes.NewReader(wire.Bytes())}, in: half()}
		var got []byte
		b := make([]byte, piece)
		var err error
		for err == nil {
			var n int
			n, err = r.Read(b)
			got = append(got, b[:n]...)
		}
		if !bytes.Equal(got, want) || err != io.EOF {
			t.Errorf("in pieces of %d: got %d bytes and %v", piece, len(got), err)
		}
	}
	changed := bytes.Clone(wire.Bytes())
	changed[eaxChunk+100] ^= 1 // in the second message
	r := &eaxConn{Conn: &scripted{Reader: bytes.NewReader(changed)}, in: half()}
	if n, err := io.Copy(io.Discard, r); n != eaxChunk || viewer.KindOf(err) != viewer.Malformed {
		t.Errorf("changed: got %d bytes and %v", n, err)
	}
	h := half()
	empty := bytes.Join([][]byte{h.seal(nil, nil), h.seal(nil, nil)}, nil)
	for range maxEAXEmpty {
		empty = append(empty, h.seal(nil, nil)...)
	}
	r = &eaxConn{Conn: &scripted{Reader: bytes.NewReader(empty)}, in: half()}
	if _, err := r.Read(make([]byte, 1)); viewer.KindOf(err) != viewer.Malformed {
		t.Errorf("empty messages: got %v", err)
	}
}

type recorder struct {
	scripted
	to io.Writer
}

func (r *recorder) Write(p []byte) (int, error) { return r.to.Write(p) }

// Both directions at once, as a session uses the connection.
func TestEAXConnBothWays(t *testing.T) {
	near, far := loopback(t)
	defer near.Close()
	defer far.Close()
	ends := [2]*eaxConn{{Conn: near}, {Conn: far}}
	for i := range ends {
		for _, h := range []**eaxHalf{&ends[i].in, &ends[1-i].out} {
			var err error
			if *h, err = newEAXHalf(bytes.Repeat([]byte{byte(i)}, 16)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := bytes.Repeat([]byte("both ways at once"), 20000)
	var wg sync.WaitGroup
	for _, e := range ends {
		_ = e.SetDeadline(time.Now().Add(hang))
		wg.Go(func() {
			if n, err := e.Write(want); n != len(want) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
		})
		wg.Go(func() {
			got := make([]byte, len(want))
			if _, err := io.ReadFull(e, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("reading: %v", err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkEAXRead(b *testing.B) {
	text := make([]byte, eaxChunk)
	w, err := newEAXHalf(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	sealed := w.seal(nil, text)
	b.SetBytes(eaxChunk)
	for b.Loop() {
		r := &eaxHalf{eax: w.eax}
		if _, err := r.open(sealed[:2], bytes.Clone(sealed[2:])); err != nil {
			b.Fatal(err)
		}
	}
}
