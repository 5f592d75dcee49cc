// Package routines owns the files of tasks: what routines, reminders and their like
// say, what is wrong with them, which of them are in force, and how they are written.
// It works through core/storage/store. It must not know when tasks fire (package schedule
// does), nor agents, budgets or screens.
//
// # The last good version
//
// Files are edited while the bot runs, and half-written files are normal. A file that becomes
// invalid keeps its last good version in force and shows its error. One bad file affects no
// other.
//
// # Shared with the original program
//
// The original reads what this program writes. Its budget file has exactly eight keys and a
// ninth would be rejected; lists of objects may have extra keys. All state of this program's own
// has its own files. Rewriting a user's file changes only the keys that change: comments, order
// and unknown keys stay.
package routines
