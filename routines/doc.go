// Package routines owns the task files: it parses and writes routines, reminders and
// similar files, reports their problems and decides which versions are in force. It reads
// and writes through core/storage/store. It must not know when tasks fire (see package
// schedule), nor anything about agents, budgets or screens.
//
// # The last good version
//
// Files are edited while the bot runs, and half-written files are normal. A file that becomes
// invalid keeps its last good version in force and shows its error. One bad file affects no
// other.
//
// # Shared with the original program
//
// The original program reads the files this one writes. Its budget file has exactly eight
// keys, and it rejects a ninth; lists of objects may have extra keys. State that only
// this program has is kept in separate files. Rewriting a user's file changes only the
// affected keys: comments, order and unknown keys stay.
package routines
