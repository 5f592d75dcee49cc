// Package main draws the pictures in screenshots/: `go run ./cmd/shots`,
// from the project's folder. The pictures are taken of the real bot and the real
// dashboard in a bubble of fake time, which only a test can make: so this is the
// test of this folder, asked to write instead of to compare.
package main

import (
	"fmt"
	"os"
	"os/exec"
)

func main() {
	cmd := exec.Command("go", "test", "./cmd/shots", "-run", "TestPictures", "-count", "1", "-args", "-update")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "draw the pictures:", err)
		os.Exit(1)
	}
}
