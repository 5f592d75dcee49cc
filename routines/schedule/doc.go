// Package schedule owns when tasks fire: the schedule ahead, the holds that keep a task
// from firing, what was missed, and the loop that fires. Its files are in the data
// directory, next to those of the tasks, which package routines knows. It must not know
// agents, budgets or screens: what a fire does is a function in Options.
//
// # The loop
//
// A timer does not advance while a machine is suspended. One goroutine wakes at least every 30
// seconds and compares the wall clock; it catches up after a suspend, and a clock that is set
// back does not fire the same moment twice. A fire is recorded before it starts and its outcome
// afterwards, so a restart neither loses a run nor repeats one that has ended: of a reminder whose
// run was under way at the end, the record of runs says whether it had (Options.Ended).
//
// # Reminders that repeat until done
//
// After the run of such a reminder, the file gets its next run-at instead of being removed. A
// repetition is therefore an ordinary reminder, with all rules for holds, misses and edits;
// after the last one it is due once more, without a run, for a final notice. An answer changes
// the same file under the same lock, and what the file says when a run ends counts. The number
// of repetitions is in the journal of pings.
package schedule
