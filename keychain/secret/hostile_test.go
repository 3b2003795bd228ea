//go:build !windows && !darwin

package secret_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"deskvnc/keychain/secret"
	"deskvnc/keychain/secret/secrettest"
)

// scripted takes the name of the service and answers each method with what
// answers has for it: the values of a reply, or an error.
func scripted(t *testing.T, s *secrettest.Session, answers map[string][]any) {
	t.Helper()
	c := s.Dial(t)
	if _, err := c.RequestName("org.freedesktop.secrets", 0); err != nil {
		t.Fatal(err)
	}
	calls := make(chan *dbus.Message, 64)
	c.Eavesdrop(calls)
	go func() {
		for m := range calls { // until the connection is closed
			if m.Type != dbus.TypeMethodCall {
				continue
			}
			method := m.Headers[dbus.FieldMember].Value().(string)
			switch method {
			case "OpenSession":
				method += "/" + m.Body[0].(string)
			case "Get":
				method += "/" + m.Body[1].(string)
			}
			out := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
				dbus.FieldDestination: m.Headers[dbus.FieldSender],
				dbus.FieldReplySerial: dbus.MakeVariant(m.Serial()),
			}}
			out.Body = answers[method]
			if len(out.Body) == 1 {
				if e, ok := out.Body[0].(dbus.Error); ok {
					out.Type, out.Body = dbus.TypeError, e.Body
					out.Headers[dbus.FieldErrorName] = dbus.MakeVariant(e.Name)
				}
			}
			if len(out.Body) > 0 {
				out.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(out.Body...))
			}
			c.Send(out, nil)
		}
	}()
}

var (
	items = []dbus.ObjectPath{"/org/freedesktop/secrets/collection/x/1"}
	none  = []dbus.ObjectPath{}
)

type sent struct {
	Session           dbus.ObjectPath
	Parameters, Value []byte
	ContentType       string
}

// TestPlainOnly is a service that knows no encryption of its own.
func TestPlainOnly(t *testing.T) {
	s := secrettest.New(t)
	scripted(t, s, map[string][]any{
		"SearchItems":       {items, none},
		"OpenSession/plain": {dbus.MakeVariant(""), dbus.ObjectPath("/s/1")},
		"OpenSession/dh-ietf1024-sha256-aes128-cbc-pkcs7": {dbus.Error{Name: "org.freedesktop.DBus.Error.NotSupported"}},
		"GetSecret": {sent{"/s/1", nil, []byte(pass), "text/plain"}},
	})
	wantValue(t, secret.New(secret.Options{}), lab, pass)
}

// TestWhichKeyring has no default keyring, or one that lasts no longer than
// the session.
func TestWhichKeyring(t *testing.T) {
	const coll = "/org/freedesktop/secrets/collection/"
	for _, c := range []struct {
		name       string
		alias      dbus.ObjectPath
		there      []dbus.ObjectPath
		want, asks secret.Kind // of a headless caller, and of one that may ask
	}{
		{"default", coll + "mine", nil, secret.Locked, secret.Locked},
		{"login", "/", []dbus.ObjectPath{coll + "session", coll + "login"}, secret.Locked, secret.Locked},
		{"session only", "/", []dbus.ObjectPath{coll + "session"}, secret.Absent, secret.Available},
		{"session as default", coll + "session", []dbus.ObjectPath{coll + "session"}, secret.Absent, secret.Available},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := secrettest.New(t)
			scripted(t, s, map[string][]any{
				"ReadAlias":       {c.alias},
				"Get/Collections": {dbus.MakeVariant(c.there)},
				"Get/Locked":      {dbus.MakeVariant(true)},
			})
			if st := secret.New(secret.Options{}).Status(t.Context()); st.Kind != c.want || st.Advice == "" {
				t.Errorf("got %+v, want %s", st, c.want)
			}
			if st := secret.New(secret.Options{MayPrompt: true}).Status(t.Context()); st.Kind != c.asks || st.Advice == "" {
				t.Errorf("got %+v, want %s", st, c.asks)
			}
		})
	}
}

func TestStrangeAnswers(t *testing.T) {
	const dh = "OpenSession/dh-ietf1024-sha256-aes128-cbc-pkcs7"
	for i, c := range []struct {
		answers map[string][]any
		want    secret.Kind
	}{
		{nil, secret.Failed},
		{map[string][]any{"SearchItems": {"x", int32(5)}}, secret.Failed},
		{map[string][]any{"SearchItems": {items}}, secret.Failed},
		{map[string][]any{"SearchItems": {items, none}, dh: {dbus.MakeVariant("x"), dbus.ObjectPath("/s/1")}}, secret.Failed},
		{map[string][]any{"SearchItems": {items, none}, dh: {dbus.MakeVariant([]byte{1}), dbus.ObjectPath("/s/1")}}, secret.Failed},
		{map[string][]any{"SearchItems": {items, none}, dh: {dbus.MakeVariant([]byte{9}), dbus.ObjectPath("/s/1")},
			"GetSecret": {pass}}, secret.Failed},
		{map[string][]any{"SearchItems": {items, none}, dh: {dbus.MakeVariant([]byte{9}), dbus.ObjectPath("/s/1")},
			"GetSecret": {sent{"/s/1", []byte{1}, []byte(pass), ""}}}, secret.Failed},
		{map[string][]any{"SearchItems": {items, none}, dh: {dbus.MakeVariant([]byte{9}), dbus.ObjectPath("/s/1")},
			"GetSecret": {sent{"/s/1", []byte{1}, []byte(strings.Repeat(pass, 1000)), ""}}}, secret.TooLarge},
		{map[string][]any{"SearchItems": {none, items}, "Unlock": {none, dbus.ObjectPath("/")}}, secret.Locked},
		{map[string][]any{"SearchItems": {dbus.Error{Name: "org.freedesktop.Secret.Error.IsLocked"}}}, secret.Locked},
		{map[string][]any{"SearchItems": {dbus.Error{Name: "org.freedesktop.Secret.Error.NoSuchObject"}}}, secret.NotFound},
		{map[string][]any{"SearchItems": {dbus.Error{Name: "org.freedesktop.DBus.Error.AccessDenied", Body: []any{"no"}}}}, secret.Absent},
		{map[string][]any{"SearchItems": {dbus.Error{Name: "x.y.Z", Body: []any{int32(3)}}}}, secret.Failed},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := secrettest.New(t)
			scripted(t, s, c.answers)
			k := secret.New(secret.Options{})
			_, err := k.Get(t.Context(), lab)
			if got := secret.KindOf(err); got != c.want {
				t.Errorf("got %v, want kind %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "pa55") {
				t.Error("the error shows a secret")
			}
			// ReadAlias is answered by nothing at all.
			if st := k.Status(t.Context()); st.Kind != secret.Failed {
				t.Errorf("got state %+v, want failed", st)
			}
		})
	}
}
