// Package attach shows the dashboard on another terminal: it is an SSH server on a socket in
// the data directory and, if one is set, on a port. Each viewer is a dashboard, or plain
// mode, in the bot's process on its own pty; only bytes travel. The core decides what a
// viewer may do; the package must not know how a dashboard works, nor what a command does.
//
// # A viewer from elsewhere
//
// The server speaks SSH on a socket in the data directory and on a port, if one is set. On the
// socket, whoever knows the token is the user; on the port, a key of authorized_keys identifies
// the viewer and its role. A read-only viewer is refused before the bot. At the end of the bot,
// viewers get a second to read their last bytes and are cut off two seconds later.
//
// Each viewer has its own pty. Raw mode, size, signals of an editor and line editing then come
// from the kernel, and the dashboard knows one kind of terminal. A viewer that reads nothing
// blocks a write to its own pty and nothing else.
package attach
