package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskvnc/control/grant"
)

// asProgram makes the test binary be dvv itself.
const asProgram = "DVV_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// home gives a test folders and variables of its own.
func home(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": dir, "XDG_CONFIG_HOME": filepath.Join(dir, "c"), "XDG_DATA_HOME": filepath.Join(dir, "d"), "XDG_RUNTIME_DIR": dir, "DESKVNC_LIBRARY": "",
		"AppData": filepath.Join(dir, "c"), "DVV_CONNECT": "", "DESKVNC_CONTROL_KEY": "", "VDON_MCP_MAX_MESSAGE_BYTES": ""} {
		t.Setenv(name, value)
	}
}

// program is dvv as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "DISPLAY=", "WAYLAND_DISPLAY=", "DBUS_SESSION_BUS_ADDRESS=")
	return cmd
}

func TestUsage(t *testing.T) {
	home(t)
	for _, c := range []struct {
		args string // ~ stands for an empty argument
		env  string // of DVV_CONNECT
		code int
		want string // on standard error; on standard output for code 0
	}{
		{"", "", 0, "Usage:"},
		{"--help", "", 0, "Saved machines:"},
		{"--version", "", 0, version},
		{"version", "", 0, "dvv " + version},
		{"mcp --help", "", 0, "--connect PORT"},
		{"bench --help", "", 0, "vnc"},
		{"nonsense", "", 2, `"nonsense"`},
		{"--nonsense", "", 2, "--nonsense"},
		{"version x", "", 2, `"x"`},
		{"mcp x", "", 2, `"x"`},
		{"mcp --nonsense", "", 2, "unknown flag: --nonsense"},
		{"mcp --connect", "", 2, "flag needs an argument: --connect"},
		{"mcp --connect ~", "", 2, "an address is needed"},
		{"mcp --connect=", "", 2, "an address is needed"},
		{"mcp --connect --sample", "", 2, "an address is needed before --sample"},
		{"mcp --connect 0", "", 2, "port 0 cannot be connected to"},
		{"mcp --connect 70000", "", 2, `"70000" is not a port`},
		{"mcp --connect abc", "", 2, `"abc" is not a port`},
		{"mcp --connect -1", "", 2, "an address is needed"},
		{"mcp", "abc", 2, `DVV_CONNECT: "abc" is not a port`},
		{"mcp --connect 7990 --sample", "", 2, "--sample is for sessions of dvv's own and cannot go with --connect"},
		{"mcp --connect 7990 --sample-size 800x600", "", 2, "--sample-size is for"},
		{"mcp --connect 7990 --hosts a", "", 2, "--hosts is for"},
		{"mcp --connect 7990 --allow exec", "", 2, "--allow is for"},
		{"mcp --sample", "7990", 2, "DVV_CONNECT is set: unset it first"},
		{"mcp --sample-size 800", "", 2, `"800" is not a size`},
		{"mcp --sample-size 0x600", "", 2, `"0x600" is not a size`},
		{"mcp --sample-size 1x1", "", 2, "320x200 to 8192x8192"},
		{"mcp --sample-size 8193x600", "", 2, "320x200 to 8192x8192"},
		{"mcp --hosts ~", "", 2, "--hosts"},
		{"mcp --hosts lab*", "", 2, "--hosts"},
		{"mcp --allow everything", "", 2, "only exec can be allowed"},
		{"mcp --max-message-bytes 5", "", 2, `"5" is not a number of bytes from 262144 to 16777216`},
		{"mcp --max-message-bytes 99999999", "", 2, "16777216"},
		{"mcp --max-message-bytes many", "", 2, `"many"`},
		{"bench vnc", "", 2, "arg"},
		{"bench loop x", "", 2, `"x"`},
		{"bench loop -n 1 --width 640 --height 480", "", 0, "cycle"},
		{"mcp", "", 0, ""},
		{"mcp --connect 7990", "", 0, ""},
		{"mcp --connect=auto", "", 0, ""},
		{"mcp --sample --sample-size 800x600 --hosts a,b --allow exec --max-message-bytes 1048576", "", 0, ""},
	} {
		t.Run(c.args+" "+c.env, func(t *testing.T) {
			t.Setenv("DVV_CONNECT", c.env)
			var stdout, stderr bytes.Buffer
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "~", "")
			}
			code := run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
			said := stderr.String()
			if c.code == 0 {
				said = stdout.String()
			} else if stdout.Len() > 0 {
				t.Errorf("standard output has %q", stdout.String())
			}
			if code != c.code || !strings.Contains(said, c.want) {
				t.Errorf("got exit code %d and %q, want %d and %q", code, said, c.code, c.want)
			}
			if c.code == 2 && !strings.Contains(stderr.String(), "--help.") {
				t.Errorf("it does not say where to look: %q", stderr.String())
			}
		})
	}
}

// What is on this machine is never warned about; what is not, is.
func TestWarning(t *testing.T) {
	home(t)
	for address, want := range map[string]bool{"7990": false, "localhost:7990": false, "192.0.2.1:7990": true} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), []string{"mcp", "--connect", address}, strings.NewReader(""), &stdout, &stderr); code != 0 || stdout.Len() > 0 {
			t.Errorf("%s: got %d %q", address, code, stdout.String())
		}
		if got := strings.Contains(stderr.String(), "warning"); got != want {
			t.Errorf("%s: got %q", address, stderr.String())
		}
	}
}

// toolLine is a tools/call request with its newline.
func toolLine(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
}

// TestWithoutALibrary opens machines by their address where the library cannot
// be had, and says so once.
func TestWithoutALibrary(t *testing.T) {
	home(t)
	t.Setenv("DESKVNC_LIBRARY", filepath.Join(t.TempDir(), "file", "library.db"))
	if err := os.WriteFile(filepath.Dir(os.Getenv("DESKVNC_LIBRARY")), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	var warning strings.Builder
	h := &headless{grant: mustOperator(t), sample: true, warn: &warning}
	b, err := h.open("test")
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Call(t.Context(), "dvv_hosts", nil)
	if err != nil || !strings.Contains(string(got), `"host_id":"sample"`) {
		t.Errorf("dvv_hosts: %s, %v", got, err)
	}
	if !strings.Contains(warning.String(), "saved machines are not available") {
		t.Errorf("warning %q", warning.String())
	}
	scratch := b.(*local).scratch
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Errorf("%s is left behind", scratch)
	}
}

func mustOperator(t *testing.T) grant.Grant {
	t.Helper()
	g, err := grant.Operator(true, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
