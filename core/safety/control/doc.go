// # A command of the agent
//
// The model's shell runs `ollim-bot reminder list`. The program finds OLLIM_SOCKET and
// OLLIM_SESSION in its environment and sends its arguments over the control socket before it
// builds its own commands. The token was made when the session's process started; it identifies
// the run and ends with the session. The policy judges the exact words as a Bash call of that
// session, without asking again for what the shell call was allowed. The command then runs
// inside the bot, from a fixed list, with captured output.
package control
