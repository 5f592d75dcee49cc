// Package process owns the operating system's side of the claude command: it
// finds the command, builds its environment, starts it, watches it, stops it and
// collects the processes that it leaves behind. It must not know what is said
// over the pipes, nor sessions, nor the bot.
//
// Every process that is started here carries a mark in its environment, which
// its children inherit. The commands of the model run in sessions of their own, so that neither a process group nor a parent leads to them
// once the process has been killed; the mark does.
//
// # Orphans are found by a mark
//
// A process group and the kernel's parent-death signal reach the claude command, but not what
// the model's shell has started in its own groups. Without a sandbox, such processes survive a
// kill -9 of the bot. Everything therefore carries a mark in its environment, and the next start
// ends what bears it.
package process
