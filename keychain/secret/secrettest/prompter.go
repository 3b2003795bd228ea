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
	if err := p.conn.Export(exported{p}, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter"); err != nil {
		t.Fatal(err)
	}
	got, err := p.conn.RequestName("org.gnome.keyring.SystemPrompter", dbus.NameFlagDoNotQueue)
	if err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal("the prompter's name is taken: ", got, err)
	}
	return p
}

// Answer changes what the person does from now on.
func (p *Prompter) Answer(r Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reply = r
}

// Count tells how many questions were shown.
func (p *Prompter) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// exported has the methods of org.gnome.keyring.internal.Prompter and no other.
type exported struct{ p *Prompter }

const callback = "org.gnome.keyring.internal.Prompter.Callback."

func (e exported) back(from dbus.Sender, to dbus.ObjectPath, method string, args ...any) {
	e.p.conn.Object(string(from), to).Go(callback+method, dbus.FlagNoReplyExpected, nil, args...)
}

// BeginPrompting says that the prompter is ready for a question.
func (e exported) BeginPrompting(to dbus.ObjectPath, from dbus.Sender) *dbus.Error {
	e.back(from, to, "PromptReady", "", map[string]dbus.Variant{}, "")
	return nil
}

// PerformPrompt asks the person.
func (e exported) PerformPrompt(to dbus.ObjectPath, kind string, _ map[string]dbus.Variant, exchange string, from dbus.Sender) *dbus.Error {
	e.p.mu.Lock()
	e.p.count++
	r := e.p.reply
	e.p.mu.Unlock()
	e.p.Shown <- kind
	none := map[string]dbus.Variant{}
	switch {
	case r.Ignore:
	case r.Dismiss:
		e.back(from, to, "PromptReady", "no", none, "")
	default:
		sealed, err := seal(exchange, r.Password)
		if err != nil {
			return dbus.MakeFailedError(err)
		}
		e.back(from, to, "PromptReady", "yes", none, sealed)
	}
	return nil
}

// StopPrompting ends the conversation about to.
func (e exported) StopPrompting(to dbus.ObjectPath, from dbus.Sender) *dbus.Error {
	e.back(from, to, "PromptDone")
	e.p.Stopped <- struct{}{}
	return nil
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
