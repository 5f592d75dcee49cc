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
