// Package tui is the terminal dashboard: the frame around the panes, its
// dialogs, and the one program that runs them. It shows snapshots and sends
// commands; it must not know how the bot works, and the bot never knows it.
//
// Only the root is a model of Bubble Tea, which reads the keys and keeps time
// here; what stands on the screen is painted by tui/screen.
//
// # A key
//
// Input waits while a change is in progress that its meaning depends on: tea.Cmds run in
// goroutines without an order, so ten + and ten - once ended at 6. Quick changes run one after
// the other, slow ones have a lane for each kind, and pressing fast gives what pressing slowly
// gives. A quick command returns its own snapshot, so that the change which the core announces
// meanwhile is not read twice. An error is a toast; the inverse of a change is on the undo
// stack. Clicks take the same way: the words of the help line, rows of lists and of the palette
// stand for the actions of the table.
//
// What a snapshot does not contain is read beside all that: a pane or a dialog returns a
// pane.Load, and takes what was read once it is there.
//
// A question must be visible for half a second before it can be answered, and a tool call too: a
// key or click that was already on its way decides nothing.
//
// # Own painting and input
//
// Bubble Tea provides model, commands and messages, but neither its renderer (see package
// screen) nor its reader (see package keyboard) runs. So an editor runs from Update instead of
// tea.Exec, which would wait for a reader that does not exist. Text is edited by the text input
// and text area of bubbles and drawn here: their views blink, measure differently and would
// start clipboard programs.
package tui
