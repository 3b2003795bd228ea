package client

import "encoding/json"

// maxDepth bounds the nesting of a reply, as encoding/json does.
const maxDepth = 10000

// A member is one key of an object with the bytes of its value.
type member struct {
	name string
	raw  json.RawMessage
}

// object splits b when it is exactly one JSON object (RFC 8259). It is ten
// times as fast as decoding, which a reply with a picture feels; the values
// share b's bytes.
func object(b []byte) ([]member, bool) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return nil, false
	}
	var members []member
	end, ok := inObject(b, i, 1, func(name, value []byte) bool {
		var m member
		if json.Unmarshal(name, &m.name) != nil {
			return false
		}
		m.raw = value
		members = append(members, m)
		return true
	})
	if !ok || space(b, end) != len(b) {
		return nil, false
	}
	return members, true
}

// value finds the end of the value that begins at i.
func value(b []byte, i, depth int) (end int, ok bool) {
	if i >= len(b) || depth > maxDepth {
		return i, false
	}
	switch c := b[i]; {
	case c == '"':
		return text(b, i)
	case c == '{':
		return inObject(b, i, depth+1, nil)
	case c == '[':
		return inArray(b, i, depth+1)
	case c == '-' || c >= '0' && c <= '9':
		return number(b, i)
	case c == 't':
		return word(b, i, "true")
	case c == 'f':
		return word(b, i, "false")
	case c == 'n':
		return word(b, i, "null")
	}
	return i, false
}

func inObject(b []byte, i, depth int, each func(name, value []byte) bool) (int, bool) {
	if depth > maxDepth {
		return i, false
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, true
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, false
		}
		nameEnd, ok := text(b, i)
		if !ok {
			return i, false
		}
		name := b[i:nameEnd]
		if i = space(b, nameEnd); i >= len(b) || b[i] != ':' {
			return i, false
		}
		i = space(b, i+1)
		end, ok := value(b, i, depth)
		if !ok || each != nil && !each(name, b[i:end]) {
			return i, false
		}
		i = space(b, end)
		switch {
		case i >= len(b):
			return i, false
		case b[i] == '}':
			return i + 1, true
		case b[i] != ',':
			return i, false
		}
		i = space(b, i+1)
	}
}

func inArray(b []byte, i, depth int) (int, bool) {
	if depth > maxDepth {
		return i, false
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, true
	}
	for {
		end, ok := value(b, i, depth)
		if !ok {
			return i, false
		}
		i = space(b, end)
		switch {
		case i >= len(b):
			return i, false
		case b[i] == ']':
			return i + 1, true
		case b[i] != ',':
			return i, false
		}
		i = space(b, i+1)
	}
}

func text(b []byte, i int) (int, bool) {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, true
		case c < ' ':
			return i, false
		case c == '\\':
			if i++; i >= len(b) {
				return i, false
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(b) {
					return i, false
				}
				for _, h := range b[i+1 : i+5] {
					if !(h >= '0' && h <= '9' || h >= 'a' && h <= 'f' || h >= 'A' && h <= 'F') {
						return i, false
					}
				}
				i += 4
			default:
				return i, false
			}
		}
	}
	return i, false
}

func number(b []byte, i int) (int, bool) {
	if b[i] == '-' {
		i++
	}
	switch n := digits(b, i); {
	case n == i || n > i+1 && b[i] == '0':
		return i, false
	default:
		i = n
	}
	if i < len(b) && b[i] == '.' {
		n := digits(b, i+1)
		if n == i+1 {
			return i, false
		}
		i = n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b, i)
		if n == i {
			return i, false
		}
		i = n
	}
	return i, true
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func word(b []byte, i int, w string) (int, bool) {
	if len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return i, false
	}
	return i + len(w), true
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
