// Package leeway chooses the minute at which a task with a flexible time fires: within a
// window of the day, or a little after its time. It is pure arithmetic on its arguments:
// when the user is usually active, when they are busy, and what else fires. It must not
// know files, schedules or screens.
//
// A window starts at the task's own time, so that everything else about times (clock
// changes, missed fires, snoozes) works as it does for a task without one. The same facts
// give the same choice, and while the window is open it can only move later.
package leeway
