package anontls

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// A scripted connection reads what it was made of and swallows what is
// written.
type scripted struct{ io.Reader }

func (scripted) Write(p []byte) (int, error)      { return len(p), nil }
func (scripted) Close() error                     { return nil }
func (scripted) LocalAddr() net.Addr              { return nil }
func (scripted) RemoteAddr() net.Addr             { return nil }
func (scripted) SetDeadline(time.Time) error      { return nil }
func (scripted) SetReadDeadline(time.Time) error  { return nil }
func (scripted) SetWriteDeadline(time.Time) error { return nil }

func record(typ byte, content []byte) []byte { return new(half).seal(nil, typ, content) }

func message(typ byte, body []byte) []byte {
	n := len(body)
	return record(typeHandshake, append([]byte{typ, byte(n >> 16), byte(n >> 8), byte(n)}, body...))
}

// hello is a ServerHello with the session, suite and extensions given.
func hello(version uint16, session []byte, suite uint16, compression byte, extensions []byte) []byte {
	b := append([]byte{byte(version >> 8), byte(version)}, make([]byte, randomBytes)...)
	b = append(append(b, byte(len(session))), session...)
	b = append(b, byte(suite>>8), byte(suite), compression)
	if extensions != nil {
		b = appendVector16(b, extensions)
	}
	return message(msgServerHello, b)
}

func exchange(p, g, y *big.Int) []byte {
	b := appendVector16(nil, p.Bytes())
	b = appendVector16(b, g.Bytes())
	return message(msgServerKeyExchange, appendVector16(b, y.Bytes()))
}

