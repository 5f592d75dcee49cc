// Package core is the bot: it connects all parts. It decides what a scheduled fire, a
// message or a command does, owns the main conversation and its lock, and gives
// dashboards a Snapshot, Changed, Tail and Reader through a Viewer. It must not know any
// dashboard, any particular model, or Discord.
//
// # Snapshots, not messages
//
// The core never sends to a viewer: a slow terminal would slow down the bot, or lines
// would be lost. Changed has room for one signal, so a slow viewer sees the newest state.
// Tails are read by cursor and report how many lines were lost.
//
// # Alive
//
// A ticker keeps running in a program whose loops are stuck. So the watchdog requires the
// schedule's loop to make a step and the conversation's queue to accept a job
// (Bot.Alive). A long turn counts as alive while it produces output.
package core
