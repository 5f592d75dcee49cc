// # Orphans are found by a mark
//
// A process group and the kernel's parent-death signal reach the claude command, but not what
// the model's shell has started in its own groups. Without a sandbox, such processes survive a
// kill -9 of the bot. Everything therefore carries a mark in its environment, and the next start
// ends what bears it.
package process
