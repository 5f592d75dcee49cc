// Package history reads earlier sessions, of the claude command and of the Messages API:
// it lists, shows and searches them, and relates the bot's pings to the user's next
// message. It owns the reading of their files and writes nothing. It opens no file
// outside of the CLI's projects folder and our state folder, and must not know engines,
// surfaces or the command line.
//
// The files belong to another program and contain untrusted text: unreadable lines are
// skipped, a line may have any length, and every text is cleaned.
//
// # Session files are skimmed
//
// The file of a fork contains a copy of its parent's, and a picture is one line of megabytes. A
// search decodes only what it needs; with encoding/json on whole lines, 500 sessions of half a
// megabyte took six times as long.
package history
