// Package grid is the terminal: it takes the bytes of a program and keeps the
// screen of characters that they draw, the lines that scrolled away, and the
// modes that the program asked for.
//
// It lies beside viewer/frame, because a session carries either one: the frame
// is the picture of a desktop, the grid that of a terminal. It knows no
// connection, no window and no keyboard.
//
// A [Terminal] is safe for concurrent use. One goroutine writes; it also takes
// what the program must be answered ([Terminal.Replies]) and what happened
// ([Terminal.Events]). Any number of others read: a window keeps a [View] and
// copies what changed; an agent reads text ([Terminal.Screen],
// [Terminal.Read]).
//
// Every byte comes from a machine that may be hostile. No sequence of bytes
// fails, blocks, or allocates past the bounds named beside the code. The same
// bytes give the same grid however they are cut into writes.
//
// Widths: a character takes the cells that the table in width_table.go says,
// code point by code point, as the programs count that draw with wcwidth. Marks
// join the cell before them and change no width. Once a program sets mode 2027
// a grapheme cluster is one character instead: emoji joined by U+200D, flags,
// skin tones; U+FE0F makes its character two cells wide. Direction marks are
// dropped: cells run from left to right.
package grid
