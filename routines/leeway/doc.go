// Package leeway owns the minute at which a task fires that leaves it open: within a window of
// the day, or a little after its time. It is pure arithmetic on what its callers know: when the
// user is usually active, when they are busy, and what else fires. It must not know files,
// schedules or screens.
//
// A window begins at the task's own time, so that everything else about times (clock changes,
// missed fires, snoozes) stays as it is for a task without one. Given the same facts the choice is
// the same, and it can only move later while the window is open.
package leeway
