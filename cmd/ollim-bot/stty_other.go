//go:build !linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// sttyMode is the mode of a terminal as stty reads it, in the format of this system.
func sttyMode(f *os.File) (string, error) {
	c := exec.CommandContext(context.Background(), "stty", "-g")
	c.Stdin = f
	mode, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("read the terminal's mode: %w", err)
	}
	return strings.TrimSpace(string(mode)), nil
}
