// Package attach shows the dashboard of a running bot on another terminal, as tmux does: the client passes its terminal
// to the bot over a socket, and the bot draws into it and reads from it. The package owns both ends and the lines that
// they exchange. The core decides a viewer's rights; the package must not know how a dashboard works, nor where the socket
// is.
//
// # Who may attach
//
// The system says whether the other end of the socket belongs to the same user (SO_PEERCRED). That is not enough: a
// command of a model belongs to that user too, and Landlock does not stop it from connecting to a socket whose path it
// may not read. If it attached, it could allow its own tool calls. So a client also sends a token, which is in a file that
// no command of a model can read.
//
// # Two processes, one terminal
//
// The terminal is the client's controlling one and cannot become the bot's. What needs a controlling terminal is done by
// the client at the bot's request: it runs the editor, and stops itself for ctrl+z. Otherwise it only waits, and reports
// changes of the size and its signals.
//
// Both processes and the user's shell share the open file, so the bot never makes it non-blocking. Its reads are polled
// first; a write that the terminal does not take holds up this viewer alone, and is given up when the viewer ends.
//
// Whichever process is lost, the other one sees the end of the socket and restores the terminal.
//
// Plain mode needs no terminal, and the line editing, echo and job control of one that the client may have. So the client
// passes two pipes and copies lines.
package attach
