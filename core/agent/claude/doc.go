// Package claude is the engine over the real "claude" command: one process for
// each session, spoken to in JSON lines (package wire) and kept by package
// process. It owns sessions on that wire: how they are opened, resumed and forked, where
// a turn starts and ends, which events its lines are, and what a process may use.
//
// It must not know forks, budgets, Discord or the bot's files: it knows the bot by the
// callbacks of a session only.
//
// Goroutines: each session is read by one (session.live). It belongs to the engine and
// has ended when Run returns, as have the processes.
//
// # Processes are replaceable
//
// The bot holds a session, not a process. If the process ended while idle, the next message
// reopens the session from its transcript, or as it was first opened if it had no message yet.
// In the middle of a turn, the turn fails: what the model has read is unknown, and nothing is
// sent twice.
//
// Control requests (hooks, permissions, the bot's tools) are answered in their own goroutines.
// All other lines are translated to events in the reading goroutine and wait in the turn's queue
// until its reader takes them.
package claude
