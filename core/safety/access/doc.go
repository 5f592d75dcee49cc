// # The socket needs a token
//
// Landlock does not stop a process from connecting to a socket whose path it may not read, and a
// command of the model that attached could allow its own tool calls. The token is in
// state/control.json, which no command of a model can read.
package access
