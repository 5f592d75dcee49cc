// Package attach shows the dashboard on another terminal: it is an SSH server on a socket in the data directory and,
// if one is set, on a port. Each viewer is a dashboard, or plain mode, in the bot's process on its own pty; only
// bytes are transferred. The core decides a viewer's rights; the package must not know how a dashboard or a command
// works.
//
// # Remote viewers
//
// The server speaks SSH on a socket in the data directory and on a port, if one is set. On the socket, the token
// identifies the user; on the port, a key in authorized_keys identifies the viewer and its role. Changes by a
// read-only viewer are refused before they reach the bot. When the bot ends, viewers have a second to read their last
// bytes and are disconnected two seconds later.
//
// Each viewer has its own pty. The kernel then provides raw mode, size, an editor's signals and line editing, and the
// dashboard handles only one kind of terminal. A viewer that does not read blocks only writes to its own pty.
package attach
