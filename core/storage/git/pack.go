package git

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	// packAt is the number of loose objects from which packing pays. Each takes a block of
	// the disk; in a pack most take a few dozen bytes.
	packAt = 2000
	// packPause is the minimum time between packs, packLimit the maximum time for one.
	packPause = time.Hour
	packLimit = 5 * time.Minute
)

// packFrugal limits the memory and processor time of packing.
var packFrugal = []string{
	"-c", "pack.threads=1", "-c", "pack.windowMemory=32m", "-c", "pack.deltaCacheSize=16m",
	"-c", "core.packedGitLimit=64m", "-c", "repack.writeBitmaps=false",
}

// pack moves loose objects into a pack. Nothing is ever dropped. Packs are merged
// geometrically, so that a year of commits is rewritten a few times, not once a day.
func (r repo) pack(ctx context.Context) error {
	c := call{limit: packLimit, nice: true}
	_, err := r.run(ctx, c, append(packFrugal, "repack", "--geometric=2", "-d", "-q")...)
	if err != nil { // git before 2.32 cannot merge packs
		_, err = r.run(ctx, c, append(packFrugal, "repack", "-d", "-q")...)
	}
	return err
}

// loose estimates the number of loose objects from a sixteenth of them.
func (r repo) loose() int {
	n := 0
	for i := range 16 {
		entries, _ := os.ReadDir(r.meta(fmt.Sprintf("objects/%02x", i))) // missing: none
		n += len(entries)
	}
	return 16 * n
}
