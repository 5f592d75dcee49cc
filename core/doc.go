// Package core is the bot: the one place where its parts meet. It decides what
// a scheduled fire, a message or a command does, keeps the main conversation
// and its lock, and shows everything to dashboards as Snapshot, Changed, Tail
// and Reader of a Viewer. It must not know any dashboard, any particular model, or Discord.
//
// # Snapshots, not messages
//
// The core never sends to a viewer: a slow terminal would slow the bot, or lines would be lost.
// Changed has room for one signal, and a viewer that comes late sees the newest state. Tails are
// read by cursor and report how many lines were lost.
//
// # Alive
//
// A ticker keeps running in a program whose loops are stuck. For the watchdog, the schedule's
// loop has to make a step and the conversation's queue has to take a job (Bot.Alive); a long
// turn counts as alive while it produces output.
package core
