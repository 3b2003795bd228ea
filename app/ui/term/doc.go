// Package term shows the terminal of a session in the window: it paints a
// [grid.Terminal] cell by cell, and turns a person's keys, mouse, selection and
// search into what the session and the clipboard get.
//
// Everything belongs to the goroutine of the widgets. What goes to the machine
// goes out through [Config.Input]; whether it may is decided there. Keys are
// sent as keys: what they mean to the program is the driver's to know.
//
// The keys that a terminal keeps for the person are Ctrl+Shift with C, V, F, A,
// plus, minus and 0, and Shift with Page Up, Page Down, Home and End; the last
// four not while a program has the whole screen. Shift with the mouse selects
// also where a program has asked for the mouse, and Alt selects a block.
package term
