// Package control owns the doors through which ollim-bot commands in a model's shell reach the
// running bot without access to state/ or .env: the doors, the wire format and the limits. It must
// not know what a command means or who may run it.
//
// Each session has a door and a token. The code that starts the session's process puts both into
// its environment and revokes the token at the end, which removes the door. A request is one line
// of JSON, and so is its answer. Anything else gets an error message.
//
// On Linux a door is a folder with a named pipe rather than a Unix socket, because no process in
// the sandbox can create a socket, and an inherited one would not survive the engine. A session
// sees only its own door. On other systems it is a Unix socket.
//
// # A command of the agent
//
// The model's shell runs `ollim-bot reminder list`. The program finds OLLIM_SOCKET and
// OLLIM_SESSION in its environment and sends its arguments through the door before it builds its
// own commands. The token was created with the session's process; it identifies the run and ends
// with the session. The policy checks the exact words as a Bash call of that session, without
// asking again about what the shell call was allowed to do. The command then runs inside the bot,
// from a fixed list, with captured output.
package control
