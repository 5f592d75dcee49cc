package store

import (
	"bytes"
	"fmt"
	"io"
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
	if err := d.appendLine(d.Path(rel), bytes.Join(lines, []byte("\n"))); err != nil {
		return advise("append to "+rel, err)
	}
	return nil
}

// ReadEnd reads the last limit bytes of a file of lines, without the line that
// this cuts in two. A missing file is fs.ErrNotExist.
func (d *Dir) ReadEnd(rel string, limit int64) ([]byte, error) {
	f, err := d.Open(rel)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, bare(err))
	}
	from := max(0, info.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, bare(err))
	}
	if from > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data, nil
}
