package shell

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deskvnc/keychain"
	"deskvnc/viewer"
)

// pictureFlags are the settings of a VNC machine: how its picture is asked for,
// how keys are sent to it, and the way to it.
type pictureFlags struct {
	quality, colors, keyboard string
	encodings                 []string
	proxy, repeater           string
}

// The words for what a setting is by itself, which is empty where it is kept.
const (
	wordAuto = "auto"
	wordFull = "full"
)

// spelledAs lists the words of a setting with one for the empty one.
func spelledAs[T ~string](empty string, all ...T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		if out[i] = string(v); v == "" {
			out[i] = empty
		}
	}
	return out
}

var (
	qualities = spelledAs(wordAuto, viewer.Qualities...)
	colors    = spelledAs(wordFull, viewer.AllColors...)
	keyboards = spelledAs(wordAuto, keychain.KeyboardAuto, keychain.KeyboardSymbols, keychain.KeyboardScancode)
)

func (f *pictureFlags) define(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.quality, "quality", "", "how good the picture is: "+either(qualities)+"; auto follows the connection")
	fs.StringVar(&f.colors, "colors", "", "the colours: "+either(colors))
	fs.StringSliceVar(&f.encodings, "encodings", nil, "the encodings to ask for, best first, as `A,B`: "+strings.Join(viewer.EncodingNames, ", ")+" (default: by the connection)")
	fs.StringVar(&f.keyboard, "keyboard", "", "how keys are sent: "+either(keyboards)+"; symbols is what a key means here, scancode where it is")
	fs.StringVar(&f.proxy, "proxy", "", "the proxy to it, as a `URL`: socks5://[USER@]HOST[:PORT] or http://...; its password is kept with \"dvv login NAME --kind proxy-password\"")
	fs.StringVar(&f.repeater, "repeater", "", "its `ID` at a VNC repeater, when the address is the repeater's: a number, or HOST:PORT behind it")
	const none = cobra.ShellCompDirectiveNoFileComp
	_ = cmd.RegisterFlagCompletionFunc("quality", cobra.FixedCompletions(qualities, none))
	_ = cmd.RegisterFlagCompletionFunc("colors", cobra.FixedCompletions(colors, none))
	_ = cmd.RegisterFlagCompletionFunc("keyboard", cobra.FixedCompletions(keyboards, none))
	_ = cmd.RegisterFlagCompletionFunc("encodings", completeEncodings)
	_ = cmd.RegisterFlagCompletionFunc("proxy", cobra.FixedCompletions([]string{"socks5://", "http://"}, none|cobra.ShellCompDirectiveNoSpace))
	_ = cmd.RegisterFlagCompletionFunc("repeater", cobra.NoFileCompletions)
}

// completeEncodings completes the last of a list of names.
func completeEncodings(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	done, last := "", typed
	if i := strings.LastIndexByte(typed, ','); i >= 0 {
		done, last = typed[:i+1], typed[i+1:]
	}
	var out []string
	for _, name := range viewer.EncodingNames {
		if strings.HasPrefix(name, last) && !slices.Contains(strings.Split(done, ","), name) {
			out = append(out, done+name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// apply puts the settings that were given into a host.
func (f *pictureFlags) apply(cmd *cobra.Command, h *keychain.Host) error {
	// An empty value takes a setting away, as its word does.
	word := func(flag, value, empty string, can []string) (string, bool, error) {
		switch {
		case !cmd.Flags().Changed(flag):
			return "", false, nil
		case value == "" || value == empty:
			return "", true, nil
		case !slices.Contains(can, value):
			return "", false, badUsage(cmd, "--%s %s: it is %s", flag, quoted(value), either(can))
		}
		return value, true, nil
	}
	for _, w := range []struct {
		flag, value, empty string
		can                []string
		set                func(string)
	}{
		{"quality", f.quality, wordAuto, qualities, func(v string) { h.Quality = viewer.Quality(v) }},
		{"colors", f.colors, wordFull, colors, func(v string) { h.Colors = viewer.Colors(v) }},
		{"keyboard", f.keyboard, wordAuto, keyboards, func(v string) { h.Keyboard = keychain.KeyboardWay(v) }},
	} {
		v, given, err := word(w.flag, w.value, w.empty, w.can)
		if err != nil {
			return err
		}
		if given {
			w.set(v)
		}
	}
	if cmd.Flags().Changed("encodings") {
		h.Encodings = slices.DeleteFunc(slices.Clone(f.encodings), func(e string) bool { return e == "" })
	}
	if cmd.Flags().Changed("proxy") {
		if h.Proxy = f.proxy; f.proxy != "" {
			if _, err := viewer.ParseProxy(f.proxy); err != nil {
				return badUsage(cmd, "--proxy: %s", viewer.Reason(err))
			}
		}
	}
	if cmd.Flags().Changed("repeater") {
		if h.Repeater = f.repeater; f.repeater != "" {
			if _, err := viewer.ParseRepeater(f.repeater); err != nil {
				return badUsage(cmd, "--repeater: %s", viewer.Reason(err))
			}
		}
	}
	return nil
}

// describePicture gives a line for each of these settings that is not what it
// is by itself.
func describePicture(h keychain.Host, line func(name, value string)) {
	line("quality", string(h.Quality))
	line("colors", string(h.Colors))
	line("encodings", strings.Join(h.Encodings, ","))
	line("keyboard", string(h.Keyboard))
	line("proxy", h.Proxy)
	line("repeater", h.Repeater)
}
