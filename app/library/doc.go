// Package library is what stands between the saved machines and the sessions:
// it tells the plane which machines there are, answers a machine's question
// for a password from the keychain, keeps the password that a person asked to
// keep, and notes what was connected to.
//
// Both programs use it. It shows nothing and asks nobody by itself: a person
// is reached through the [viewer.Asker] that it is given.
package library
