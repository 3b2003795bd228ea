package grid

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainLog is text as a server's log prints it.
func plainLog(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-01-02T03:04:%02d.%06d host%d app[%d]: request id=%08x path=/v1/items/%d status=%d took %dms\r\n",
			i%60, i*7919%1000000, i%9, 1000+i%777, i*2654435761, i%4096, 200+i%5, i%300)
	}
	return b.Bytes()
}

func lsColours(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\x1b[01;34mdirectory%d\x1b[0m  \x1b[01;32mprogram%d\x1b[0m  plain%d.txt  \x1b[01;36mlink%d\x1b[0m  \x1b[40;33;01mdev%d\x1b[0m\r\n", i, i, i, i, i)
	}
	return b.Bytes()
}

func colours256(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\x1b[38;5;%dmword%d \x1b[48;5;%dmmore\x1b[m ", i%256, i, i*7%256)
		if i%8 == 7 {
			b.WriteString("\r\n")
		}
	}
	return b.Bytes()
}

func trueColour(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm#", i%256, i*3%256, i*7%256)
		if i%119 == 118 {
			b.WriteString("\x1b[m\r\n")
		}
	}
	return b.Bytes()
}

func cjk(size int) []byte {
	line := "日本語の文章と中文文本 한국어 e\u0301a\u0300o\u0302 नमस्ते plain text\r\n"
	return []byte(strings.Repeat(line, size/len(line)+1))
}

// recordings are those of testdata, one after the other, with a reset between.
func recordings(tb testing.TB) []byte {
	names, err := filepath.Glob("testdata/recordings/*.bin")
	if err != nil || len(names) == 0 {
		tb.Skip("no recordings")
	}
	var b bytes.Buffer
	for _, n := range names {
		p, err := os.ReadFile(n)
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(p)
		b.WriteString("\x1bc")
	}
	return b.Bytes()
}

func BenchmarkWrite(b *testing.B) {
	const size = 8 << 20
	for _, k := range []struct {
		name string
		data func() []byte
	}{
		{"plain-log", func() []byte { return plainLog(size) }},
		{"ls-colours", func() []byte { return lsColours(size) }},
		{"256-colours", func() []byte { return colours256(size) }},
		{"true-colour", func() []byte { return trueColour(size) }},
		{"recordings", func() []byte { return bytes.Repeat(recordings(b), 8) }},
		{"cjk-combining", func() []byte { return cjk(size) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			data := k.data()
			t := New(Options{Cols: 120, Rows: 40})
			t.Write(data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				t.Write(data)
				t.Replies()
				t.Events()
			}
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	data := plainLog(1 << 20)
	t := New(Options{Cols: 120, Rows: 40})
	t.Write(data)
	var v View
	t.Update(&v)
	b.ReportAllocs()
	for b.Loop() {
		t.Write(data[:4<<10])
		t.Update(&v)
	}
}

func BenchmarkResize(b *testing.B) {
	t := New(Options{Cols: 120, Rows: 40})
	t.Write(plainLog(2 << 20))
	for i := 0; b.Loop(); i++ {
		t.Resize(119+i%2, 40)
	}
}
