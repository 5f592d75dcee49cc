// Package screen owns the terminal while the dashboard is open: raw input
// mode, the alternate screen, and what stands on it. It is handed whole
// frames, line by line, and writes the lines that changed in one piece. It
// must not know what the lines mean.
//
// It takes the place of Bubble Tea's renderer, whose fixed ticker and line
// differ cost more than everything else of an idle dashboard (reasons and
// numbers: docs/performance.md).
//
// # Why not Bubble Tea's renderer
//
// It works on a fixed frame ticker: between 0.4 and 1.2 % of a core while idle, and 14 ms from
// key to screen at 60 frames per second. This painter writes the lines that changed, in one
// write inside a synchronized update, when they changed. An idle dashboard is silent. For the
// same reason panes render exact lines of exact width, and nothing measures them again.
package screen
