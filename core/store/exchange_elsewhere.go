//go:build !linux && !darwin

package store

import "errors"

// swap exchanges two directories.
func swap(_, _ string) error { return errors.ErrUnsupported }