func TestHostileServers(t *testing.T) {
	good := hello(versionTLS12, nil, 0x00A7, 0, nil)
	p := new(big.Int).Lsh(big.NewInt(1), 2047)
	p.SetBit(p, 0, 1)
	two, last := big.NewInt(2), new(big.Int).Sub(p, big.NewInt(1))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tests := []struct {
		name string
		in   []byte
		want string
	}{
		{"nothing", nil, "EOF"},
		{"not TLS", []byte("HTTP/1.1 400 Bad Request\r\n"), "not a TLS record"},
		{"cut header", good[:3], "unexpected EOF"},
		{"cut record", good[:20], "unexpected EOF"},
		{"record too long", []byte{typeHandshake, 3, 3, 0xff, 0xff}, "longer than the protocol allows"},
		{"endless empty records", bytes.Repeat([]byte{typeHandshake, 3, 3, 0, 0}, 1000), "too many empty records"},
		{"endless warnings", bytes.Repeat(record(typeAlert, []byte{1, 90}), 1000), "too many warnings"},
		{"farewell", record(typeAlert, []byte{1, 0}), "unexpected EOF"},
		{"refusal", record(typeAlert, []byte{2, 40}), "no common cipher suite"},
		{"another refusal", record(typeAlert, []byte{2, 199}), "alert 199"},
		{"broken alert", record(typeAlert, []byte{2}), "alert of a wrong size"},
		{"data at once", record(typeData, []byte("RFB")), "handshake of the server makes no sense"},
		{"message too long", record(typeHandshake, []byte{msgServerHello, 0xff, 0xff, 0xff}), "longer than the protocol allows"},
		{"messages out of order", message(msgServerHelloDone, nil), "message 14 where 2 belongs"},
		{"TLS 1.0", hello(0x0301, nil, 0x00A7, 0, nil), "not TLS 1.2"},
		{"suite not offered", hello(versionTLS12, nil, 0x0000, 0, nil), "not offered"},
		{"compression", hello(versionTLS12, nil, 0x00A7, 1, nil), "not offered"},
		{"session too long", hello(versionTLS12, make([]byte, 33), 0x00A7, 0, nil), "hello of the server makes no sense"},
		{"extension not offered", hello(versionTLS12, nil, 0x00A7, 0, []byte{0, 35, 0, 0}), "extension 35"},
		{"renegotiation not empty", hello(versionTLS12, nil, 0x00A7, 0, []byte{0xff, 1, 0, 2, 1, 0}), "extension 65281"},
		{"extension cut", hello(versionTLS12, nil, 0x00A7, 0, []byte{0, 23, 0, 9}), "makes no sense"},
		{"hello cut", message(msgServerHello, []byte{3, 3}), "makes no sense"},
		{"no exchange", join(good, message(msgServerHelloDone, nil)), "message 14 where 12 belongs"},
		{"exchange cut", join(good, message(msgServerKeyExchange, []byte{0, 9, 1})), "key exchange of the server makes no sense"},
		{"exchange with a rest", join(good, message(msgServerKeyExchange, []byte{0, 1, 1, 0, 1, 1, 0, 1, 1, 7})), "makes no sense"},
		{"group too small", join(good, exchange(big.NewInt(23), two, two)), "group of 5 bits"},
		{"group too large", join(good, exchange(new(big.Int).SetBit(new(big.Int), 8200, 1), two, two)), "group of 8201 bits"},
		{"even group", join(good, exchange(last, two, two)), "out of range"},
		{"public value 1", join(good, exchange(p, two, big.NewInt(1))), "out of range"},
		{"public value p-1", join(good, exchange(p, two, last)), "out of range"},
		{"generator 0", join(good, exchange(p, new(big.Int), two)), "out of range"},
		{"encryption without proof", join(good, exchange(p, two, two), message(msgServerHelloDone, nil),
			record(typeChangeCipherSpec, []byte{1}), record(typeHandshake, make([]byte, 40))), "damaged or forged"},
		{"short encrypted record", join(good, exchange(p, two, two), message(msgServerHelloDone, nil),
			record(typeChangeCipherSpec, []byte{1}), record(typeHandshake, make([]byte, 10))), "too short"},
		{"message before the change", join(good, exchange(p, two, two), message(msgServerHelloDone, nil),
			record(typeHandshake, make([]byte, 16))), "change to encryption"},
		{"done with content", join(good, exchange(p, two, two), message(msgServerHelloDone, []byte{1})), "end of its hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Client(scripted{bytes.NewReader(tt.in)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// After the handshake: what arrives is changed on its way, repeated or out of
// order.
func TestHostileRecords(t *testing.T) {
	sender, err := newHalf(make([]byte, 16), make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	first := sender.seal(nil, typeData, []byte("one"))
	second := sender.seal(nil, typeData, []byte("two"))
	bye := sender.seal(nil, typeAlert, []byte{alertLevelWarning, 0})
	changed := bytes.Clone(first)
	changed[len(changed)-1] ^= 1
	retyped := bytes.Clone(first)
	retyped[0] = typeHandshake
	tests := []struct {
		name string
		in   [][]byte
		read string
		want error
	}{
		{"in order", [][]byte{first, second, bye}, "onetwo", io.EOF},
		{"without farewell", [][]byte{first}, "one", io.EOF},
		{"changed", [][]byte{changed}, "", errForged},
		{"of another type", [][]byte{retyped}, "", errForged},
		{"out of order", [][]byte{second, first}, "", errForged},
		{"repeated", [][]byte{first, first}, "one", errForged},
		{"cut", [][]byte{first, second[:9]}, "one", io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := newHalf(make([]byte, 16), make([]byte, 4))
			if err != nil {
				t.Fatal(err)
			}
			c := &Conn{Conn: scripted{bytes.NewReader(bytes.Join(tt.in, nil))}, in: in}
			var got []byte
			p := make([]byte, 2)
			for err == nil {
				var n int
				n, err = c.Read(p)
				got = append(got, p[:n]...)
			}
			if string(got) != tt.read || !errors.Is(err, tt.want) {
				t.Errorf("got %q and %v, want %q and %v", got, err, tt.read, tt.want)
			}
			if _, again := c.Read(p); again != err {
				t.Errorf("the second time: got %v, want the same", again)
			}
		})
	}
}

// A content of more than a record, and more than a batch, arrives whole.
func TestLongWrites(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	out, err := newHalf(make([]byte, 32), make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	w, r := &Conn{Conn: a, out: out}, &Conn{Conn: b, in: out}
	want := bytes.Repeat([]byte("0123456789"), (batch*maxPlain+5000)/10)
	go w.Write(want) // ends with the pipe at the latest
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %v, and the same bytes: %v", err, bytes.Equal(got, want))
	}
}

func FuzzServer(f *testing.F) {
	p := new(big.Int).Lsh(big.NewInt(1), 1023)
	p.SetBit(p, 0, 1)
	f.Add(hello(versionTLS12, nil, 0x00A7, 0, []byte{0xff, 1, 0, 1, 0, 0, 23, 0, 0}))
	f.Add(bytes.Join([][]byte{hello(versionTLS12, nil, 0x00A6, 0, nil), exchange(p, big.NewInt(2), big.NewInt(2)),
		message(msgServerHelloDone, nil), record(typeChangeCipherSpec, []byte{1}), record(typeHandshake, make([]byte, 40))}, nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := Client(scripted{bytes.NewReader(in)}); err == nil {
			t.Error("got no error from a server that cannot know the keys")
		}
		c := &Conn{Conn: scripted{bytes.NewReader(in)}}
		if n, err := io.Copy(io.Discard, c); n > int64(len(in)) {
			t.Errorf("read %d bytes of %d, %v", n, len(in), err)
		}
	})
}
