package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"deskvnc/control"
	"deskvnc/control/server"
	"deskvnc/control/socket"
)

// BenchmarkStart is the time from exec to the reply to tools/list.
func BenchmarkStart(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if p := os.Getenv("DVV_PROGRAM"); p != "" {
		self = p // a real build, without the test's own packages
	}
	for b.Loop() {
		cmd := exec.Command(self, "mcp")
		cmd.Env = append(os.Environ(), asProgram+"=1")
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")
		if out, err := cmd.Output(); err != nil || len(out) < 10000 {
			b.Fatal(err, len(out))
		}
	}
}

// BenchmarkConnected are round trips through "dvv mcp --connect" and a
// window's control socket.
func BenchmarkConnected(b *testing.B) {
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "HOME"} {
		b.Setenv(name, b.TempDir())
	}
	newWindow(b, "auto")
	benchmark(b, newAgent(b, "--connect", "auto"))
}

// BenchmarkHeadless are the same without a window.
func BenchmarkHeadless(b *testing.B) { benchmark(b, newAgent(b, "--sample")) }

func benchmark(b *testing.B, a *agent) {
	a.do("dvv_open", "hostId", "sample", "perceive", true)
	a.do("dvv_wait", "until", "connected")
	a.do("dvv_screen")
	for name, line := range map[string]string{
		"limbs":  toolLine(7, "dvv_limbs", "{}"),
		"status": toolLine(7, "dvv_status", "{}"),
		"screen": toolLine(7, "dvv_screen", "{}"),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a.send(line)
				a.line()
			}
		})
	}
}

// BenchmarkTransport are round trips through "dvv mcp --connect" to a tool that
// takes no time: an echo, and a picture of 400 kB in base64.
func BenchmarkTransport(b *testing.B) {
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "HOME"} {
		b.Setenv(name, b.TempDir())
	}
	l, err := socket.Listen("auto")
	if err != nil {
		b.Fatal(err)
	}
	s := server.New(server.Config{Attach: func(string) (server.Attachment, error) { return still{}, nil }})
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	defer func() {
		_ = s.Close()
		_ = l.Close()
		<-done
	}()
	a := newAgent(b, "--connect", "auto")
	for name, tool := range map[string]string{"echo": "dvv_limbs", "picture": "dvv_screen"} {
		line := toolLine(7, tool, "{}")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a.send(line)
				a.line()
			}
		})
	}
}

// still is an attachment whose tools do nothing.
type still struct{}

func (still) ID() string { return "att_1" }
func (still) Close()     {}

var picture = bytes.Repeat([]byte{0xa5}, 300_000)

func (still) Call(_ context.Context, tool string, _ json.RawMessage) []byte {
	r := control.Result{Text: "Done.", Structured: map[string]any{"ok": true}}
	if tool == "dvv_screen" {
		r.Images = []control.Image{{MIME: "image/png", Data: picture}}
	}
	b, _ := r.Encode()
	return b
}
