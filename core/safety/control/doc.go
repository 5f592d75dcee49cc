// Package control owns the control socket, through which ollim-bot commands in the
// model's shell reach the running bot without access to state/ or .env: the socket, the
// wire format and the limits. It must not know what a command means or who may run it.
//
// A token identifies one session. The code that starts the session's process puts the
// token into its environment and revokes it at the end. A request is one line of JSON, and
// so is its answer. Anything else gets an error message.
//
// # A command of the agent
//
// The model's shell runs `ollim-bot reminder list`. The program finds OLLIM_SOCKET and
// OLLIM_SESSION in its environment and sends its arguments over the control socket before it
// builds its own commands. The token was made when the session's process started; it identifies
// the run and ends with the session. The policy judges the exact words as a Bash call of that
// session, without asking again for what the shell call was allowed. The command then runs
// inside the bot, from a fixed list, with captured output.
package control
