package ui

import (
	"errors"
	"fmt"
	"strconv"

	"deskvnc/control/plane"
)

func itoa(n int) string { return strconv.Itoa(n) }

// sentence begins a text with a capital and ends it with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	r := []rune(s)
	if r[0] >= 'a' && r[0] <= 'z' {
		r[0] += 'A' - 'a'
	}
	if last := r[len(r)-1]; last != '.' && last != '!' && last != '?' {
		r = append(r, '.')
	}
	return string(r)
}

// outcome makes an error of input that did not arrive.
func outcome(o plane.Outcome) error {
	switch o {
	case plane.Consumed:
		return errors.New("an agent was driving; you have the wheel now, so do it once more")
	case plane.Dropped:
		return errors.New("the session takes no input now")
	}
	return nil
}

// size is a size in pixels for a person.
func size(w, h int) string { return fmt.Sprintf("%d × %d", w, h) }
