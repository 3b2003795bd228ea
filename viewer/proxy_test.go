package viewer

import (
	"strings"
	"testing"
)

func TestParseProxy(t *testing.T) {
	for text, want := range map[string]Proxy{
		"socks5://10.0.0.1:1081":           {ProxySOCKS5, "10.0.0.1:1081", ""},
		"SOCKS5H://bob@Proxy":              {ProxySOCKS5, "proxy:1080", "bob"},
		" http://proxy.example.com/ ":      {ProxyHTTP, "proxy.example.com:8080", ""},
		"http://a%40b@[fe80::1]:3128":      {ProxyHTTP, "[fe80::1]:3128", "a@b"},
		"socks5://[fe80::1%25eth0]:65535":  {ProxySOCKS5, "[fe80::1%eth0]:65535", ""},
		"socks5://with%20space@proxy:1080": {ProxySOCKS5, "proxy:1080", "with space"},
	} {
		got, err := ParseProxy(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
			continue
		}
		if again, err := ParseProxy(got.String()); err != nil || again != got {
			t.Errorf("%q is written %q, which reads %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "proxy:1080", "https://proxy", "socks4://x", "http://", "http://u:hunter2@x", "http://x/path", "http://x?q", "http://x#f",
		"socks5://" + strings.Repeat("u", 256) + "@x", "socks5://a%0ab@x", "socks5://x:0", "socks5://x:65536", "socks5://x:100000", "socks5://x y:1", "socks5://a;b|c:1"} {
		got, err := ParseProxy(text)
		if KindOf(err) != Invalid || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

func FuzzParseProxy(f *testing.F) {
	for _, s := range []string{"socks5://a@b:1", "http://[::1%25lo]:3128", "http://a%00@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseProxy(s)
		if err != nil {
			return
		}
		if again, err := ParseProxy(p.String()); err != nil || again != p {
			t.Errorf("%q reads %+v, which is written %q and reads %+v, %v", s, p, p, again, err)
		}
	})
}

func TestParseRepeater(t *testing.T) {
	for id, want := range map[string]string{"1234": "ID:1234", " ID:1234 ": "ID:1234", "lab01:5901": "lab01:5901", "[::1]:5900": "[::1]:5900"} {
		if got, err := ParseRepeater(id); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", id, got, err, want)
		}
	}
	for _, id := range []string{"", "ID:", "ID:12a", "lab01", "a b:1", "ä:1", strings.Repeat("1", 247)} {
		if got, err := ParseRepeater(id); KindOf(err) != Invalid {
			t.Errorf("%q: got %q, %v", id, got, err)
		}
	}
}
