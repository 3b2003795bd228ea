package control

import (
	"bytes"
	"encoding/json"
)

// A Field is one key of a JSON object with the bytes of its value.
type Field struct {
	Name string
	Raw  json.RawMessage
}

// Fields splits a valid JSON object, keeping the order and keys that stand
// there twice. It gives nothing for another value.
func Fields(raw json.RawMessage) []Field {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var fields []Field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fields
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return fields
		}
		name, _ := key.(string)
		fields = append(fields, Field{name, v})
	}
	return fields
}
