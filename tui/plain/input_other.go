//go:build !unix

package plain

import (
	"context"
	"io"
)

func interruptible(ctx context.Context, in io.Reader) (io.Reader, func(), error) {
	return closing(ctx, in)
}
