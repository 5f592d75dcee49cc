// Package access owns how another terminal reaches a bot and who may: the place of its socket, its
// host key, and the authorized keys. It must not know what is shown over the connection, nor speak
// its protocol.
//
// # The socket needs a token
//
// Landlock does not stop a process from connecting to a socket whose path it may not read, and a
// command of a model that attached could allow its own tool calls. The token is in
// state/control.json, which no command of a model can read.
package access
