package store

import (
	"bytes"
	"fmt"
)

// AppendLines adds several lines to a file in a single write and one sync, for
// writers that have many at once. In everything else it is Append.
func (d *Dir) AppendLines(rel string, lines [][]byte) error {
	if len(lines) == 0 {
		return nil
	}
	if err := local(rel); err != nil {
		return err
	}
	for _, l := range lines {
		if bytes.IndexByte(l, '\n') >= 0 {
			return fmt.Errorf("append to %s: a line holds a line break", rel)
		}
	}
	if err := appendLine(d.Path(rel), bytes.Join(lines, []byte("\n"))); err != nil {
		return advise("append to "+rel, err)
	}
	return nil
}
