package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Setenv("DESKVNC_CONTROL", "")
	tests := []struct {
		args string
		ok   func(options) bool
		err  string // part of the error, or empty
	}{
		{"", func(o options) bool { return o.target == nil && !o.sample && o.control == "" }, ""},
		{"--sample", func(o options) bool { return o.sample && o.width == 0 }, ""},
		{"--sample-size 1280X720", func(o options) bool { return o.sample && o.width == 1280 && o.height == 720 }, ""},
		{"lab01:1 --control auto", func(o options) bool { return o.target != nil && o.target.Port == 5901 && o.control == "auto" }, ""},
		{"--control=7990 --control-required [::1]:5902", func(o options) bool {
			return o.controlRequired && o.control == "7990" && o.target.HostPort() == "[::1]:5902"
		}, ""},
		{"--version", func(o options) bool { return o.version }, ""},
		{"--sample-size 12", nil, "is not a size"},
		{"--sample-size 0x5", nil, "is not a size"},
		{"--sample-size axb", nil, "is not a size"},
		{"--control-required", nil, "needs --control"},
		{"a b", nil, "one address"},
		{"host:port", nil, "is not a port"},
		{"vnc://u:p@host", nil, "leave the password out"},
		{"--nope", nil, "nope"},
		{"--control", nil, "needs an argument"},
	}
	for _, tt := range tests {
		o, err := parse(strings.Fields(tt.args), &bytes.Buffer{})
		switch {
		case tt.err == "" && (err != nil || !tt.ok(o)):
			t.Errorf("%q gives %+v, %v", tt.args, o, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q gives the error %v, want one with %q", tt.args, err, tt.err)
		}
	}
	t.Setenv("DESKVNC_CONTROL", "7991")
	if o, err := parse(nil, &bytes.Buffer{}); err != nil || o.control != "7991" {
		t.Errorf("the variable gives %q, %v", o.control, err)
	}
	if o, err := parse([]string{"--control", "auto"}, &bytes.Buffer{}); err != nil || o.control != "auto" {
		t.Errorf("the flag does not come before the variable: %q, %v", o.control, err)
	}
	if _, err := parse([]string{"--help"}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help gives %v", err)
	}
}

func TestInputMethod(t *testing.T) {
	for in, want := range map[string]bool{"": false, "@im=none": false, "@im=local": false, "@im=ibus": true, "@im=fcitx@x=y": true, "x": false, "@im=": false} {
		if got := inputMethod(in); got != want {
			t.Errorf("XMODIFIERS=%q: input method %v, want %v", in, got, want)
		}
	}
}
