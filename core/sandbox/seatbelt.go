package sandbox

import "os/exec"

func seatbelt(*exec.Cmd, string, *view) {}
