//go:build !unix

package skill

import "os/exec"

// ownGroup changes nothing: a command alone is ended on this system.
func ownGroup(*exec.Cmd) {}

// killGroup does nothing: what a command leaves behind cannot be found here.
func killGroup(*exec.Cmd) {}
