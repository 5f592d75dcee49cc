//go:build !unix

package clean

// The program needs features of Unix systems: signals, process groups, locks on directories.
// All other packages import this one, so a build for another system fails here, with this name.
var _ = ollim_bot_runs_on_Linux_and_macOS_only__on_Windows_use_WSL
