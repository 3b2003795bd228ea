package pane

import (
	"strings"

	"deskvnc/viewer"
)

// words are how a question is put.
type words struct {
	title, text, warning, yes string
	user, secret              bool   // what is asked for
	danger                    bool   // yes may do harm
	sure                      bool   // and needs a tick first
	keep                      bool   // yes can be remembered
	art                       string // a drawing, beside the text
	hint                      string // in the line of the secret; "": a password
}

// wording puts a question into words.
func wording(q viewer.Question) words {
	name := q.Target.Label()
	switch q.Kind {
	case viewer.AskCertificate, viewer.AskServerKey:
		return keyWords(q, name)
	case viewer.AskUnencrypted:
		text := q.Text
		if text == "" {
			text = "The machine offers no encryption."
		}
		return words{
			title: "Connect to " + name + " unencrypted?", text: text,
			warning: "What is shown and typed, the password too, can be read on the way.",
			yes:     "Connect anyway", danger: true,
		}
	case viewer.AskPassphrase:
		return words{
			title: "Unlock a key for " + name, text: asks(q, "The private key "+q.Name+" is locked with a passphrase") + " What you type stays on this computer.",
			secret: true, hint: "Passphrase", yes: "Unlock",
		}
	case viewer.AskPrompts:
		text := "The machine asks, in its own words:"
		if q.Text != "" {
			text = "The machine says: " + sentence(q.Text)
		}
		return words{title: "Log in to " + name, text: text, yes: "Answer"}
	case viewer.AskProxyPassword:
		return words{title: "Log in to the proxy of " + name, text: asks(q, "The password of "+q.Name+" is needed"), secret: true, yes: "Log in"}
	case viewer.AskPassword:
		return words{title: "Log in to " + name, text: asks(q, "The machine asks for a user name and a password"), user: true, secret: true, yes: "Log in"}
	}
	return words{title: "Log in to " + name, text: asks(q, "The machine asks for a password"), secret: true, yes: "Log in"}
}

// asks says what is asked for, and why what is stored was not used.
func asks(q viewer.Question, what string) string {
	if q.Note != "" {
		what += ", and " + q.Note
	}
	if q.Text != "" {
		return sentence(q.Text) + "\n" + sentence(what)
	}
	return sentence(what)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// keyWords puts the question whether a machine is the one it says it is.
func keyWords(q viewer.Question, name string) words {
	if q.Key == nil {
		return words{title: "Trust " + name + "?", text: or(q.Text, "The machine cannot prove who it is."), yes: "Trust it", danger: true}
	}
	var lines []string
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, label+": "+value)
		}
	}
	k := q.Key
	print := "Fingerprint (SHA-256)"
	if strings.HasPrefix(k.Fingerprint, "SHA256:") { // as SSH writes them
		print = "Fingerprint"
	}
	if old := k.Pinned; old != nil {
		since := ""
		if !old.Since.IsZero() {
			since = " since " + old.Since.Local().Format("2 January 2006")
		}
		lines = append(lines, "Trusted"+since+": "+old.What)
		add("Subject", old.Subject)
		add("Issuer", old.Issuer)
		add(print, twoLines(old.Fingerprint))
		lines = append(lines, "")
	}
	add("It shows now", k.What)
	add("Subject", k.Subject)
	add("For", strings.Join(k.Names, ", "))
	add("Issuer", k.Issuer)
	if !k.NotAfter.IsZero() {
		add("Valid", k.NotBefore.Format("2006-01-02")+" to "+k.NotAfter.Format("2006-01-02"))
	}
	add(print, twoLines(k.Fingerprint))
	add("Shown by the machine as", k.AlsoShownAs)
	var problems []string
	for _, p := range k.Problems {
		problems = append(problems, sentence(p))
	}
	w := words{
		title: "Is this " + name + "?", text: strings.Join(lines, "\n"), yes: "Trust it",
		warning: strings.Join(append(problems, "Compare the fingerprint with the machine's own before you trust it."), "\n"), keep: true, art: k.Art,
	}
	if k.Pinned != nil {
		w.title, w.yes, w.danger, w.sure, w.keep = name+" is not what it was", "Replace and connect", true, true, false
		w.warning = "Stop: somebody may be in between, reading what you type. Go on only when you know why this has changed."
	}
	return w
}

// twoLines breaks a long fingerprint in the middle, between two bytes. One as
// SSH writes it stands whole on a line of its own.
func twoLines(f string) string {
	if strings.HasPrefix(f, "SHA256:") {
		return "\n" + f
	}
	if i := 3 * 16; len(f) > i {
		return "\n" + f[:i] + "\n" + f[i:]
	}
	return f
}
