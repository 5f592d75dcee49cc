//go:build !unix

package clean

// The program needs what Unix systems have: signals, process groups, locks on
// directories. This package is below all others, so that a build elsewhere ends
// here, with this name.
var _ = ollim_bot_runs_on_Linux_and_macOS_only__on_Windows_use_WSL
