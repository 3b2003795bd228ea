// Package browse shows the files of this computer beside those of a machine,
// and moves them between the two.
//
// All of it belongs to the goroutine of the widgets, except where a comment
// says otherwise; what waits for a disk or a machine runs beside it. Names of
// the machine are kept byte for byte and shown cleaned. It opens no login: the
// window gives it the files of a session.
package browse
