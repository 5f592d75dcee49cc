// Package main draws the pictures in screenshots/: `go run ./cmd/shots`, from the project's folder. Most of them are
// taken of the real bot and the real dashboard in a bubble of fake time, which only a test can make: so this is the test
// of this folder, asked to write instead of to compare.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"ollimbot/tui/raster"
)

// opening is when the pictures are taken: a Tuesday, early in the afternoon.
var opening = time.Date(2026, 11, 24, 14, 16, 30, 0, time.UTC)

func main() {
	cmd := exec.Command("go", "test", "./cmd/shots", "-count", "1", "-args", "-update")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := errors.Join(cmd.Run(), keep("screenshots", "phone", phone())); err != nil {
		fmt.Fprintln(os.Stderr, "draw the pictures:", err)
		os.Exit(1)
	}
}

// keep writes a screen to a folder, as text with colours and as pixels.
func keep(folder, name string, g *raster.Grid) error {
	pen, err := raster.NewPen(16)
	if err != nil {
		return err
	}
	image, err := writePNG(pen, g)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, name)
	return errors.Join(os.WriteFile(path+".svg", writeSVG(g), 0o644), os.WriteFile(path+".png", image, 0o644)) //nolint:gosec // pictures for everybody
}
