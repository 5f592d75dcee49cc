package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"time"
)

// CorruptError means that a state file could not be parsed and was set aside, so that defaults can
// replace it without losing anything.
type CorruptError struct {
	File string // the original name
	Kept string // the name of the kept file
	Err  error  // the problem
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s could not be read (%v); it was kept as %s and defaults are used", e.File, e.Err, e.Kept)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// PeekJSON reads a JSON file into v, a pointer, and never changes the file. Missing keys keep their
// values in v. A missing file returns false and no error. v is unchanged whenever it returns false.
// Use it only for reading, and for files that people edit.
func (d *Dir) PeekJSON(rel string, v any) (found bool, err error) {
	data, err := d.Read(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = decode(data, v)
	}
	return err == nil, err
}

// ReadJSON is PeekJSON for a file that is about to be replaced: an invalid one is renamed to
// NAME.corrupt-<time> and returns a *CorruptError.
func (d *Dir) ReadJSON(rel string, v any) (found bool, err error) {
	found, err = d.PeekJSON(rel, v)
	var garbage *garbageError
	if err == nil || !errors.Is(err, errTooLarge) && !errors.Is(err, errNotRegular) && !errors.As(err, &garbage) {
		return found, err
	}
	kept, kerr := d.SetAside(rel, time.Now())
	if errors.Is(kerr, fs.ErrNotExist) {
		return false, nil // another process was faster, and reports it
	}
	if kerr != nil {
		return false, fmt.Errorf("%s could not be read (%w) nor set aside: %w", rel, err, kerr)
	}
	return false, &CorruptError{File: rel, Kept: kept, Err: err}
}

// LoadJSON is ReadJSON for callers that can continue without an invalid file: it is set aside,
// logged, and counts as missing.
func (d *Dir) LoadJSON(rel string, v any, log *slog.Logger) (found bool, err error) {
	found, err = d.ReadJSON(rel, v)
	if corrupt, ok := errors.AsType[*CorruptError](err); ok {
		log.Error("a state file was set aside", "file", corrupt.File, "kept", corrupt.Kept, "problem", corrupt.Err)
		return false, nil
	}
	return found, err
}

// garbageError means that a file could be read but does not contain valid JSON of this form.
type garbageError struct{ what string }

func (e *garbageError) Error() string { return e.what }

// decode fills v only if all of data is valid.
func decode(data []byte, v any) error {
	ptr := reflect.ValueOf(v)
	if ptr.Kind() != reflect.Pointer || ptr.IsNil() {
		return errors.New("the value to read into is not a pointer")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	// The trial value takes the errors, so that v is never partly filled.
	trial := reflect.New(ptr.Type().Elem())
	if err := json.Unmarshal(data, trial.Interface()); err != nil {
		return &garbageError{describe(data, err)}
	}
	if ptr.Elem().IsZero() { // v has no values to keep
		ptr.Elem().Set(trial.Elem())
		return nil
	}
	return json.Unmarshal(data, v)
}

// describe adds the line to an error of encoding/json.
func describe(data []byte, err error) string {
	var offset int64
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return err.Error()
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
	return fmt.Sprintf("line %d: %v", line, err)
}

// SetAside renames a file to a free name with the time.
func (d *Dir) SetAside(rel string, now time.Time) (kept string, err error) {
	base := rel + asideMark + now.Format("20060102T150405")
	kept = base
	for n := 2; ; n++ {
		if _, err := os.Lstat(d.Path(kept)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = fmt.Sprintf("%s-%d", base, n)
	}
	if err := os.Rename(d.Path(rel), d.Path(kept)); err != nil {
		return "", Bare(err)
	}
	return kept, nil
}

// WriteJSON replaces a state file like Write: with one line of JSON as the original program
// writes it, without HTML escapes.
func (d *Dir) WriteJSON(rel string, v any) error {
	line, err := JSONLine(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", rel, err)
	}
	return d.Write(rel, append(line, '\n'))
}

// JSONLine encodes a value as JSON on one line. HTML escapes would make some texts six times as
// long.
func JSONLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
