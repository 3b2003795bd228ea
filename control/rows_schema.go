package control

import "strconv"

// InputSchema is the JSON schema of a tool's arguments: one object, its
// properties in declared order, and nothing beside them.
func InputSchema(row Row) []byte { return appendSchema(nil, row.Arguments()) }

// OutputSchema is the JSON schema of a tool's structuredContent. It admits a
// refusal beside the success: some clients check refusals against it too, and
// would throw them away. The root stays an object.
func OutputSchema(row Row) []byte {
	return []byte(`{"type":"object","anyOf":[` + row.Output + `,` + schemaRefusal + `]}`)
}

func appendSchema(b []byte, args []Arg) []byte {
	b = append(b, `{"type":"object","properties":{`...)
	required := 0
	for i, a := range args {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, a.Name)
		b = appendArg(append(b, ':'), a)
		if a.Required {
			required++
		}
	}
	b = append(b, '}')
	if required > 0 {
		b = append(b, `,"required":[`...)
		for _, a := range args {
			if !a.Required {
				continue
			}
			b = append(appendQuoted(b, a.Name), ',')
		}
		b[len(b)-1] = ']'
	}
	return append(b, `,"additionalProperties":false}`...)
}

func appendArg(b []byte, a Arg) []byte {
	switch a.Type {
	case Object:
		b = appendSchema(b, a.Fields)
		b = b[:len(b)-1] // open again for the description
	case Anything:
		b = append(b, `{"type":"object"`...)
	case Strings:
		b = append(b, `{"type":"array","items":{"type":"string"}`...)
	case NumberOrString:
		b = append(b, `{"anyOf":[{"type":"integer"},{"type":"string"}]`...)
	case Number:
		if a.Whole {
			b = append(b, `{"type":"integer"`...)
		} else {
			b = append(b, `{"type":"number"`...)
		}
		if a.Max > a.Min {
			b = strconv.AppendFloat(append(b, `,"minimum":`...), a.Min, 'f', -1, 64)
			b = strconv.AppendFloat(append(b, `,"maximum":`...), a.Max, 'f', -1, 64)
		}
	default:
		b = append(b, `{"type":"`...)
		b = append(append(b, a.Type...), '"')
	}
	if len(a.Enum) > 0 {
		b = append(b, `,"enum":[`...)
		for i, e := range a.Enum {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendQuoted(b, e)
		}
		b = append(b, ']')
	}
	if a.Doc != "" {
		b = appendQuoted(append(b, `,"description":`...), a.Doc)
	}
	return append(b, '}')
}

func appendQuoted(b []byte, s string) []byte {
	q, _ := marshal(s) // a string always has a JSON form
	return append(b, q...)
}
