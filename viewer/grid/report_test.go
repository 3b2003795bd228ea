package grid

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestReplies(t *testing.T) {
	for _, k := range []struct{ name, in, want string }{
		{"DA1", "\x1b[c\x1bZ", "\x1b[?62;22c\x1b[?62;22c"},
		{"DA2", "\x1b[>c", "\x1b[>1;377;0c"},
		{"DA3", "\x1b[=c", "\x1bP!|00000000\x1b\\"},
		{"status", "\x1b[5n", "\x1b[0n"},
		{"cursor", "\x1b[5;9H\x1b[6n\x1b[?6n", "\x1b[5;9R\x1b[?5;9;1R"},
		{"cursor with origin", "\x1b[5;9r\x1b[?6h\x1b[2;3H\x1b[6n", "\x1b[2;3R"},
		{"cursor where a character wraps", fill80 + "\x1b[6n", "\x1b[1;80R"},
		{"version", "\x1b[>q", "\x1bP>|DeskVNC(1.2)\x1b\\"},
		{"size", "\x1b[18t", "\x1b[8;24;80t"},
		{"size in pixels", "\x1b[14t\x1b[16t", "\x1b[4;480;800t\x1b[6;20;10t"},
		{"title is not told", "\x1b]2;rm -rf\x07\x1b[21t", "\x1b]l\x1b\\"},
		{"mode set", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"mode not set", "\x1b[?1049$p\x1b[4$p", "\x1b[?1049;2$y\x1b[4;2$y"},
		{"mode not known", "\x1b[?4711$p\x1b[99$p", "\x1b[?4711;0$y\x1b[99;0$y"},
		{"held output", "\x1b[?2026$p\x1b[?2026h\x1b[?2026$p\x1b[?2026l", "\x1b[?2026;2$y\x1b[?2026;1$y"},
		{"attributes", "\x1b[1;4:3;38;5;200;44;58;2;1;2;3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;38:5:200;44;58:2::1:2:3m\x1b\\"},
		{"region", "\x1b[3;9r\x1bP$qr\x1b\\", "\x1bP1$r3;9r\x1b\\"},
		{"cursor style", "\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"},
		{"setting not known", "\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\"},
		{"colours", "\x1b]10;?\x07\x1b]11;?\x1b\\", "\x1b]10;rgb:e5e5/e5e5/e5e5\x07\x1b]11;rgb:0000/0000/0000\x1b\\"},
		{"colours in a row", "\x1b]10;#123456;?\x07", "\x1b]11;rgb:0000/0000/0000\x07"},
		{"colour set", "\x1b]11;rgb:12/3456/f\x07\x1b]11;?\x07\x1b]111\x07\x1b]11;?\x07", "\x1b]11;rgb:1212/3434/ffff\x07\x1b]11;rgb:0000/0000/0000\x07"},
		{"palette", "\x1b]4;1;#abc;1;?;232;?\x07\x1b]104;1\x07\x1b]4;1;?\x07", "\x1b]4;1;rgb:a0a0/b0b0/c0c0\x07\x1b]4;232;rgb:0808/0808/0808\x07\x1b]4;1;rgb:cdcd/0000/0000\x07"},
		{"capability", "\x1bP+q544e;00\x1b\\", "\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\\x1bP0+r\x1b\\"},
		{"other keys", "\x1b[>4;2m\x1b[?4m\x1b[>4m\x1b[?4m", "\x1b[>4;2m\x1b[>4;0m"},
		{"kitty keys", "\x1b[?u\x1b[>5u\x1b[?u\x1b[=2;2u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?0u\x1b[?5u\x1b[?7u\x1b[?0u"},
		{"kitty keys by screen", "\x1b[>1u\x1b[?1049h\x1b[?u\x1b[?1049l\x1b[?u", "\x1b[?0u\x1b[?1u"},
		{"clipboard is not told", "\x1b]52;c;?\x07", ""},
		{"parameters", "\x1b[x\x1b[1x", "\x1b[2;1;1;128;128;1;0x\x1b[3;1;1;128;128;1;0x"},
		{"saved modes", "\x1b[?7l\x1b[?7s\x1b[?7h\x1b[?7r\x1b[?7$p", "\x1b[?7;2$y"},
	} {
		g := New(Options{Version: "1.2"})
		g.SetCellSize(10, 20)
		g.Write([]byte(k.in))
		if got := string(g.Replies()); got != k.want {
			t.Errorf("%s: got %q, want %q", k.name, got, k.want)
		}
		if g.Replies() != nil {
			t.Errorf("%s: an answer comes twice", k.name)
		}
	}
}

func TestSchemeIsTold(t *testing.T) {
	g := New(Options{})
	s := Scheme{Text: RGB(1, 2, 3), Background: RGB(4, 5, 6)}
	s.Palette[2] = RGB(7, 8, 9)
	g.SetScheme(s)
	g.Write([]byte("\x1b]10;?\x07\x1b]11;?\x07\x1b]12;?\x07\x1b]4;2;?\x07"))
	want := "\x1b]10;rgb:0101/0202/0303\x07\x1b]11;rgb:0404/0505/0606\x07\x1b]12;rgb:0101/0202/0303\x07\x1b]4;2;rgb:0707/0808/0909\x07"
	if got := string(g.Replies()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEvents(t *testing.T) {
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", maxClipboard+1)))
	for _, k := range []struct {
		name, in string
		want     []Event
	}{
		{"bell", "a\x07\x07b", []Event{{Kind: Bell}}},
		{"title", "\x1b]0;one\x07\x1b]2;two\x1b\\", []Event{{Kind: Title, Text: "two"}}},
		{"title cleaned", "\x1b]2;a\u009bb\u202ec\x01\xffd\x07", []Event{{Kind: Title, Text: "abc\ufffdd"}}},
		{"title cut", "\x1b]2;" + strings.Repeat("ä", 9999) + "\x07", []Event{{Kind: Title, Text: strings.Repeat("ä", maxTitle/2)}}},
		{"title pushed", "\x1b]2;one\x07\x1b[22t\x1b]2;two\x07\x1b[23;2t", []Event{{Kind: Title, Text: "one"}}},
		{"clipboard", "\x1b]52;c;aMOk\x07", []Event{{Kind: Clipboard, Name: "c", Text: "hä"}}},
		{"clipboard without padding", "\x1b]52;p;aGk\x07", []Event{{Kind: Clipboard, Name: "p", Text: "hi"}}},
		{"clipboard not base64", "\x1b]52;c;***\x07", nil},
		{"clipboard too long", "\x1b]52;c;" + long + "\x07", nil},
		{"directory", "\x1b]7;file://lab/home/ann\x07", []Event{{Kind: Directory, Text: "file://lab/home/ann"}}},
		{"notice", "\x1b]9;done\x07\x1b]9;4;1;50\x07\x1b]777;notify;Build;ok\x07", []Event{{Kind: Notify, Text: "done"}, {Kind: Notify, Text: "Build: ok"}}},
		{"unknown", "\x1b]999;x\x07\x1b]x\x07\x1b]\x07", nil},
	} {
		g := New(Options{})
		g.Write([]byte(k.in))
		got := g.Events()
		if len(got) != len(k.want) {
			t.Errorf("%s: got %+v, want %+v", k.name, got, k.want)
			continue
		}
		for i := range got {
			if got[i] != k.want[i] {
				t.Errorf("%s: got %+v, want %+v", k.name, got[i], k.want[i])
			}
		}
	}
}

func TestLinks(t *testing.T) {
	g := New(Options{Cols: 20, Rows: 4})
	g.Write([]byte("\x1b]8;id=x;https://a.example/p\x07link\x1b]8;;\x07 see (https://b.example/long/path?q=1). \x1b]8;;bad\x01uri\x07no\x1b]8;;http://e.x/\xc3\xa4\x07no"))
	var v View
	g.Update(&v)
	if x := v.Extra(v.Row(0)[2]); x.Link != "https://a.example/p" || x.LinkID != "x" {
		t.Errorf("got %+v", x)
	}
	at := func(y, x int) (string, Span) {
		s, span, _ := g.Link(v.Epoch, Pos{v.Top + int64(y), x})
		return s, span
	}
	if s, span := at(0, 1); s != "https://a.example/p" || span.From.Col != 0 || span.To.Col != 4 {
		t.Errorf("got %q at %+v", s, span)
	}
	if s, span := at(1, 3); s != "https://b.example/long/path?q=1" || span.From != (Pos{v.Top, 10}) {
		t.Errorf("got %q at %+v", s, span)
	}
	if s, _ := at(0, 6); s != "" {
		t.Errorf("plain text is %q", s)
	}
	if x := v.Extra(v.Row(2)[5]); x.Link != "" {
		t.Errorf("a bad address made a link: %+v", x)
	}
}

// TestLinkLost: a link cut within vim leaves no modes behind (mouse reports
// would be typed into the next shell), and the next output stands below.
func TestLinkLost(t *testing.T) {
	g := New(Options{Cols: 40, Rows: 6})
	g.Write([]byte("$ vim"))
	g.Write([]byte("\x1b7\x1b[?1049h\x1b[?1;66;1003;1006;1004;2004;1007h\x1b[?25l\x1b[?7l\x1b[4h\x1b[20h\x1b[>1u\x1b[>4;2m\x1b[2;3r\x1b[?6h\x1b[1;31m\x1b(0\x0e\x1b[5 q\x1b]11;#fff\x07\x1b[?2026hEDITOR\x1b]2;half a ti"))
	g.LinkLost()
	want := Modes{MetaEsc: true}
	if got := g.Modes(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	g.Write([]byte("\x1b\\$ q"))
	var v View
	if !g.Update(&v) || v.Held != 0 {
		t.Error("the view is held back")
	}
	s := g.Screen()
	if s.Lines[0] != "$ vim" || s.Lines[1] != "$ q" || s.Alternate || !s.Visible || s.Title != "" || s.Y != 1 {
		t.Errorf("got %q, %+v", s.Lines, s)
	}
	if c := v.Row(1)[0]; c != (Cell{Rune: '$'}) {
		t.Errorf("got %+v", c)
	}
	if v.Colors.Background != Default || v.Caret.Shape != Block {
		t.Errorf("colours or the cursor stay as the program set them: %+v", v.Caret)
	}
	if b := broken(g); b != "" {
		t.Error(b)
	}
}
