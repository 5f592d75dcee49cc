// Package messages is the engine over the Messages API: it speaks to Anthropic, or to
// whoever speaks the same, over HTTP, and runs the model's tools itself, under the
// session's hooks and permissions. It owns what a session is on that wire: its
// history, its requests, what comes back, and how a turn goes on until it ends.
//
// It must not know forks, budgets, Discord or the bot's files: what it knows of the
// bot are the callbacks that come with a session.
//
// # What was sent never changes
//
// New models check that the text before their thinking has not changed by a byte, and a
// provider's cache is found by the same bytes. So a session is a file that only grows, a fork is
// its parent's name, a length and its own tail, and a request is made from the bytes of these
// files, not from decoded values. Tools and system prompt are frozen at the start of a
// conversation and shared by everything that branches off: the hook refuses what a run may not
// use, and changes of the prompt are sent with the next message. A compacted history is a new
// beginning in the same file, and taking back a turn is a line that says so. Cache marks are
// inserted on the way out. The fork of a long chain holds everything itself, so a session is
// never read from more than 17 files. Copying the history for each fork took 365 MB for what
// takes 38.
//
// # A turn
//
// A request streams; the answer is assembled block by block, shown while it arrives, and
// appended as one line when it is complete. Calls pass lists, hook and permission; those that
// change nothing run concurrently, and all results are one message. An answer that broke off is
// requested again and its text is taken back; one that was interrupted keeps its text. Whatever
// a turn, a crash or a fork of a running turn leaves open is closed before the next message.
package messages
