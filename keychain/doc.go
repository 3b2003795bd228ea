// Package keychain holds the words of the host library: what a saved machine
// is ([Host]), the [Group] it is in, the [Login] it may share with others, and
// how keeping them fails ([Error]).
//
// No word of it holds a secret. Passwords and passphrases are kept by
// keychain/secret, under the id of a host or of a shared login; the library
// itself is kept by keychain/store.
package keychain
