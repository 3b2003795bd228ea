package plane

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// validate checks a decoded JSON value against a schema, as far as the tools'
// schemas go; a keyword it does not know is an error, so that none is
// overlooked.
func validate(schema []byte, v any) error {
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	// Values come as they are sent: through JSON.
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return err
	}
	return valid(s, plain, "$")
}

func valid(s map[string]any, v any, at string) error {
	for keyword, rule := range s {
		switch keyword {
		case "description":
		case "type":
			types, ok := rule.([]any)
			if !ok {
				types = []any{rule}
			}
			if !slices.ContainsFunc(types, func(t any) bool { return isType(t.(string), v) }) {
				return fmt.Errorf("%s: %v is no %v", at, v, rule)
			}
		case "const":
			if v != rule {
				return fmt.Errorf("%s: %v is not %v", at, v, rule)
			}
		case "enum":
			if !slices.Contains(rule.([]any), v) {
				return fmt.Errorf("%s: %v is none of %v", at, v, rule)
			}
		case "anyOf":
			var first error
			fits := false
			for _, alternative := range rule.([]any) {
				err := valid(alternative.(map[string]any), v, at)
				fits = fits || err == nil
				if first == nil {
					first = err
				}
			}
			if !fits {
				return first
			}
		case "properties":
			o, _ := v.(map[string]any)
			for name := range o { // what is sent is described
				if _, described := rule.(map[string]any)[name]; !described {
					return fmt.Errorf("%s: %s is not described", at, name)
				}
			}
			for name, sub := range rule.(map[string]any) {
				if e, has := o[name]; has {
					if err := valid(sub.(map[string]any), e, at+"."+name); err != nil {
						return err
					}
				}
			}
		case "additionalProperties":
			o, _ := v.(map[string]any)
			sub, ok := rule.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: additionalProperties %v", at, rule)
			}
			for name, e := range o {
				if err := valid(sub, e, at+"."+name); err != nil {
					return err
				}
			}
		case "required":
			o, _ := v.(map[string]any)
			for _, name := range rule.([]any) {
				if _, has := o[name.(string)]; !has {
					return fmt.Errorf("%s: %v is missing", at, name)
				}
			}
		case "items":
			list, _ := v.([]any)
			for i, e := range list {
				if err := valid(rule.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%s: unknown keyword %s", at, keyword)
		}
	}
	return nil
}

func isType(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}
