// Package schedule owns when tasks fire: the schedule ahead, the holds that keep a task
// from firing, missed fires, and the loop that fires tasks. Its files are in the data
// directory, next to the task files of package routines. It must not know agents, budgets
// or screens: Options has the function that carries out a fire.
//
// # The loop
//
// A timer does not advance while a machine is suspended. One goroutine wakes at least
// every 30 seconds and compares the wall clock. It catches up after a suspend, and a
// clock that is set back does not fire the same moment twice. A fire is recorded before
// it starts and its outcome afterwards, so a restart neither loses a run nor repeats one
// that has ended. For a reminder whose run was in progress at the end, the record of runs
// says whether it had ended (Options.Ended).
//
// # Reminders that repeat until done
//
// After the run of such a reminder, its file gets the next run-at instead of being
// removed. A repetition is therefore an ordinary reminder, with all rules for holds,
// misses and edits. After the last repetition it is due once more, without a run, for a
// final notice. An answer changes the same file under the same lock, and a run that ends
// uses the current content of the file. The number of repetitions is in the journal of
// pings.
package schedule
