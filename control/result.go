package control

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// A Result is what a tool call came to, in the form every face shows.
type Result struct {
	// Text is one plain sentence, then, for remote content, the wrapped
	// payload. The JSON form of Structured is appended to it when encoded.
	Text string
	// Images follow the text.
	Images []Image
	// Structured is the result as an object; nil for none.
	Structured any
	IsError    bool
}

// An Image is an encoded picture. Label, when set, is a text block before it.
type Image struct {
	Label string
	MIME  string // image/png or image/jpeg
	Data  []byte
}

// RefusalResult is the result of a refusal.
func RefusalResult(r *Refused) Result {
	hint := r.Hint
	if hint == "" {
		hint = r.Code.Hint()
	}
	return Result{
		Text:       fmt.Sprintf("%s: %s %s", r.Code, sentence(r.Message), hint),
		Structured: refusal{Code: r.Code, Message: r.Message, Hint: hint, Settlement: r.Settlement},
		IsError:    true,
	}
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	switch s[len(s)-1] {
	case '.', '!', '?':
		return s
	}
	return s + "."
}

type refusal struct {
	Code       Code   `json:"code"`
	Message    string `json:"message"`
	Hint       string `json:"hint"`
	Settlement any    `json:"settlement,omitempty"`
}

// Encode returns the result as the JSON object of MCP's tools/call, on one
// line: content blocks (text with the structured form in a fence labelled dvv,
// then pictures), structuredContent, isError when true. The base64 of a
// picture is written straight into the returned slice, once.
func (r Result) Encode() ([]byte, error) {
	var structured []byte
	if r.Structured != nil {
		var err error
		if structured, err = marshal(r.Structured); err != nil {
			return nil, fmt.Errorf("control: encoding a result: %w", err)
		}
	}
	text := r.Text
	if structured != nil {
		text += "\n\n```dvv\n" + string(structured) + "\n```"
	}
	size := 2*len(text) + len(structured) + 256
	for _, im := range r.Images {
		size += base64.StdEncoding.EncodedLen(len(im.Data)) + 2*len(im.Label) + 96
	}
	b := make([]byte, 0, size)
	b = append(b, `{"content":[`...)
	b = appendText(b, text)
	for _, im := range r.Images {
		if im.Label != "" {
			b = appendText(append(b, ','), im.Label)
		}
		b = append(b, `,{"type":"image","data":"`...)
		b = base64.StdEncoding.AppendEncode(b, im.Data)
		b = append(b, `","mimeType":"`...)
		b = append(b, im.MIME...)
		b = append(b, `"}`...)
	}
	b = append(b, ']')
	if structured != nil {
		b = append(append(b, `,"structuredContent":`...), structured...)
	}
	if r.IsError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}'), nil
}

func appendText(b []byte, s string) []byte {
	q, _ := marshal(s) // a string always has a JSON form
	b = append(b, `{"type":"text","text":`...)
	return append(append(b, q...), '}')
}

// marshal is json.Marshal without the escaping of <, > and &, which text for
// a model reads better without.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
