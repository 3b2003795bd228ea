package prompt

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"deskvnc/viewer/sample/tree"
)

// run runs a line in a new shell.
func run(ctx context.Context, line string) (string, End) {
	var b strings.Builder
	out := NewOutlet(&b)
	end := New(tree.Sample()).Run(ctx, line, strings.NewReader(""), out, out)
	out.Flush(context.Background())
	out.Close()
	return b.String(), end
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		line, want string
		code       int
	}{
		{"", "", 0},
		{"# nothing", "", 0},
		{"echo a#b # c", "a#b\n", 0},
		{`echo "a  b"  c\ d 'e"f'`, "a  b c d e\"f\n", 0},
		{`echo "" | wc -c`, "1\n", 0},
		{`X=1; X=2 env | grep ^X=; echo $X${X}`, "X=2\n11\n", 0},
		{"! true; echo $?; ! false; echo $?", "1\n0\n", 0},
		{"echo a\\\nb", "ab\n", 0},
		{"false ||\n\necho b", "b\n", 0},
		{"echo '*.txt' *.txt w?lcome.* [vw]*.txt no*thing", "*.txt welcome.txt welcome.txt welcome.txt no*thing\n", 0},
		{"echo out > /tmp/f 2>&1; cat /tmp/f; nonesuch 2> /tmp/f; wc -l < /tmp/f", "out\n1\n", 0},
		{"nonesuch &> /tmp/f && echo no; wc -l < /tmp/f", "1\n", 0},
		{"exit 300", "", 44},
		{"sh -c 'echo in; exit 9'; echo $?", "in\n9\n", 0},
		{"cd nowhere", "cd: nowhere: No such file or directory\n", 1},
		{"cd /root", "cd: /root: Permission denied\n", 1},
		{"cd links/documents && pwd && cd - && pwd", "/home/sample/documents\n/home/sample\n", 0},
		{"seq 3 -1 1", "3\n2\n1\n", 0},
		{"| cat", "sh: syntax error: a command is missing before |\n", 2},
		{"cat |", "sh: syntax error: a command is missing after |\n", 2},
		{"a && ", "sh: syntax error: a command is missing after &&\n", 2},
		{"a ;; b", "sh: syntax error: a command is missing before ;\n", 2},
		{"sleep 1 &", "sh: syntax error: commands cannot be put into the background here\n", 2},
		{"echo $(id)", "sh: syntax error: $( ) means nothing here\n", 2},
		{"echo >", "sh: syntax error: a file name is missing after >\n", 2},
		{"echo x > documents", "sh: documents: Is a directory\n", 1},
		{"printf '%99999d' 1", "printf: %99999: too wide\n", 1},
		{"[ a = a ] && test 2 -gt 1 && [ ! -f nowhere ] && echo yes", "yes\n", 0},
	} {
		t.Run(tt.line, func(t *testing.T) {
			if got, end := run(t.Context(), tt.line); got != tt.want || end.Code != tt.code {
				t.Errorf("got %q, %d, want %q, %d", got, end.Code, tt.want, tt.code)
			}
		})
	}
}

// TestWriteBound: a file that would be larger than the sample ends its writer.
func TestWriteBound(t *testing.T) {
	got, end := run(t.Context(), "yes > /tmp/all")
	if got != "yes: write error: No space left on device\n" || end.Code != 1 {
		t.Errorf("got %q, %d", got, end.Code)
	}
}

// A blocked writer takes nothing until it is let.
type blocked struct{ let chan struct{} }

func (b blocked) Write(p []byte) (int, error) {
	<-b.let
	return 0, io.ErrClosedPipe
}

// TestOutletBound: yes into a reader that reads nothing waits, and ends with
// its context.
func TestOutletBound(t *testing.T) {
	b := blocked{make(chan struct{})}
	out := NewOutlet(b)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan End)
	go func() { ended <- New(tree.Sample()).Run(ctx, "yes", empty{}, out, out) }()
	out.mu.Lock()
	for len(out.buf) < outletSize || !out.busy {
		out.cond.Wait()
	}
	out.mu.Unlock()
	cancel()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("yes goes on")
	}
	if n := cap(out.buf); n > 4*outletSize {
		t.Errorf("%d bytes wait", n)
	}
	close(b.let)
	out.Close()
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"echo a | cat", `A="b $C" 'd' \e`, "a && b || c; d > e 2>&1 < f >> g", "ls *[a-", "printf %d%s x", "cd ..;cp -r . links",
		"! ${A}$?~/*", "grep -r '(' .", "seq 1 9|head -3", "ls -lR /", "mv / x", "rm -rf ~ /", "echo -e '\\x4\\0777'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		all, err := parse(line)
		if err == nil {
			for _, st := range all {
				if len(st.pipe) == 0 {
					t.Fatalf("%q: an empty pipeline", line)
				}
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		run(ctx, line) // ends, and does not panic
		lastWord(line)
	})
}

// FuzzParse: what is understood has a command in every place.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"echo a | cat", `A="b $C" 'd' \e`, "a && b || c; d > e 2>&1 < f >> g\n#x", "! ${A}$?~/*", "1>&2 2> x 0< y"} {
		f.Add(s)
	}
	s := New(tree.Sample())
	f.Fuzz(func(t *testing.T, line string) {
		all, err := parse(line)
		if err != nil && all != nil {
			t.Fatalf("%q: commands and %v", line, err)
		}
		for i, st := range all {
			if len(st.pipe) == 0 || i == 0 && st.when != always {
				t.Fatalf("%q: step %d is %+v", line, i, st)
			}
			for _, c := range st.pipe {
				if len(c.words)+len(c.set)+len(c.to) == 0 {
					t.Fatalf("%q: an empty command", line)
				}
				args, err := s.fill(c.words)
				if err == nil && len(args) > maxWords {
					t.Fatalf("%q: %d words", line, len(args))
				}
			}
		}
		if start, _, _ := lastWord(line); start < 0 || start > len(line) {
			t.Fatalf("%q: a word begins at %d", line, start)
		}
	})
}
