package secrettest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// A Reply is what the person does with a question of the keyring.
type Reply struct {
	Password string // given, and confirmed
	Dismiss  bool   // the window is closed
	Ignore   bool   // nobody looks
}

// A Prompter shows no window: it answers gnome-keyring's questions in place of
// gcr-prompter and counts them.
type Prompter struct {
	Shown   chan string   // receives the kind of each question
	Stopped chan struct{} // receives when a question is taken back or over

	conn *dbus.Conn

	mu    sync.Mutex // guards below
	reply Reply
	count int
	open  *dbus.Message // the question on the screen
}

// StartPrompter takes the prompter's name on the bus.
func (s *Session) StartPrompter(t testing.TB, r Reply) *Prompter {
	t.Helper()
	p := &Prompter{
		Shown:   make(chan string, 1024),
		Stopped: make(chan struct{}, 1024),
		conn:    s.Dial(t),
		reply:   r,
	}
	got, err := p.conn.RequestName("org.gnome.keyring.SystemPrompter", dbus.NameFlagDoNotQueue)
	if err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal("the prompter's name is taken: ", got, err)
	}
	// The keyring wants each reply before what follows from it, and the
	// library answers a call in a goroutine of its own: so it is done here.
	calls := make(chan *dbus.Message, 1024)
	p.conn.Eavesdrop(calls)
	go func() {
		for m := range calls { // until the connection is closed
			if m.Type == dbus.TypeMethodCall {
				p.handle(m)
			}
		}
	}()
	return p
}

// Answer changes what the person does from now on.
func (p *Prompter) Answer(r Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reply = r
}

// AnswerLate answers the last question, which was ignored until now.
func (p *Prompter) AnswerLate(r Reply) {
	p.mu.Lock()
	m := p.open
	p.mu.Unlock()
	p.answer(m, r)
}

// Count tells how often a password was asked for. The confirmation that may
// follow a new one belongs to the same question.
func (p *Prompter) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// handle does what org.gnome.keyring.internal.Prompter says of each method.
func (p *Prompter) handle(m *dbus.Message) {
	var to dbus.ObjectPath // the conversation
	if len(m.Body) > 0 {
		to, _ = m.Body[0].(dbus.ObjectPath)
	}
	p.send(dbus.TypeMethodReply, m, map[dbus.HeaderField]any{dbus.FieldReplySerial: m.Serial()})
	switch m.Headers[dbus.FieldMember].Value() {
	case "BeginPrompting":
		p.ready(m, to, "", "")
	case "PerformPrompt":
		kind, _ := m.Body[1].(string)
		p.mu.Lock()
		if kind == "password" {
			p.count++
		}
		p.open = m
		r := p.reply
		p.mu.Unlock()
		if !r.Ignore {
			p.answer(m, r)
		}
		p.Shown <- kind
	case "StopPrompting":
		p.call(m, to, "PromptDone")
		p.Stopped <- struct{}{}
	}
}

// answer gives the reply of the person to the question m.
func (p *Prompter) answer(m *dbus.Message, r Reply) {
	to, _ := m.Body[0].(dbus.ObjectPath)
	exchange, _ := m.Body[3].(string)
	sealed, err := seal(exchange, r.Password)
	if r.Dismiss || err != nil {
		p.ready(m, to, "no", "")
		return
	}
	p.ready(m, to, "yes", sealed)
}

func (p *Prompter) ready(m *dbus.Message, to dbus.ObjectPath, reply, sealed string) {
	p.call(m, to, "PromptReady", reply, map[string]dbus.Variant{}, sealed)
}

// call calls a method of the conversation with whoever sent m.
func (p *Prompter) call(m *dbus.Message, to dbus.ObjectPath, method string, args ...any) {
	p.send(dbus.TypeMethodCall, m, map[dbus.HeaderField]any{
		dbus.FieldPath:      to,
		dbus.FieldInterface: "org.gnome.keyring.internal.Prompter.Callback",
		dbus.FieldMember:    method,
	}, args...)
}

// send sends a message to whoever sent m. A broken connection shows in the
// test that waits for an answer.
func (p *Prompter) send(kind dbus.Type, m *dbus.Message, headers map[dbus.HeaderField]any, body ...any) {
	out := &dbus.Message{Type: kind, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: m.Headers[dbus.FieldSender],
	}, Body: body}
	if kind == dbus.TypeMethodCall {
		out.Flags = dbus.FlagNoReplyExpected
	}
	for f, v := range headers {
		out.Headers[f] = dbus.MakeVariant(v)
	}
	if len(body) > 0 {
		out.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	p.conn.Send(out, nil)
}

// exchangePrime is the 1536-bit group of RFC 3526 section 2; its generator is 2.
var exchangePrime, _ = new(big.Int).SetString(
	"FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"+
		"020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"+
		"4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"+
		"EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05"+
		"98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB"+
		"9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF", 16)

// seal encrypts the password for the keyring as its prompter does: "sx-aes-1",
// a key file with our number, the password under the key agreed on, and its IV.
func seal(exchange, password string) (string, error) {
	theirs := new(big.Int)
	for _, line := range strings.Split(exchange, "\n") {
		if v, ok := strings.CutPrefix(line, "public="); ok {
			b, err := base64.StdEncoding.DecodeString(v)
			if err != nil {
				return "", err
			}
			theirs.SetBytes(b)
		}
	}
	if theirs.BitLen() < 2 {
		return "", errors.New("the keyring sent no number")
	}
	private, err := rand.Int(rand.Reader, exchangePrime)
	if err != nil {
		return "", err
	}
	public := new(big.Int).Exp(big.NewInt(2), private, exchangePrime)
	shared := new(big.Int).Exp(theirs, private, exchangePrime).FillBytes(make([]byte, exchangePrime.BitLen()/8))
	key, err := hkdf.Key(sha256.New, shared, nil, "", aes.BlockSize)
	if err != nil {
		return "", err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	iv := make([]byte, aes.BlockSize)
	rand.Read(iv)
	pad := aes.BlockSize - len(password)%aes.BlockSize
	text := []byte(password + strings.Repeat(string(rune(pad)), pad))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("[sx-aes-1]\npublic=%s\nsecret=%s\niv=%s\n", b64(public.Bytes()), b64(text), b64(iv)), nil
}
